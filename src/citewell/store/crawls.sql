-- Crawls and their frontiers. PostgreSQL finds a URL by its hash, which is what it indexes.

-- name: get_crawl
SELECT job_id, discovery, started_at FROM crawl WHERE website_id = :website_id;

-- name: remove_crawl
DELETE FROM crawl WHERE website_id = :website_id;

-- name: start_crawl
INSERT INTO crawl (website_id, job_id, discovery, started_at)
SELECT source_id, :job_id, :discovery, :started_at FROM website WHERE source_id = :website_id;

-- name: add_crawl_url
INSERT INTO crawl_url (website_id, url, depth, modified_at, ignore_canonical)
VALUES (:website_id, :url, :depth, :modified_at, :ignore_canonical)
ON CONFLICT DO NOTHING;

-- name: next_crawl_urls
SELECT url, depth, modified_at, ignore_canonical FROM crawl_url
WHERE website_id = :website_id AND state = 'waiting'
ORDER BY depth, found
LIMIT :limit;

-- name: note_crawl_outcome
UPDATE crawl_url SET
    state = :state,
    canonical_url = :canonical_url,
    error = :error,
    change = :change,
    chunks_removed = :chunks_removed,
    chunks_added = :chunks_added
WHERE website_id = :website_id AND url = :url AND md5(url) = md5(:url);

-- name: is_crawl_url_known
SELECT 1 FROM crawl_url
WHERE website_id = :website_id AND url = :url AND md5(url) = md5(:url);

-- name: retry_aliases
UPDATE crawl_url SET state = 'waiting', ignore_canonical = TRUE
WHERE website_id = :website_id
    AND state = 'alias'
    AND NOT EXISTS (
        SELECT 1 FROM crawl_url AS target
        WHERE target.website_id = crawl_url.website_id
            AND target.url = crawl_url.canonical_url
            AND md5(target.url) = md5(crawl_url.canonical_url)
            AND target.state IN ('waiting', 'read', 'duplicate')
    );

-- name: hand_over_crawl
UPDATE crawl SET job_id = :job_id WHERE website_id = :website_id AND job_id <> :job_id;

-- name: retry_failed_urls
UPDATE crawl_url SET state = 'waiting', error = NULL, change = NULL
WHERE website_id = :website_id AND state = 'failed';

-- name: count_crawl_urls
SELECT state, count(*) AS urls FROM crawl_url WHERE website_id = :website_id GROUP BY state;

-- name: first_crawl_errors
SELECT url, error FROM crawl_url
WHERE website_id = :website_id AND state = 'failed'
ORDER BY depth, found
LIMIT :limit;

-- name: crawl_changes
SELECT change FROM crawl_url
WHERE website_id = :website_id AND change IS NOT NULL
ORDER BY found
LIMIT :limit;

-- name: sum_crawl_chunks
SELECT
    CAST(coalesce(sum(chunks_removed), 0) AS bigint) AS removed,
    CAST(coalesce(sum(chunks_added), 0) AS bigint) AS added
FROM crawl_url
WHERE website_id = :website_id;
