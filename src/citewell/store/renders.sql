-- Pages that one process asks for and another one renders. Times are seconds since 1970.

-- name: add_render
INSERT INTO render (render_id, url, wait_for, is_urgent, asked_at, expires_at)
VALUES (:render_id, :url, :wait_for, :is_urgent, seconds_now(), seconds_now() + :wait_seconds);

-- name: render_state
SELECT CASE
    WHEN account IS NOT NULL THEN 'done'
    WHEN leased_until > seconds_now() THEN 'held'
    WHEN expires_at <= seconds_now() THEN 'expired'
    WHEN lease >= :most_leases THEN 'abandoned'
    WHEN EXISTS (SELECT 1 FROM render_worker WHERE alive_until > seconds_now()) THEN 'waiting'
    ELSE 'unattended'
END AS state FROM render WHERE render_id = :render_id;

-- name: collect_render
DELETE FROM render WHERE render_id = :render_id AND account IS NOT NULL RETURNING account, html;

-- name: withdraw_render
DELETE FROM render WHERE render_id = :render_id;

-- name: is_render_waiting
SELECT 1 FROM render
WHERE account IS NULL
    AND leased_until <= seconds_now()
    AND expires_at > seconds_now()
    AND lease < :most_leases
    AND (is_urgent OR NOT :urgent_only)
LIMIT 1;

-- name: take_render
UPDATE render SET lease = lease + 1, leased_until = seconds_now() + :lease_seconds
WHERE render_id = (
    SELECT render_id FROM render
    WHERE account IS NULL
        AND leased_until <= seconds_now()
        AND expires_at > seconds_now()
        AND lease < :most_leases
        AND (is_urgent OR NOT :urgent_only)
    ORDER BY is_urgent DESC, asked_at
    LIMIT 1
    -- postgres: FOR UPDATE SKIP LOCKED
)
RETURNING render_id, url, wait_for, is_urgent, lease, expires_at - seconds_now() AS seconds_left;

-- name: keep_render
UPDATE render SET leased_until = seconds_now() + :lease_seconds
WHERE render_id = :render_id AND lease = :lease AND account IS NULL;

-- name: release_render
UPDATE render SET leased_until = 0
WHERE render_id = :render_id AND lease = :lease AND account IS NULL;

-- name: finish_render
UPDATE render SET account = :account, html = :html
WHERE render_id = :render_id AND lease = :lease AND account IS NULL;

-- name: note_render_worker
INSERT INTO render_worker (worker, alive_until) VALUES (:worker, seconds_now() + :seconds)
ON CONFLICT (worker) DO UPDATE SET alive_until = excluded.alive_until;

-- name: forget_render_worker
DELETE FROM render_worker WHERE worker = :worker;

-- name: forget_old_renders
DELETE FROM render WHERE expires_at <= seconds_now();

-- name: forget_dead_render_workers
DELETE FROM render_worker WHERE alive_until <= seconds_now();

-- name: count_renders
SELECT
    (SELECT count(*) FROM render WHERE account IS NULL AND leased_until <= seconds_now()) AS waiting,
    (SELECT count(*) FROM render WHERE account IS NULL AND leased_until > seconds_now()) AS held,
    (SELECT count(*) FROM render_worker WHERE alive_until > seconds_now()) AS workers;
