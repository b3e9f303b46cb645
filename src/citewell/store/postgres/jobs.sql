-- Background jobs.

-- name: lock_taking
-- Whoever takes a job looks at all that run: one at a time, or two might take one key each.
SELECT pg_advisory_xact_lock(hashtext('citewell jobs'));

-- name: tell_of_job
SELECT pg_notify('citewell_jobs', '');

-- name: listen_for_jobs
LISTEN citewell_jobs;

-- name: unfinished_job
SELECT * FROM job
WHERE project = %(project)s AND md5(key) = md5(%(key)s) AND kind = %(kind)s
    AND state IN ('waiting', 'running')
FOR UPDATE;

-- name: add_job
-- None comes back when another process has added the job meanwhile.
INSERT INTO job (
    project, kind, key, payload, priority, run_at, progress, created_at, updated_at
) VALUES (
    %(project)s, %(kind)s, %(key)s, %(payload)s, %(priority)s, %(run_at)s, %(progress)s,
    %(now)s, %(now)s
)
ON CONFLICT (project, md5(key), kind) WHERE state IN ('waiting', 'running') DO NOTHING
RETURNING *;

-- name: add_embedding_jobs
-- By model, so that the index on it finds the few that wait among many that do not.
INSERT INTO job (
    project, kind, key, payload, priority, run_at, progress, created_at, updated_at
)
SELECT DISTINCT
    page.project, 'embed_page', page.source_id::text, '{}', -1, %(now)s::timestamptz,
    %(progress)s, %(now)s::timestamptz, %(now)s::timestamptz
FROM (
    SELECT 0 AS model_id
    UNION ALL
    SELECT model_id FROM embedding_model WHERE name <> %(model)s
) AS other
CROSS JOIN LATERAL (
    SELECT source_id FROM chunk WHERE chunk.model_id = other.model_id
    ORDER BY chunk_id LIMIT %(limit)s
) AS waiting
JOIN page USING (source_id)
WHERE page.fetched_at < %(stored_before)s
ON CONFLICT (project, md5(key), kind) WHERE state IN ('waiting', 'running') DO NOTHING;

-- name: hasten_job
UPDATE job SET
    priority = greatest(priority, %(priority)s),
    run_at = CASE WHEN state = 'waiting' THEN least(run_at, %(run_at)s) ELSE run_at END
WHERE job_id = %(job_id)s
RETURNING *;

-- name: job_to_take
-- A running job is due when its lease has ended. What lies further ahead than any lease could was
-- written before the clock was set back: such a job is due as well.
SELECT job_id FROM job AS due
WHERE (
        state = 'waiting' AND (run_at <= %(now)s OR updated_at > %(farthest)s)
        OR state = 'running' AND (leased_until <= %(now)s OR leased_until > %(farthest)s)
    )
    AND (%(job_id)s::bigint IS NULL OR job_id = %(job_id)s)
    AND (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s))
    AND NOT EXISTS (
        SELECT 1 FROM job AS other
        WHERE other.project = due.project
            AND md5(other.key) = md5(due.key)
            AND other.job_id <> due.job_id
            AND other.state = 'running'
            AND other.leased_until > %(now)s
            AND other.leased_until <= %(farthest)s
    )
ORDER BY priority DESC, run_at, job_id
LIMIT 1
FOR UPDATE;

-- name: take_job
UPDATE job SET
    state = 'running',
    worker = %(worker)s,
    lease = lease + 1,
    attempts = attempts + 1,
    leased_until = %(leased_until)s,
    updated_at = %(now)s
WHERE job_id = %(job_id)s
RETURNING *;

-- name: job_lease
SELECT state, lease FROM job WHERE job_id = %(job_id)s;

-- name: heartbeat
UPDATE job SET
    leased_until = %(leased_until)s,
    progress = coalesce(%(progress)s, progress),
    updated_at = %(now)s
WHERE job_id = %(job_id)s AND lease = %(lease)s AND state = 'running';

-- name: finish_job
UPDATE job SET
    state = 'done', result = %(result)s, error = NULL, error_kind = NULL, worker = NULL,
    leased_until = NULL,
    updated_at = %(now)s
WHERE job_id = %(job_id)s AND lease = %(lease)s AND state = 'running';

-- name: fail_job
UPDATE job SET
    state = CASE WHEN %(retry_at)s::timestamptz IS NULL THEN 'failed' ELSE 'waiting' END,
    run_at = coalesce(%(retry_at)s, run_at),
    error = %(error)s,
    error_kind = %(error_kind)s,
    worker = NULL,
    leased_until = NULL,
    updated_at = %(now)s
WHERE job_id = %(job_id)s AND lease = %(lease)s AND state = 'running';

-- name: release_job
UPDATE job SET
    state = 'waiting', attempts = attempts - 1, worker = NULL, leased_until = NULL,
    updated_at = %(now)s
WHERE job_id = %(job_id)s AND lease = %(lease)s AND state = 'running';

-- name: cancel_job
UPDATE job SET state = 'cancelled', worker = NULL, leased_until = NULL, updated_at = %(now)s
WHERE job_id = %(job_id)s AND state IN ('waiting', 'running');

-- name: retry_job
UPDATE job SET
    state = 'waiting', attempts = 0, run_at = %(now)s, error = NULL, error_kind = NULL,
    result = NULL,
    updated_at = %(now)s
WHERE job_id = %(job_id)s
    AND state IN ('failed', 'cancelled')
    AND NOT EXISTS (
        SELECT 1 FROM job AS other
        WHERE other.project = job.project
            AND md5(other.key) = md5(job.key)
            AND other.kind = job.kind
            AND other.state IN ('waiting', 'running')
    );

-- name: get_job
SELECT * FROM job WHERE job_id = %(job_id)s;

-- name: last_job
SELECT * FROM job
WHERE project = %(project)s AND md5(key) = md5(%(key)s)
ORDER BY state IN ('waiting', 'running') DESC, job_id DESC
LIMIT 1;

-- name: list_jobs
SELECT * FROM job
WHERE (%(project)s::text IS NULL OR project = %(project)s)
    AND (%(states)s::text[] IS NULL OR state = ANY (%(states)s))
ORDER BY job_id DESC
LIMIT %(limit)s;

-- name: count_jobs
SELECT state, count(*) AS jobs FROM job WHERE state IN ('waiting', 'running') GROUP BY state;

-- name: next_due
SELECT min(due) AS due FROM (
    SELECT min(CASE WHEN updated_at > %(farthest)s THEN %(now)s ELSE run_at END) AS due
    FROM job WHERE state = 'waiting'
    UNION ALL
    SELECT min(CASE WHEN leased_until > %(farthest)s THEN %(now)s ELSE leased_until END)
    FROM job WHERE state = 'running'
) AS each;

-- name: prune_jobs
DELETE FROM job
WHERE state IN ('done', 'failed', 'cancelled') AND updated_at < %(before)s;
