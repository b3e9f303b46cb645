-- Who may call and what they used; questions to people, their directives, and pasted materials.

-- ── questions to users, and directives from them ─────────────────────────────

CREATE TABLE question (
    -- Tells the order in which they were asked.
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    question_id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'answered', 'expired', 'cancelled')),
    user_name TEXT,
    agent TEXT,
    key_hint TEXT,
    asked_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    answer TEXT,
    answered_at TEXT,
    delivered_at TEXT
) STRICT;
CREATE INDEX question_by_owner ON question (owner, number);
CREATE INDEX open_question ON question (owner, number) WHERE state = 'pending';
-- Looked at before every tool call, and nearly always empty.
CREATE INDEX undelivered_answer ON question (owner, number)
WHERE answer IS NOT NULL AND delivered_at IS NULL;

CREATE TABLE directive (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    directive_id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    content TEXT NOT NULL,
    task_id TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'consumed')),
    user_name TEXT,
    key_hint TEXT,
    created_at TEXT NOT NULL,
    consumed_at TEXT
) STRICT;
CREATE INDEX directive_by_owner ON directive (owner, state, number);

-- Grows with every change to an owner's questions or directives, so that other processes notice.
CREATE TABLE people_revision (
    owner TEXT PRIMARY KEY,
    revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- ── access: keys, and the calls made with them ──────────────────────────────────

-- A token of a key. A key that is rotated has several, all with its name and its owner.
CREATE TABLE access_key (
    key_hash TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    hint TEXT NOT NULL,
    name TEXT NOT NULL,
    -- Lists of JSON; toolsets may be null, which means all.
    scopes TEXT NOT NULL,
    toolsets TEXT,
    project TEXT,
    monthly_units INTEGER,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    revoked_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX access_key_by_name ON access_key (name);

CREATE TABLE call (
    call_id INTEGER PRIMARY KEY,
    called_at TEXT NOT NULL,
    -- Of called_at, so that a month's sum is one range of the index.
    month TEXT NOT NULL,
    owner TEXT NOT NULL,
    hint TEXT NOT NULL,
    user TEXT,
    agent TEXT,
    tool TEXT NOT NULL,
    outcome TEXT NOT NULL,
    units INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    milliseconds INTEGER NOT NULL
) STRICT;
CREATE INDEX call_by_owner ON call (owner, month, units);
CREATE INDEX call_by_time ON call (called_at);
