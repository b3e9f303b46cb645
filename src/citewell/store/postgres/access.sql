-- Statements on keys and calls.

-- name: live_keys_named
SELECT key_hash, owner FROM access_key
WHERE name = :name AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > :created_at)
ORDER BY created_at DESC;

-- name: lock_key_name
-- Two who make a key of the same name do so one after the other.
SELECT pg_advisory_xact_lock(hashtext('citewell key'), hashtext(:name));

-- name: put_access_key
INSERT INTO access_key (
    key_hash, owner, hint, name, scopes, toolsets, project, monthly_units,
    created_at, expires_at, revoked_at
) VALUES (
    :key_hash, :owner, :hint, :name, :scopes, :toolsets, :project,
    :monthly_units, :created_at, :expires_at, :revoked_at
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

-- name: copy_calls
COPY call (
    called_at, month, owner, hint, user_name, agent, tool, outcome, units, tokens, milliseconds
) FROM STDIN;

-- name: units_used
SELECT coalesce(sum(units), 0)::bigint AS units FROM call
WHERE owner = :owner AND month = :month;

-- name: usage_totals
SELECT
    month, call.owner, tool, outcome,
    -- Of the token which called last.
    (array_agg(hint ORDER BY call_id DESC))[1] AS hint,
    count(*) AS calls,
    sum(units)::bigint AS units,
    sum(tokens)::bigint AS tokens,
    sum(milliseconds)::bigint AS milliseconds,
    (SELECT max(name) FROM access_key WHERE access_key.owner = call.owner) AS name
FROM call
WHERE (:month::text IS NULL OR month = :month)
    AND (:owner::text IS NULL OR call.owner = :owner)
GROUP BY month, call.owner, tool, outcome
ORDER BY month, name NULLS FIRST, call.owner, tool, outcome;

-- name: forget_calls
DELETE FROM call WHERE called_at < :before;

-- name: server_secret
SELECT secret FROM server_secret;

-- name: make_server_secret
-- Of two processes that start together one makes it.
INSERT INTO server_secret (secret) VALUES (:secret) ON CONFLICT DO NOTHING;
