-- Statements on keys and calls.

-- name: live_keys_named
SELECT key_hash, owner FROM access_key
WHERE name = %(name)s AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > %(created_at)s)
ORDER BY created_at DESC;

-- name: lock_key_name
-- Two who make a key of the same name do so one after the other.
SELECT pg_advisory_xact_lock(hashtext('citewell key'), hashtext(%(name)s));

-- name: put_access_key
INSERT INTO access_key (
    key_hash, owner, hint, name, scopes, toolsets, project, monthly_units,
    created_at, expires_at, revoked_at
) VALUES (
    %(key_hash)s, %(owner)s, %(hint)s, %(name)s, %(scopes)s, %(toolsets)s, %(project)s,
    %(monthly_units)s, %(created_at)s, %(expires_at)s, %(revoked_at)s
);

-- name: find_access_key
SELECT * FROM access_key WHERE key_hash = %(key_hash)s;

-- name: list_access_keys
SELECT * FROM access_key ORDER BY created_at, name;

-- name: has_access_keys
SELECT EXISTS (SELECT 1 FROM access_key) AS found;

-- name: end_access_keys
UPDATE access_key SET expires_at = %(until)s
WHERE name = %(name)s AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > %(until)s);

-- name: revoke_access_keys
UPDATE access_key SET revoked_at = %(at)s
WHERE name = %(name)s AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > %(at)s);

-- name: copy_calls
COPY call (
    called_at, month, owner, hint, user_name, agent, tool, outcome, units, tokens, milliseconds
) FROM STDIN;

-- name: units_used
SELECT coalesce(sum(units), 0)::bigint AS units FROM call
WHERE owner = %(owner)s AND month = %(month)s;

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
WHERE (%(month)s::text IS NULL OR month = %(month)s)
    AND (%(owner)s::text IS NULL OR call.owner = %(owner)s)
GROUP BY month, call.owner, tool, outcome
ORDER BY month, name NULLS FIRST, call.owner, tool, outcome;

-- name: forget_calls
DELETE FROM call WHERE called_at < %(before)s;

-- name: server_secret
SELECT secret FROM server_secret;

-- name: make_server_secret
-- Of two processes that start together one makes it.
INSERT INTO server_secret (secret) VALUES (%(secret)s) ON CONFLICT DO NOTHING;
