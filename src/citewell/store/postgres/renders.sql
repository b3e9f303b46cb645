-- Pages that one process asks for and another one renders.

-- name: add_render
INSERT INTO render (render_id, url, is_urgent, asked_at, expires_at)
VALUES (
    :render_id, :url, :is_urgent, clock_timestamp(),
    clock_timestamp() + :wait_seconds * interval '1 second'
);

-- name: tell_of_render_request
SELECT pg_notify('citewell_render_requests', '');

-- name: listen_for_render_requests
LISTEN citewell_render_requests;

-- name: tell_of_render_outcome
SELECT pg_notify('citewell_render_outcomes', :render_id);

-- name: listen_for_render_outcomes
LISTEN citewell_render_outcomes;

-- name: render_state
SELECT CASE
    WHEN account IS NOT NULL THEN 'done'
    WHEN leased_until > clock_timestamp() THEN 'held'
    WHEN expires_at <= clock_timestamp() OR lease >= :most_leases THEN 'gone'
    WHEN EXISTS (SELECT 1 FROM render_worker WHERE alive_until > clock_timestamp()) THEN 'waiting'
    ELSE 'unattended'
END AS state FROM render WHERE render_id = :render_id;

-- name: collect_render
DELETE FROM render WHERE render_id = :render_id AND account IS NOT NULL
RETURNING account, html;

-- name: withdraw_render
DELETE FROM render WHERE render_id = :render_id;

-- name: take_render
UPDATE render SET
    lease = lease + 1,
    leased_until = clock_timestamp() + :lease_seconds * interval '1 second'
WHERE render_id = (
    SELECT render_id FROM render
    WHERE account IS NULL
        AND leased_until <= clock_timestamp()
        AND expires_at > clock_timestamp()
        AND lease < :most_leases
        AND (is_urgent OR NOT :urgent_only)
    ORDER BY is_urgent DESC, asked_at
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
RETURNING
    render_id, url, is_urgent, lease,
    extract(epoch FROM expires_at - clock_timestamp())::float8 AS seconds_left;

-- name: keep_render
UPDATE render SET leased_until = clock_timestamp() + :lease_seconds * interval '1 second'
WHERE render_id = :render_id AND lease = :lease AND account IS NULL;

-- name: release_render
UPDATE render SET leased_until = '-infinity'
WHERE render_id = :render_id AND lease = :lease AND account IS NULL;

-- name: finish_render
UPDATE render SET account = :account, html = :html
WHERE render_id = :render_id AND lease = :lease AND account IS NULL;

-- name: note_render_worker
INSERT INTO render_worker (worker, alive_until)
VALUES (:worker, clock_timestamp() + :seconds * interval '1 second')
ON CONFLICT (worker) DO UPDATE SET alive_until = excluded.alive_until;

-- name: forget_render_worker
DELETE FROM render_worker WHERE worker = :worker;

-- name: forget_old_renders
DELETE FROM render WHERE expires_at <= clock_timestamp();

-- name: forget_dead_render_workers
DELETE FROM render_worker WHERE alive_until <= clock_timestamp();

-- name: count_renders
SELECT
    (
        SELECT count(*) FROM render
        WHERE account IS NULL AND leased_until <= clock_timestamp()
    ) AS waiting,
    (SELECT count(*) FROM render WHERE account IS NULL AND leased_until > clock_timestamp()) AS held,
    (SELECT count(*) FROM render_worker WHERE alive_until > clock_timestamp()) AS workers;
