-- What the processes of one database share beside its pages.

-- Which error it was: the worker that met it is seldom the server that tells of it.
ALTER TABLE job ADD COLUMN error_kind TEXT;

-- Seals what callers are given to hand back, to whichever process.
CREATE TABLE server_secret (
    is_only INTEGER PRIMARY KEY CHECK (is_only = 1),
    secret BLOB NOT NULL
) STRICT;
