-- Why some of a page's text may be missing, and what a browser waits for on a page to be rendered.

ALTER TABLE page ADD COLUMN incomplete TEXT NOT NULL DEFAULT '';
ALTER TABLE render ADD COLUMN wait_for TEXT NOT NULL DEFAULT '';
