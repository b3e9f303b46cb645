-- Texts that callers paste, each kept once for its owner and task.

CREATE TABLE material (
    material_id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The hash of the caller's key.
    owner TEXT NOT NULL,
    task TEXT NOT NULL,
    text_hash TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    used_at TEXT NOT NULL,
    UNIQUE (owner, task, text_hash)
) STRICT;
CREATE INDEX material_by_use ON material (owner, used_at);

CREATE TABLE material_piece (
    material_id INTEGER NOT NULL REFERENCES material ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    text TEXT NOT NULL,
    model TEXT,
    -- A unit vector in half precision.
    vector BLOB,
    PRIMARY KEY (material_id, ordinal)
) STRICT, WITHOUT ROWID;
