-- Turns on the hosts of websites.

-- name: reserve_start
-- By the database's clock, the only one that all processes share.
INSERT INTO host_pace AS pace (host, next_start)
VALUES (:host, clock_timestamp() + :delay_seconds * interval '1 second')
ON CONFLICT (host) DO UPDATE SET
    next_start = greatest(pace.next_start, clock_timestamp())
        + :delay_seconds * interval '1 second'
RETURNING greatest(
    extract(epoch FROM next_start - clock_timestamp())::float8 - :delay_seconds, 0
) AS wait_seconds;

-- name: forget_paces
DELETE FROM host_pace WHERE next_start < clock_timestamp() - interval '1 hour';

-- name: take_slot
-- A session may lock again what it holds, so its own slots are passed over.
SELECT slot FROM generate_series(0, :limit - 1) AS slot
WHERE CASE
    WHEN slot = ANY (:held::int[]) THEN false
    ELSE pg_try_advisory_lock(hashtext(current_schema() || ' citewell host ' || :host), slot)
END
LIMIT 1;

-- name: give_slot_back
SELECT pg_advisory_unlock(hashtext(current_schema() || ' citewell host ' || :host), :slot);
