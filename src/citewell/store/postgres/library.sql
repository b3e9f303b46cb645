-- The library of websites, where PostgreSQL needs another statement. What an entry tells of its pages
-- is read from them.

-- name: reserve_page_number
SELECT nextval(pg_get_serial_sequence('page', 'source_id')) AS source_id;

-- name: get_websites
SELECT
    website.source_id, website.project, website.url, website.kind, website.content_type,
    website.status, website.error_message, website.tags, website.options,
    website.refresh_seconds, website.refresh_due_at, website.created_at, website.updated_at,
    website.last_change,
    -- A single page has its own.
    coalesce(CASE website.kind WHEN 'page' THEN nullif(own.title, '') END, website.title) AS title,
    coalesce(CASE website.kind WHEN 'page' THEN own.language END, website.language) AS language,
    coalesce(
        CASE website.kind WHEN 'page' THEN own.fetched_at END, website.fetched_at
    ) AS fetched_at,
    own.fields, counted.pages, counted.chunks, counted.text_bytes,
    (SELECT origin FROM page WHERE page.source_id = website.source_id) AS origin,
    (SELECT supplied_by FROM page WHERE page.source_id = website.source_id) AS supplied_by
FROM website
LEFT JOIN LATERAL (
    SELECT page.title, page.language, page.fetched_at, website_page.fields
    FROM website_page JOIN page USING (source_id)
    WHERE website_page.website_id = website.source_id
        AND (website.kind = 'page' OR website_page.source_id = website.source_id)
    ORDER BY website_page.source_id <> website.source_id, website_page.source_id
    LIMIT 1
) AS own ON TRUE
CROSS JOIN LATERAL (
    SELECT
        count(*) AS pages, coalesce(sum(page.chunks), 0)::bigint AS chunks,
        coalesce(sum(page.text_bytes), 0)::bigint AS text_bytes
    FROM website_page JOIN page USING (source_id)
    WHERE website_page.website_id = website.source_id
) AS counted
WHERE website.source_id = ANY (:source_ids);

-- name: list_websites
SELECT website.source_id
FROM website
LEFT JOIN LATERAL (
    SELECT page.fetched_at
    FROM website_page JOIN page USING (source_id)
    WHERE website.kind = 'page' AND website_page.website_id = website.source_id
    ORDER BY website_page.source_id <> website.source_id, website_page.source_id
    LIMIT 1
) AS own ON :order_by = 'fetch_timestamp'
WHERE project = :project
    AND (:kind::text IS NULL OR website.kind = :kind)
    AND NOT (:is_grouped AND website.kind = 'page' AND EXISTS (
        SELECT 1 FROM website_page JOIN website AS site ON site.source_id = website_page.website_id
        WHERE website_page.source_id = website.source_id AND site.kind = 'site'
    ))
    AND (:content_type::text IS NULL OR content_type = :content_type)
    AND (:status::text IS NULL OR status = :status)
    AND (
        :matching::text IS NULL
        OR lower(website.url || ' ' || website.title) LIKE '%' || :matching::text || '%'
    )
ORDER BY
    :order_by = 'fetch_timestamp' AND coalesce(own.fetched_at, website.fetched_at) IS NULL,
    CASE WHEN :order_by = 'fetch_timestamp' AND :descending
        THEN coalesce(own.fetched_at, website.fetched_at) END DESC,
    CASE WHEN :order_by = 'fetch_timestamp' AND NOT :descending
        THEN coalesce(own.fetched_at, website.fetched_at) END,
    -- By bytes, as the other database sorts.
    CASE WHEN :order_by = 'url' AND :descending THEN url END COLLATE "C" DESC,
    CASE WHEN :order_by = 'url' AND NOT :descending THEN url END COLLATE "C",
    CASE WHEN :order_by = 'status' AND :descending THEN status END COLLATE "C" DESC,
    CASE WHEN :order_by = 'status' AND NOT :descending THEN status END COLLATE "C",
    CASE WHEN :descending THEN -website.source_id ELSE website.source_id END
LIMIT :limit OFFSET :offset;

-- name: join_page
INSERT INTO website_page (website_id, source_id, fields)
SELECT :website_id, page.source_id, coalesce(:fields::text, '{}') FROM page
WHERE page.source_id = :source_id
    AND EXISTS (SELECT 1 FROM website WHERE source_id = :website_id)
ON CONFLICT (website_id, source_id) DO UPDATE
SET fields = coalesce(:fields::text, website_page.fields);

-- name: pages_of
SELECT website_page.source_id FROM website
JOIN website_page ON website_page.website_id = website.source_id
WHERE website.source_id = ANY (:source_ids) AND website.project = :project
UNION
SELECT source_id FROM page
WHERE source_id = ANY (:source_ids) AND project = :project
ORDER BY 1;
