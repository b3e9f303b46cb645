-- The library of websites. What an entry tells of its pages is read from them.

-- name: reserve_page_number
SELECT nextval(pg_get_serial_sequence('page', 'source_id')) AS source_id;

-- name: is_free_number
SELECT NOT EXISTS (SELECT 1 FROM page WHERE source_id = %(source_id)s)
    AND NOT EXISTS (SELECT 1 FROM website WHERE source_id = %(source_id)s) AS is_free;

-- name: add_website
-- None comes back when another process has added the entry meanwhile.
INSERT INTO website (
    source_id, project, url, kind, content_type, status, tags, options, refresh_seconds,
    refresh_due_at, created_at, updated_at
) VALUES (
    %(source_id)s, %(project)s, %(url)s, %(kind)s, %(content_type)s, 'pending', %(tags)s,
    %(options)s, %(refresh_seconds)s, %(refresh_due_at)s, %(now)s, %(now)s
)
ON CONFLICT (project, md5(url)) DO NOTHING
RETURNING source_id;

-- name: make_site
UPDATE website SET
    kind = 'site', options = %(options)s, status = 'pending', updated_at = %(now)s
WHERE source_id = %(source_id)s;

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
WHERE website.source_id = ANY (%(source_ids)s)
    AND (%(project)s::text IS NULL OR website.project = %(project)s);

-- name: find_website
SELECT source_id FROM website
WHERE project = %(project)s AND md5(url) = md5(%(url)s)
FOR SHARE;

-- name: look_up_website
SELECT source_id FROM website WHERE project = %(project)s AND md5(url) = md5(%(url)s);

-- name: page_as_website
SELECT source_id, project, url, content_type, title, language, chunks, fetched_at, tags
FROM page
WHERE source_id = %(source_id)s AND project = %(project)s;

-- name: find_page_as_website
SELECT source_id FROM page WHERE project = %(project)s AND md5(url) = md5(%(url)s);

-- name: list_websites
SELECT website.source_id
FROM website
LEFT JOIN LATERAL (
    SELECT page.fetched_at
    FROM website_page JOIN page USING (source_id)
    WHERE website.kind = 'page' AND website_page.website_id = website.source_id
    ORDER BY website_page.source_id <> website.source_id, website_page.source_id
    LIMIT 1
) AS own ON %(order_by)s = 'fetch_timestamp'
WHERE project = %(project)s
    AND (%(content_type)s::text IS NULL OR content_type = %(content_type)s)
    AND (%(status)s::text IS NULL OR status = %(status)s)
ORDER BY
    %(order_by)s = 'fetch_timestamp' AND coalesce(own.fetched_at, website.fetched_at) IS NULL,
    CASE WHEN %(order_by)s = 'fetch_timestamp' AND %(descending)s
        THEN coalesce(own.fetched_at, website.fetched_at) END DESC,
    CASE WHEN %(order_by)s = 'fetch_timestamp' AND NOT %(descending)s
        THEN coalesce(own.fetched_at, website.fetched_at) END,
    -- By bytes, as the other database sorts.
    CASE WHEN %(order_by)s = 'url' AND %(descending)s THEN url END COLLATE "C" DESC,
    CASE WHEN %(order_by)s = 'url' AND NOT %(descending)s THEN url END COLLATE "C",
    CASE WHEN %(order_by)s = 'status' AND %(descending)s THEN status END COLLATE "C" DESC,
    CASE WHEN %(order_by)s = 'status' AND NOT %(descending)s THEN status END COLLATE "C",
    CASE WHEN %(descending)s THEN -website.source_id ELSE website.source_id END
LIMIT %(limit)s OFFSET %(offset)s;

-- name: count_websites
SELECT count(*) AS total FROM website
WHERE project = %(project)s
    AND (%(content_type)s::text IS NULL OR content_type = %(content_type)s)
    AND (%(status)s::text IS NULL OR status = %(status)s);

-- name: update_website
UPDATE website SET
    kind = coalesce(%(kind)s, kind),
    content_type = coalesce(%(content_type)s, content_type),
    options = coalesce(%(options)s, options),
    tags = coalesce(%(tags)s::text[], tags),
    updated_at = %(now)s
WHERE source_id = %(source_id)s;

-- name: schedule_refresh
UPDATE website SET
    refresh_seconds = %(every_seconds)s, refresh_due_at = %(due_at)s, updated_at = %(now)s
WHERE source_id = %(source_id)s;

-- name: due_refreshes
-- An entry that was written tomorrow: the clock has been set back, and no due time can be trusted.
UPDATE website SET
    refresh_due_at = %(now)s + make_interval(secs => refresh_seconds), updated_at = %(now)s
FROM (
    SELECT source_id, refresh_due_at AS due_at FROM website
    WHERE refresh_due_at IS NOT NULL
        AND (refresh_due_at <= %(now)s OR updated_at > %(tomorrow)s)
    ORDER BY refresh_due_at
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
) AS due
WHERE website.source_id = due.source_id
RETURNING website.source_id, due.due_at;

-- name: set_website_status
UPDATE website SET
    status = %(status)s, error_message = %(error_message)s, updated_at = %(now)s
WHERE source_id = %(source_id)s;

-- name: finish_website
UPDATE website SET
    status = %(status)s,
    error_message = %(error_message)s,
    title = coalesce(%(title)s, title),
    last_change = coalesce(%(change)s, last_change),
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
        WHEN kind = 'site' AND %(status)s = 'completed' THEN %(now)s ELSE fetched_at
    END,
    updated_at = %(now)s
WHERE source_id = %(source_id)s;

-- name: join_page
INSERT INTO website_page (website_id, source_id, fields)
SELECT %(website_id)s, page.source_id, coalesce(%(fields)s::text, '{}') FROM page
WHERE page.source_id = %(source_id)s
    AND EXISTS (SELECT 1 FROM website WHERE source_id = %(website_id)s)
ON CONFLICT (website_id, source_id) DO UPDATE
SET fields = coalesce(%(fields)s::text, website_page.fields);

-- name: leave_page
DELETE FROM website_page WHERE website_id = %(website_id)s AND source_id = %(source_id)s;

-- name: is_page_held
SELECT 1 FROM website_page WHERE source_id = %(source_id)s LIMIT 1;

-- name: list_members
SELECT page.source_id, page.url, page.title, page.language, page.chunks, page.fetched_at,
    website_page.fields
FROM website_page JOIN page USING (source_id)
WHERE website_page.website_id = %(website_id)s
    AND website_page.source_id > %(after_source_id)s
ORDER BY website_page.source_id
LIMIT %(limit)s;

-- name: find_member_by_text
SELECT page.source_id, page.url, page.title, page.language, page.chunks, page.fetched_at,
    website_page.fields
FROM page JOIN website_page USING (source_id)
WHERE page.text_hash = %(text_hash)s AND website_page.website_id = %(website_id)s
ORDER BY page.source_id
LIMIT 1;

-- name: pages_of
SELECT website_page.source_id FROM website
JOIN website_page ON website_page.website_id = website.source_id
WHERE website.source_id = ANY (%(source_ids)s) AND website.project = %(project)s
UNION
SELECT source_id FROM page
WHERE source_id = ANY (%(source_ids)s) AND project = %(project)s
ORDER BY 1;

-- name: fields_of
SELECT source_id, fields FROM website_page
WHERE source_id = ANY (%(source_ids)s) AND fields <> '{}'
ORDER BY source_id, website_id;

-- name: pages_with_fields
SELECT DISTINCT website_page.source_id, website_page.fields
FROM website
JOIN website_page ON website_page.website_id = website.source_id
WHERE website.project = %(project)s AND website_page.fields <> '{}'
ORDER BY website_page.source_id;

-- name: member_ids
SELECT source_id FROM website_page WHERE website_id = %(website_id)s ORDER BY source_id;

-- name: delete_website
DELETE FROM website WHERE source_id = %(source_id)s;

-- name: page_size
SELECT url, chunks FROM page WHERE source_id = %(source_id)s AND project = %(project)s;

-- name: cancel_jobs_of
UPDATE job SET state = 'cancelled', worker = NULL, leased_until = NULL
WHERE project = %(project)s AND md5(key) = md5(%(key)s) AND state IN ('waiting', 'running');
