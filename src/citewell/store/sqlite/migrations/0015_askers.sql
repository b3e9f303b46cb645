-- Which conversation asked a question: another one of the same key is not given its late answer.

ALTER TABLE question ADD COLUMN asker TEXT NOT NULL DEFAULT '';
