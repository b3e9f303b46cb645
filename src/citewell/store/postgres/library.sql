-- The library of websites. What an entry tells of its pages is read from them.

-- name: reserve_page_number
SELECT nextval(pg_get_serial_sequence('page', 'source_id')) AS source_id;

-- name: is_free_number
SELECT NOT EXISTS (SELECT 1 FROM page WHERE source_id = :source_id)
    AND NOT EXISTS (SELECT 1 FROM website WHERE source_id = :source_id) AS is_free;

-- name: add_website
-- None comes back when another process has added the entry meanwhile.
INSERT INTO website (
    source_id, project, url, kind, content_type, status, tags, options, refresh_seconds,
    refresh_due_at, created_at, updated_at
) VALUES (
    :source_id, :project, :url, :kind, :content_type, 'pending', :tags,
    :options, :refresh_seconds, :refresh_due_at, :now, :now
)
ON CONFLICT (project, md5(url)) DO NOTHING
RETURNING source_id;

-- name: make_site
UPDATE website SET
    kind = 'site', options = :options, status = 'pending', updated_at = :now
WHERE source_id = :source_id;

-- name: get_website
SELECT
    website.*, own.title AS own_title, own.language AS own_language,
    own.fetched_at AS own_fetched_at, own.fields, counted.pages, counted.chunks
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
    SELECT count(*) AS pages, coalesce(sum(page.chunks), 0)::bigint AS chunks
    FROM website_page JOIN page USING (source_id)
    WHERE website_page.website_id = website.source_id
) AS counted
WHERE website.source_id = ANY (:source_ids)
    AND (:project::text IS NULL OR website.project = :project);

-- name: find_website
SELECT source_id FROM website
WHERE project = :project AND md5(url) = md5(:url)
FOR SHARE;

-- name: look_up_website
SELECT source_id FROM website WHERE project = :project AND md5(url) = md5(:url);

-- name: page_as_website
SELECT source_id, project, url, content_type, title, language, chunks, fetched_at, tags
FROM page
WHERE source_id = :source_id AND project = :project;

-- name: find_page_as_website
SELECT source_id FROM page WHERE project = :project AND md5(url) = md5(:url);

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
    AND (:content_type::text IS NULL OR content_type = :content_type)
    AND (:status::text IS NULL OR status = :status)
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

-- name: count_websites
SELECT count(*) AS total FROM website
WHERE project = :project
    AND (:content_type::text IS NULL OR content_type = :content_type)
    AND (:status::text IS NULL OR status = :status);

-- name: update_website
UPDATE website SET
    kind = coalesce(:kind, kind),
    content_type = coalesce(:content_type, content_type),
    options = coalesce(:options, options),
    tags = coalesce(:tags::text[], tags),
    updated_at = :now
WHERE source_id = :source_id;

-- name: schedule_refresh
UPDATE website SET
    refresh_seconds = :every_seconds, refresh_due_at = :due_at, updated_at = :now
WHERE source_id = :source_id;

-- name: due_refreshes
-- An entry that was written tomorrow: the clock has been set back, and no due time can be trusted.
UPDATE website SET
    refresh_due_at = :now + make_interval(secs => refresh_seconds), updated_at = :now
FROM (
    SELECT source_id, refresh_due_at AS due_at FROM website
    WHERE refresh_due_at IS NOT NULL
        AND (refresh_due_at <= :now OR updated_at > :tomorrow)
    ORDER BY refresh_due_at
    LIMIT :limit
    FOR UPDATE SKIP LOCKED
) AS due
WHERE website.source_id = due.source_id
RETURNING website.source_id, due.due_at;

-- name: set_website_status
UPDATE website SET
    status = :status, error_message = :error_message, updated_at = :now
WHERE source_id = :source_id;

-- name: finish_website
UPDATE website SET
    status = :status,
    error_message = :error_message,
    title = coalesce(:title, title),
    last_change = coalesce(:change, last_change),
    language = coalesce(
        (
            SELECT CASE
                WHEN count(*) = 0 THEN NULL
                WHEN min(page.language) = max(page.language) THEN min(page.language)
                ELSE 'mixed'
            END
            FROM website_page JOIN page USING (source_id)
            WHERE website_page.website_id = website.source_id
        ),
        language
    ),
    fetched_at = CASE
        WHEN kind = 'site' AND :status = 'completed' THEN :now ELSE fetched_at
    END,
    updated_at = :now
WHERE source_id = :source_id;

-- name: join_page
INSERT INTO website_page (website_id, source_id, fields)
SELECT :website_id, page.source_id, coalesce(:fields::text, '{}') FROM page
WHERE page.source_id = :source_id
    AND EXISTS (SELECT 1 FROM website WHERE source_id = :website_id)
ON CONFLICT (website_id, source_id) DO UPDATE
SET fields = coalesce(:fields::text, website_page.fields);

-- name: leave_page
DELETE FROM website_page WHERE website_id = :website_id AND source_id = :source_id;

-- name: is_page_held
SELECT 1 FROM website_page WHERE source_id = :source_id LIMIT 1;

-- name: list_members
SELECT page.source_id, page.url, page.title, page.language, page.chunks, page.fetched_at,
    website_page.fields
FROM website_page JOIN page USING (source_id)
WHERE website_page.website_id = :website_id
    AND website_page.source_id > :after_source_id
ORDER BY website_page.source_id
LIMIT :limit;

-- name: find_member_by_text
SELECT page.source_id, page.url, page.title, page.language, page.chunks, page.fetched_at,
    website_page.fields
FROM page JOIN website_page USING (source_id)
WHERE page.text_hash = :text_hash AND website_page.website_id = :website_id
ORDER BY page.source_id
LIMIT 1;

-- name: pages_of
SELECT website_page.source_id FROM website
JOIN website_page ON website_page.website_id = website.source_id
WHERE website.source_id = ANY (:source_ids) AND website.project = :project
UNION
SELECT source_id FROM page
WHERE source_id = ANY (:source_ids) AND project = :project
ORDER BY 1;

-- name: fields_of
SELECT source_id, fields FROM website_page
WHERE source_id = ANY (:source_ids) AND fields <> '{}'
ORDER BY source_id, website_id;

-- name: pages_with_fields
SELECT DISTINCT website_page.source_id, website_page.fields
FROM website
JOIN website_page ON website_page.website_id = website.source_id
WHERE website.project = :project AND website_page.fields <> '{}'
ORDER BY website_page.source_id;

-- name: member_ids
SELECT source_id FROM website_page WHERE website_id = :website_id ORDER BY source_id;

-- name: delete_website
DELETE FROM website WHERE source_id = :source_id;

-- name: page_size
SELECT url, chunks FROM page WHERE source_id = :source_id AND project = :project;

-- name: cancel_jobs_of
UPDATE job SET state = 'cancelled', worker = NULL, leased_until = NULL
WHERE project = :project AND md5(key) = md5(:key) AND state IN ('waiting', 'running');
