-- Pages that one process asks for and another one renders. Nobody misses them after a crash.

CREATE UNLOGGED TABLE render (
    render_id TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    is_urgent BOOLEAN NOT NULL,
    asked_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    lease INTEGER NOT NULL DEFAULT 0,
    leased_until TIMESTAMPTZ NOT NULL DEFAULT '-infinity',
    account TEXT,
    html BYTEA
);
CREATE INDEX waiting_render ON render (is_urgent DESC, asked_at) WHERE account IS NULL;

CREATE UNLOGGED TABLE render_worker (
    worker TEXT PRIMARY KEY,
    alive_until TIMESTAMPTZ NOT NULL
);
