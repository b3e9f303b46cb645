-- Who passed in the text of a page; empty where it was fetched, or where nobody noted it.

ALTER TABLE page ADD COLUMN supplied_by TEXT NOT NULL DEFAULT '';
