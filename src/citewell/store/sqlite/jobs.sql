-- Background jobs, where SQLite needs another statement.

-- name: add_embedding_jobs
INSERT INTO job (
    project, kind, key, payload, priority, run_at, progress, created_at, updated_at
)
SELECT DISTINCT
    page.project, 'embed_page', CAST(page.source_id AS TEXT), '{}', -1, :now, :progress, :now, :now
FROM (
    SELECT rows_id FROM chunk
    WHERE (
        model_id = 0
        OR model_id IN (SELECT model_id FROM embedding_model WHERE name <> :model)
    ) AND rows_id NOT IN (SELECT rows_id FROM unlisted)
    ORDER BY chunk_id
    LIMIT :limit
) AS waiting
JOIN page USING (rows_id)
WHERE page.fetched_at < :stored_before
ON CONFLICT DO NOTHING;

-- name: job_to_take
-- A running job is due when its lease has ended. What lies further ahead than any lease could was
-- written before the clock was set back: such a job is due as well.
WITH due AS (
    SELECT job_id, priority, run_at, project, key FROM job
    WHERE state = 'waiting' AND (run_at <= :now OR updated_at > :farthest)
    UNION ALL
    SELECT job_id, priority, run_at, project, key FROM job
    WHERE state = 'running' AND (leased_until <= :now OR leased_until > :farthest)
)
SELECT job_id FROM due
WHERE (:job_id IS NULL OR job_id = :job_id)
    AND (
        :kinds IS NULL
        OR (SELECT kind FROM job WHERE job.job_id = due.job_id) IN (
            SELECT value FROM json_each(:kinds)
        )
    )
    AND NOT EXISTS (
        SELECT 1 FROM job AS other
        WHERE other.project = due.project
            AND other.key = due.key
            AND other.job_id <> due.job_id
            AND other.state = 'running'
            AND other.leased_until > :now
            AND other.leased_until <= :farthest
    )
ORDER BY priority DESC, run_at, job_id
LIMIT 1;
