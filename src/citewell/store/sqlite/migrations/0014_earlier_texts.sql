-- What a page said before its text last changed.

CREATE TABLE earlier_text (
    source_id INTEGER PRIMARY KEY REFERENCES page ON DELETE CASCADE,
    fetched_at TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
