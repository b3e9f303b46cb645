-- What the processes of one database share beside its pages.

-- Which error it was: the worker that met it is seldom the server that tells of it.
ALTER TABLE job ADD COLUMN error_kind TEXT;

-- Seals what callers are given to hand back, to whichever process.
CREATE TABLE server_secret (
    is_only BOOLEAN PRIMARY KEY DEFAULT true CHECK (is_only),
    secret BYTEA NOT NULL
);

-- When the next request to a host that wants pauses may start. Nobody misses it after a crash.
CREATE UNLOGGED TABLE host_pace (
    host TEXT PRIMARY KEY,
    next_start TIMESTAMPTZ NOT NULL
);
