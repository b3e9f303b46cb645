-- The library of websites. PostgreSQL finds a URL by its hash, which is what it indexes.

-- name: is_number_taken
SELECT 1 FROM page WHERE source_id = :source_id
UNION ALL
SELECT 1 FROM website WHERE source_id = :source_id
LIMIT 1;

-- name: add_website
-- Changes nothing when another process has added the entry meanwhile.
INSERT INTO website (
    source_id, project, url, kind, content_type, status, tags, options, refresh_seconds,
    refresh_due_at, created_at, updated_at
) VALUES (
    :source_id, :project, :url, :kind, :content_type, 'pending', :tags, :options,
    :refresh_seconds, :refresh_due_at, :now, :now
)
ON CONFLICT DO NOTHING;

-- name: make_site
UPDATE website SET kind = 'site', options = :options, status = 'pending', updated_at = :now
WHERE source_id = :source_id;

-- name: find_website
SELECT source_id FROM website
WHERE project = :project AND url = :url AND md5(url) = md5(:url);

-- name: hold_website
SELECT source_id FROM website
WHERE project = :project AND url = :url AND md5(url) = md5(:url)
-- postgres: FOR SHARE
;

-- name: find_page_of_website
SELECT source_id FROM page
WHERE project = :project AND url = :url AND md5(url) = md5(:url);

-- name: page_as_website
SELECT
    source_id, project, url, content_type, title, language, chunks, text_bytes, fetched_at, origin,
    supplied_by,
    -- sqlite: (SELECT json_group_array(tag) FROM page_tag WHERE page_tag.source_id = page.source_id) AS
    tags
FROM page
WHERE source_id = :source_id AND project = :project;

-- name: count_websites
SELECT count(*) AS total FROM website
WHERE project = :project
    AND (CAST(:kind AS text) IS NULL OR kind = :kind)
    AND NOT (CAST(:is_grouped AS boolean) AND kind = 'page' AND EXISTS (
        SELECT 1 FROM website_page JOIN website AS site ON site.source_id = website_page.website_id
        WHERE website_page.source_id = website.source_id AND site.kind = 'site'
    ))
    AND (CAST(:content_type AS text) IS NULL OR content_type = :content_type)
    AND (CAST(:status AS text) IS NULL OR status = :status)
    AND (
        CAST(:matching AS text) IS NULL
        OR lower(url || ' ' || title) LIKE '%' || CAST(:matching AS text) || '%'
    );

-- name: update_website
UPDATE website SET
    content_type = coalesce(:content_type, content_type),
    options = coalesce(:options, options),
    -- sqlite: tags = coalesce(:tags, tags),
    -- postgres: tags = coalesce(:tags::text[], tags),
    updated_at = :now
WHERE source_id = :source_id;

-- name: schedule_refresh
UPDATE website SET refresh_seconds = :every_seconds, refresh_due_at = :due_at, updated_at = :now
WHERE source_id = :source_id;

-- name: due_refreshes
-- An entry that was written tomorrow: the clock has been set back, and no due time can be trusted.
SELECT source_id, refresh_seconds FROM website
WHERE refresh_due_at IS NOT NULL AND (refresh_due_at <= :now OR updated_at > :tomorrow)
ORDER BY refresh_due_at
LIMIT :limit
-- postgres: FOR UPDATE SKIP LOCKED
;

-- name: set_next_refresh
UPDATE website SET refresh_due_at = :due_at, updated_at = :now WHERE source_id = :source_id;

-- name: set_website_status
UPDATE website SET status = :status, error_message = :error_message, updated_at = :now
WHERE source_id = :source_id;

-- name: finish_website
UPDATE website SET
    status = :status,
    error_message = :error_message,
    title = coalesce(:title, title),
    last_change = coalesce(:change, last_change),
    language = coalesce(
        (
            -- An index or a list of symbols among many pages of prose is no second language.
            SELECT CASE
                WHEN 5 * sum(page.chunks) >= 4 * sum(sum(page.chunks)) OVER () THEN page.language
                ELSE 'mixed'
            END
            FROM website_page CROSS JOIN page
            WHERE website_page.website_id = website.source_id
                AND page.source_id = website_page.source_id
            GROUP BY page.language
            ORDER BY sum(page.chunks) DESC, page.language
            LIMIT 1
        ),
        language
    ),
    fetched_at = CASE WHEN kind = 'site' AND :status = 'completed' THEN :now ELSE fetched_at END,
    updated_at = :now
WHERE source_id = :source_id;

-- name: leave_page
DELETE FROM website_page WHERE website_id = :website_id AND source_id = :source_id;

-- name: is_member
SELECT 1 FROM website_page WHERE website_id = :website_id AND source_id = :source_id;

-- name: is_page_held
-- By another entry than :website_id.
SELECT 1 FROM website_page WHERE source_id = :source_id AND website_id <> :website_id LIMIT 1;

-- name: typed_websites_of
SELECT website.source_id, website.content_type FROM website_page
JOIN website ON website.source_id = website_page.website_id
WHERE website_page.source_id = :source_id AND website.content_type <> 'general'
ORDER BY website.source_id;

-- name: list_members
SELECT
    page.source_id, page.url, page.title, page.language, page.chunks, page.fetched_at,
    page.origin, website_page.fields
FROM website_page CROSS JOIN page
WHERE website_page.website_id = :website_id AND website_page.source_id > :after_source_id
    AND page.source_id = website_page.source_id
ORDER BY website_page.source_id
LIMIT :limit;

-- name: member_text_hashes
SELECT
    website_id AS source_id,
    -- sqlite: md5(group_concat(text_hash)) AS text_hash
    -- postgres: md5(string_agg(text_hash, ',' ORDER BY source_id)) AS text_hash
FROM (
    SELECT website_page.website_id, page.source_id, page.text_hash
    FROM website_page CROSS JOIN page
    WHERE page.source_id = website_page.source_id
        -- sqlite: AND website_page.website_id IN (SELECT value FROM json_each(:source_ids))
        -- postgres: AND website_page.website_id = ANY (:source_ids)
    ORDER BY website_page.website_id, page.source_id
) AS member
GROUP BY website_id;

-- name: find_member_by_text
SELECT
    page.source_id, page.url, page.title, page.language, page.chunks, page.fetched_at,
    page.origin, website_page.fields
FROM page CROSS JOIN website_page
WHERE page.text_hash = :text_hash AND website_page.website_id = :website_id
    AND website_page.source_id = page.source_id
ORDER BY page.source_id
LIMIT 1;

-- name: holders_of
-- The entry that a page is of; of several, its own, or else the oldest.
SELECT source_id, website_id FROM website_page
WHERE TRUE
    -- sqlite: AND source_id IN (SELECT value FROM json_each(:source_ids))
    -- postgres: AND source_id = ANY (:source_ids)
ORDER BY source_id, website_id <> source_id, website_id;

-- name: member_pages
SELECT DISTINCT website_page.source_id FROM website
JOIN website_page ON website_page.website_id = website.source_id
WHERE website.project = :project
    AND (CAST(:content_type AS text) IS NULL OR website.content_type = :content_type)
ORDER BY website_page.source_id;

-- name: has_pages_of_no_entry
SELECT EXISTS (
    SELECT 1 FROM page
    WHERE project = :project AND NOT EXISTS (
        SELECT 1 FROM website_page WHERE website_page.source_id = page.source_id
    )
) AS is_any;

-- name: fields_of
SELECT source_id, fields FROM website_page
WHERE fields <> '{}'
    -- sqlite: AND source_id IN (SELECT value FROM json_each(:source_ids))
    -- postgres: AND source_id = ANY (:source_ids)
ORDER BY source_id, website_id;

-- name: pages_with_fields
-- Lower case is made outside: SQLite's own knows ASCII only.
SELECT DISTINCT website_page.source_id, website_page.fields
FROM website CROSS JOIN website_page
WHERE website.project = :project AND website_page.website_id = website.source_id
    AND website_page.fields <> '{}'
ORDER BY website_page.source_id;

-- name: sizes_of_members
SELECT source_id, page.chunks FROM website_page JOIN page USING (source_id)
WHERE website_id = :source_id ORDER BY source_id;

-- name: delete_website
DELETE FROM website WHERE source_id = :source_id;

-- name: page_size
SELECT source_id, chunks FROM page WHERE source_id = :source_id;

-- name: cancel_jobs_of
UPDATE job SET state = 'cancelled', worker = NULL, leased_until = NULL
WHERE project = :project AND key = :key AND md5(key) = md5(:key)
    AND state IN ('waiting', 'running', 'failed');
