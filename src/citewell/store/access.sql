-- Keys and calls.

-- name: live_key_named
SELECT key_hash FROM access_key
WHERE name = :name AND (CAST(:owner AS text) IS NULL OR owner = :owner)
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
LIMIT 1;

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
SELECT EXISTS (SELECT 1 FROM access_key) AS is_any;

-- name: end_access_keys
UPDATE access_key SET expires_at = :until
WHERE owner = :owner AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :until);

-- name: revoke_access_keys
UPDATE access_key SET revoked_at = :now
WHERE owner = :owner AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now);

-- name: prune_access_keys
DELETE FROM access_key WHERE revoked_at IS NOT NULL OR expires_at <= :now;

-- name: record_call
INSERT INTO call (
    called_at, month, owner, hint, user_name, agent, tool, outcome, message, units, tokens,
    milliseconds, price, refunded
) VALUES (
    :called_at, :month, :owner, :hint, :user, :agent, :tool, :outcome, :message, :units, :tokens,
    :milliseconds, :price, :refunded
);

-- name: units_used
SELECT CAST(coalesce(sum(units), 0) AS bigint) AS units FROM call
WHERE owner = :owner AND month = :month;

-- part: asked_calls
FROM call
WHERE (CAST(:month AS text) IS NULL OR month = :month)
    AND (CAST(:owner AS text) IS NULL OR owner = :owner)
    AND (CAST(:project AS text) IS NULL
        OR owner IN (SELECT owner FROM access_key WHERE project = :project))

-- name: usage_totals
-- The hint is that of the token which called last.
WITH total AS (
    SELECT
        month, owner, tool, outcome,
        max(call_id) AS last_call,
        count(*) AS calls,
        CAST(sum(units) AS bigint) AS units,
        CAST(sum(tokens) AS bigint) AS tokens,
        CAST(sum(milliseconds) AS bigint) AS milliseconds,
        max(price) AS price,
        CAST(sum(refunded) AS bigint) AS refunded
    -- use: asked_calls
    GROUP BY month, owner, tool, outcome
)
SELECT
    total.month, total.owner, last.hint, total.tool, total.outcome, calls,
    total.units, total.tokens, total.milliseconds, total.price, total.refunded,
    (SELECT max(name) FROM access_key WHERE access_key.owner = total.owner) AS name
FROM total
JOIN call AS last ON last.call_id = total.last_call
ORDER BY total.month, name NULLS FIRST, total.owner, total.tool, total.outcome;

-- name: daily_usage
-- A call that its caller stopped (UNFINISHED) has not failed.
SELECT
    -- sqlite: substr(called_at, 1, 10) AS day,
    -- postgres: to_char(called_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
    owner, user_name, tool,
    (SELECT max(name) FROM access_key WHERE access_key.owner = call.owner) AS name,
    max(hint) AS hint,
    count(*) AS calls,
    CAST(sum(CASE WHEN outcome IN ('ok', 'UNFINISHED') THEN 0 ELSE 1 END) AS bigint) AS failed,
    CAST(sum(units) AS bigint) AS units,
    CAST(sum(tokens) AS bigint) AS tokens
-- use: asked_calls
GROUP BY day, owner, user_name, tool
ORDER BY day, owner, user_name, tool;

-- name: list_calls
SELECT
    call.*,
    (SELECT max(name) FROM access_key WHERE access_key.owner = call.owner) AS name
-- use: asked_calls
    AND (CAST(:before AS bigint) IS NULL OR call_id < :before)
    AND (:only_failed = 0 OR outcome NOT IN ('ok', 'UNFINISHED'))
ORDER BY call_id DESC LIMIT :limit;

-- name: last_calls
SELECT owner, max(called_at) AS called_at FROM call GROUP BY owner;

-- name: forget_calls
DELETE FROM call WHERE called_at < :before;

-- name: server_secret
SELECT secret FROM server_secret;

-- name: make_server_secret
-- Of two processes that start together one makes it.
INSERT INTO server_secret (is_only, secret) VALUES (TRUE, :secret) ON CONFLICT DO NOTHING;
