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
WHERE project = :project AND md5(key) = md5(:key) AND kind = :kind
    AND state IN ('waiting', 'running')
FOR UPDATE;

-- name: add_job
-- None comes back when another process has added the job meanwhile.
INSERT INTO job (
    project, kind, key, payload, priority, run_at, progress, created_at, updated_at
) VALUES (
    :project, :kind, :key, :payload, :priority, :run_at, :progress,
    :now, :now
)
ON CONFLICT (project, md5(key), kind) WHERE state IN ('waiting', 'running') DO NOTHING
RETURNING *;

-- name: add_embedding_jobs
-- By model, so that the index on it finds the few that wait among many that do not.
INSERT INTO job (
    project, kind, key, payload, priority, run_at, progress, created_at, updated_at
)
SELECT DISTINCT
    page.project, 'embed_page', page.source_id::text, '{}', -1, :now::timestamptz,
    :progress, :now::timestamptz, :now::timestamptz
FROM (
    SELECT 0 AS model_id
    UNION ALL
    SELECT model_id FROM embedding_model WHERE name <> :model
) AS other
CROSS JOIN LATERAL (
    SELECT source_id FROM chunk WHERE chunk.model_id = other.model_id
    ORDER BY chunk_id LIMIT :limit
) AS waiting
JOIN page USING (source_id)
WHERE page.fetched_at < :stored_before
ON CONFLICT (project, md5(key), kind) WHERE state IN ('waiting', 'running') DO NOTHING;

-- name: hasten_job
UPDATE job SET
    priority = greatest(priority, :priority),
    run_at = CASE WHEN state = 'waiting' THEN least(run_at, :run_at) ELSE run_at END
WHERE job_id = :job_id
RETURNING *;

-- name: job_to_take
-- A running job is due when its lease has ended. What lies further ahead than any lease could was
-- written before the clock was set back: such a job is due as well.
SELECT job_id FROM job AS due
WHERE (
        state = 'waiting' AND (run_at <= :now OR updated_at > :farthest)
        OR state = 'running' AND (leased_until <= :now OR leased_until > :farthest)
    )
    AND (:job_id::bigint IS NULL OR job_id = :job_id)
    AND (:kinds::text[] IS NULL OR kind = ANY (:kinds))
    AND NOT EXISTS (
        SELECT 1 FROM job AS other
        WHERE other.project = due.project
            AND md5(other.key) = md5(due.key)
            AND other.job_id <> due.job_id
            AND other.state = 'running'
            AND other.leased_until > :now
            AND other.leased_until <= :farthest
    )
ORDER BY priority DESC, run_at, job_id
LIMIT 1
FOR UPDATE;

-- name: take_job
UPDATE job SET
    state = 'running',
    worker = :worker,
    lease = lease + 1,
    attempts = attempts + 1,
    leased_until = :leased_until,
    updated_at = :now
WHERE job_id = :job_id
RETURNING *;

-- name: job_lease
SELECT state, lease FROM job WHERE job_id = :job_id;

-- name: heartbeat
UPDATE job SET
    leased_until = :leased_until,
    progress = coalesce(:progress, progress),
    updated_at = :now
WHERE job_id = :job_id AND lease = :lease AND state = 'running';

-- name: finish_job
UPDATE job SET
    state = 'done', result = :result, error = NULL, error_kind = NULL, worker = NULL,
    leased_until = NULL,
    updated_at = :now
WHERE job_id = :job_id AND lease = :lease AND state = 'running';

-- name: fail_job
UPDATE job SET
    state = CASE WHEN :retry_at::timestamptz IS NULL THEN 'failed' ELSE 'waiting' END,
    run_at = coalesce(:retry_at, run_at),
    error = :error,
    error_kind = :error_kind,
    worker = NULL,
    leased_until = NULL,
    updated_at = :now
WHERE job_id = :job_id AND lease = :lease AND state = 'running';

-- name: release_job
UPDATE job SET
    state = 'waiting', attempts = attempts - 1, worker = NULL, leased_until = NULL,
    updated_at = :now
WHERE job_id = :job_id AND lease = :lease AND state = 'running';

-- name: cancel_job
UPDATE job SET state = 'cancelled', worker = NULL, leased_until = NULL, updated_at = :now
WHERE job_id = :job_id AND state IN ('waiting', 'running');

-- name: retry_job
UPDATE job SET
    state = 'waiting', attempts = 0, run_at = :now, error = NULL, error_kind = NULL,
    result = NULL,
    updated_at = :now
WHERE job_id = :job_id
    AND state IN ('failed', 'cancelled')
    AND NOT EXISTS (
        SELECT 1 FROM job AS other
        WHERE other.project = job.project
            AND md5(other.key) = md5(job.key)
            AND other.kind = job.kind
            AND other.state IN ('waiting', 'running')
    );

-- name: get_job
SELECT * FROM job WHERE job_id = :job_id;

-- name: last_job
SELECT * FROM job
WHERE project = :project AND md5(key) = md5(:key)
ORDER BY state IN ('waiting', 'running') DESC, job_id DESC
LIMIT 1;

-- name: list_jobs
SELECT * FROM job
WHERE (:project::text IS NULL OR project = :project)
    AND (:states::text[] IS NULL OR state = ANY (:states))
ORDER BY job_id DESC
LIMIT :limit;

-- name: count_jobs
SELECT state, count(*) AS jobs FROM job WHERE state IN ('waiting', 'running') GROUP BY state;

-- name: next_due
SELECT min(due) AS due FROM (
    SELECT min(CASE WHEN updated_at > :farthest THEN :now ELSE run_at END) AS due
    FROM job WHERE state = 'waiting'
    UNION ALL
    SELECT min(CASE WHEN leased_until > :farthest THEN :now ELSE leased_until END)
    FROM job WHERE state = 'running'
) AS each;

-- name: prune_jobs
DELETE FROM job
WHERE state IN ('done', 'failed', 'cancelled') AND updated_at < :before;
