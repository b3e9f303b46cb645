-- Seals what callers are given to hand back, to whichever process of this database.

CREATE TABLE server_secret (
    is_only INTEGER PRIMARY KEY CHECK (is_only = 1),
    secret BLOB NOT NULL
) STRICT;
