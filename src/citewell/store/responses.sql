-- Responses that pages were made from.

-- name: put_response
INSERT INTO page_response (
    source_id, bytes, status, fetched_at, final_url, content_type, headers, body
)
SELECT
    source_id, :bytes, :status, :fetched_at, :final_url, :content_type, :headers, :body
FROM page
WHERE source_id = :source_id
ON CONFLICT (source_id) DO UPDATE SET
    bytes = excluded.bytes,
    status = excluded.status,
    fetched_at = excluded.fetched_at,
    final_url = excluded.final_url,
    content_type = excluded.content_type,
    headers = excluded.headers,
    body = excluded.body;

-- name: get_response
SELECT status, fetched_at, final_url, content_type, headers, body FROM page_response
WHERE source_id = :source_id;

-- name: drop_response
DELETE FROM page_response WHERE source_id = :source_id;

-- name: response_bytes
SELECT CAST(coalesce(sum(bytes), 0) AS bigint) AS bytes FROM page_response;

-- name: drop_oldest_responses
-- Those that do not fit when the newest are kept.
DELETE FROM page_response WHERE source_id IN (
    SELECT source_id FROM (
        SELECT
            source_id,
            sum(bytes) OVER (ORDER BY fetched_at DESC, source_id DESC) AS bytes_with_newer
        FROM page_response
    ) AS kept
    WHERE bytes_with_newer > :max_bytes
);
