-- Replies that an agent offers with its question; directives that are put in order and kept to reuse.

-- A list of JSON.
ALTER TABLE question ADD COLUMN replies TEXT NOT NULL DEFAULT '[]';

-- The waiting directive with the highest position is delivered first.
ALTER TABLE directive ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
UPDATE directive SET position = number;

CREATE TABLE directive_template (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL,
    content TEXT NOT NULL,
    task_id TEXT NOT NULL
) STRICT;
CREATE INDEX directive_template_by_owner ON directive_template (owner, number);
