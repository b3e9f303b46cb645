-- What the statements that both databases share need of SQLite.

ALTER TABLE call RENAME COLUMN user TO user_name;

-- The table that AUTOINCREMENT counts in has a row only once a page was put; numbers of pages are
-- reserved before.
INSERT INTO sqlite_sequence (name, seq)
SELECT 'page', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'page');
