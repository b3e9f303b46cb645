-- Statements on keys and calls.

-- name: live_keys_named
SELECT key_hash, owner FROM access_key
WHERE name = :name AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
ORDER BY created_at DESC;

-- name: put_access_key
INSERT INTO access_key (
    key_hash, owner, hint, name, scopes, toolsets, project, monthly_units,
    created_at, expires_at, revoked_at
) VALUES (
    :key_hash, :owner, :hint, :name, :scopes, :toolsets, :project, :monthly_units,
    :created_at, :expires_at, :revoked_at
);

-- name: find_access_key
SELECT * FROM access_key WHERE key_hash = :key_hash;

-- name: list_access_keys
SELECT * FROM access_key ORDER BY created_at, name;

-- name: has_access_keys
SELECT EXISTS (SELECT 1 FROM access_key) AS found;

-- name: end_access_keys
UPDATE access_key SET expires_at = :until
WHERE name = :name AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :until);

-- name: revoke_access_keys
UPDATE access_key SET revoked_at = :at
WHERE name = :name AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :at);

-- name: record_call
INSERT INTO call (
    called_at, month, owner, hint, user, agent, tool, outcome, units, tokens, milliseconds
) VALUES (
    :called_at, :month, :owner, :hint, :user, :agent, :tool, :outcome, :units, :tokens,
    :milliseconds
);

-- name: units_used
SELECT COALESCE(SUM(units), 0) AS units FROM call WHERE owner = :owner AND month = :month;

-- name: usage_totals
-- Beside MAX, SQLite takes the hint of the same row: that of the token which called last.
WITH total AS (
    SELECT
        month, owner, tool, outcome, hint,
        MAX(call_id) AS last_call,
        COUNT(*) AS calls,
        SUM(units) AS units,
        SUM(tokens) AS tokens,
        SUM(milliseconds) AS milliseconds
    FROM call
    WHERE (:month IS NULL OR month = :month) AND (:owner IS NULL OR owner = :owner)
    GROUP BY month, owner, tool, outcome
)
SELECT
    month, total.owner, hint, tool, outcome, calls, units, tokens, milliseconds,
    (SELECT MAX(name) FROM access_key WHERE access_key.owner = total.owner) AS name
FROM total
ORDER BY month, name, total.owner, tool, outcome;

-- name: forget_calls
DELETE FROM call WHERE called_at < :before;

-- name: server_secret
SELECT secret FROM server_secret;

-- name: make_server_secret
-- Of two processes that start together one makes it.
INSERT INTO server_secret (is_only, secret) VALUES (1, :secret) ON CONFLICT DO NOTHING;
