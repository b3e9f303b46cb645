-- Pages that one process asks for and another one renders; nothing here lives for long.

CREATE TABLE render (
    render_id TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    is_urgent INTEGER NOT NULL,
    -- Times are seconds since 1970.
    asked_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    lease INTEGER NOT NULL DEFAULT 0,
    leased_until REAL NOT NULL DEFAULT 0,
    account TEXT,
    html BLOB
) STRICT;
CREATE INDEX waiting_render ON render (is_urgent DESC, asked_at) WHERE account IS NULL;

CREATE TABLE render_worker (
    worker TEXT PRIMARY KEY,
    alive_until REAL NOT NULL
) STRICT;
