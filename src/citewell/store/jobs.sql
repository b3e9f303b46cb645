-- Background jobs. PostgreSQL finds a key by its hash, which is what it indexes.

-- name: unfinished_job
SELECT * FROM job
WHERE project = :project AND key = :key AND md5(key) = md5(:key) AND kind = :kind
    AND state IN ('waiting', 'running')
-- postgres: FOR UPDATE
;

-- name: add_job
-- Returns nothing when there is an unfinished job with this key.
INSERT INTO job (
    project, kind, key, payload, priority, run_at, progress, created_at, updated_at
) VALUES (:project, :kind, :key, :payload, :priority, :run_at, :progress, :now, :now)
ON CONFLICT DO NOTHING
RETURNING *;

-- name: chunk_to_embed
-- By model, so that the index on it finds the few that wait among many that do not.
SELECT 1 FROM (
    SELECT 0 AS model_id
    UNION ALL
    SELECT model_id FROM embedding_model WHERE name <> :model
) AS other
WHERE (
    SELECT chunk_id FROM chunk
    WHERE chunk.model_id = other.model_id
        -- sqlite: AND chunk.rows_id NOT IN (SELECT rows_id FROM unlisted)
    LIMIT 1
) IS NOT NULL
LIMIT 1;

-- name: hasten_job
UPDATE job SET
    priority = CASE WHEN :priority > priority THEN :priority ELSE priority END,
    run_at = CASE WHEN state = 'waiting' AND :run_at < run_at THEN :run_at ELSE run_at END
WHERE job_id = :job_id
RETURNING *;

-- name: take_job
-- A job that is still running has lost its worker; the second time in a row is its last.
UPDATE job SET
    error_kind = CASE
        WHEN state <> 'running' THEN error_kind
        WHEN error_kind = 'WorkerLost' THEN 'WorkerLostTwice'
        ELSE 'WorkerLost'
    END,
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
    state = :state,
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
    result = NULL, updated_at = :now
WHERE job_id = :job_id
    AND state IN ('failed', 'cancelled')
    AND NOT EXISTS (
        SELECT 1 FROM job AS other
        WHERE other.project = job.project
            AND other.key = job.key
            AND md5(other.key) = md5(job.key)
            AND other.kind = job.kind
            AND other.state IN ('waiting', 'running')
    );

-- name: get_job
SELECT * FROM job WHERE job_id = :job_id;

-- name: last_job
SELECT * FROM job
WHERE project = :project AND key = :key AND md5(key) = md5(:key)
ORDER BY state IN ('waiting', 'running') DESC, job_id DESC
LIMIT 1;

-- name: list_jobs
SELECT * FROM job
WHERE (CAST(:project AS text) IS NULL OR project = :project)
    -- sqlite: AND (:states IS NULL OR state IN (SELECT value FROM json_each(:states)))
    -- postgres: AND (:states::text[] IS NULL OR state = ANY (:states))
ORDER BY job_id DESC
LIMIT :limit;

-- name: count_jobs
SELECT state, count(*) AS jobs FROM job WHERE state IN ('waiting', 'running') GROUP BY state;

-- name: next_due
SELECT min(due) AS due FROM (
    SELECT min(CASE WHEN updated_at > :farthest THEN :now ELSE run_at END) AS due FROM job
    WHERE state = 'waiting'
    UNION ALL
    SELECT min(CASE WHEN leased_until > :farthest THEN :now ELSE leased_until END) FROM job
    WHERE state = 'running'
) AS soonest;

-- name: prune_jobs
DELETE FROM job
WHERE state IN ('done', 'failed', 'cancelled') AND updated_at < :before;
