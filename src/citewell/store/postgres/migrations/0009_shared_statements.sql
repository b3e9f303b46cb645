-- What the statements that both databases share need of PostgreSQL.

-- By the clock, not by the start of the transaction.
CREATE FUNCTION seconds_now() RETURNS DOUBLE PRECISION LANGUAGE sql VOLATILE PARALLEL SAFE
AS $$ SELECT extract(epoch FROM clock_timestamp())::double precision $$;

-- Pages that one process asks for and another one renders; nothing here lives for long, so nobody
-- misses what is dropped. Times are seconds since 1970.
DROP TABLE render;
DROP TABLE render_worker;
CREATE UNLOGGED TABLE render (
    render_id TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    is_urgent BOOLEAN NOT NULL,
    asked_at DOUBLE PRECISION NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL,
    lease INTEGER NOT NULL DEFAULT 0,
    leased_until DOUBLE PRECISION NOT NULL DEFAULT 0,
    account TEXT,
    html BYTEA
);
CREATE INDEX waiting_render ON render (is_urgent DESC, asked_at) WHERE account IS NULL;
CREATE UNLOGGED TABLE render_worker (
    worker TEXT PRIMARY KEY,
    alive_until DOUBLE PRECISION NOT NULL
);

-- No statement compares the vectors of pasted texts, so they are kept as bytes; those that go are
-- made again when their text is used next.
UPDATE material_piece SET model = NULL;
ALTER TABLE material_piece DROP COLUMN vector;
ALTER TABLE material_piece ADD COLUMN vector BYTEA;
