-- Background jobs, where PostgreSQL needs another statement.

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
ON CONFLICT DO NOTHING;

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
