-- When the site last said that a stored page does not exist; NULL while it does.
ALTER TABLE page ADD COLUMN missing_at TEXT;
