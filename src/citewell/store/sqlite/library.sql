-- The library of websites. Statements are named as in queries.sql.

-- name: init_page_numbers
-- The table that AUTOINCREMENT counts in has a row only once a page was put.
INSERT INTO sqlite_sequence (name, seq)
SELECT 'page', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'page');

-- name: reserve_page_number
UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'page' RETURNING seq;

-- name: is_free_number
SELECT NOT EXISTS (SELECT 1 FROM page WHERE source_id = :source_id)
    AND NOT EXISTS (SELECT 1 FROM website WHERE source_id = :source_id);

-- name: pass_page_number
-- An id that was given is not drawn again.
UPDATE sqlite_sequence SET seq = max(seq, :source_id) WHERE name = 'page';

-- name: add_website
INSERT INTO website (
    source_id, project, url, kind, content_type, status, tags, options, refresh_seconds,
    refresh_due_at, created_at, updated_at
) VALUES (
    :source_id, :project, :url, :kind, :content_type, 'pending', :tags, :options,
    :refresh_seconds, :refresh_due_at, :now, :now
);

-- name: make_site
UPDATE website SET kind = 'site', options = :options, status = 'pending', updated_at = :now
WHERE source_id = :source_id;

-- name: get_website
SELECT
    website.*,
    (
        SELECT fields FROM website_page
        WHERE website_id = website.source_id
            AND (website.kind = 'page' OR website_page.source_id = website.source_id)
        ORDER BY source_id <> website_id
        LIMIT 1
    ) AS fields
FROM website
WHERE source_id = :source_id AND (:project IS NULL OR project = :project);

-- name: find_website
SELECT source_id FROM website WHERE project = :project AND url = :url;

-- name: page_as_website
SELECT source_id, project, url, content_type, title, language, chunks, fetched_at,
    (SELECT json_group_array(tag) FROM page_tag WHERE page_tag.source_id = page.source_id) AS tags
FROM page
WHERE source_id = :source_id AND project = :project;

-- name: find_page_as_website
SELECT source_id FROM page WHERE project = :project AND url = :url;

-- Each order has its statement: from a parameter SQLite cannot see that an index has the order.

-- name: websites_by_fetch_timestamp_ascending
SELECT source_id FROM website
WHERE project = :project
    AND (:content_type IS NULL OR content_type = :content_type)
    AND (:status IS NULL OR status = :status)
ORDER BY fetched_at ASC NULLS LAST, source_id ASC
LIMIT :limit OFFSET :offset;

-- name: websites_by_fetch_timestamp_descending
SELECT source_id FROM website
WHERE project = :project
    AND (:content_type IS NULL OR content_type = :content_type)
    AND (:status IS NULL OR status = :status)
ORDER BY fetched_at DESC, source_id DESC
LIMIT :limit OFFSET :offset;

-- name: websites_by_url_ascending
SELECT source_id FROM website
WHERE project = :project
    AND (:content_type IS NULL OR content_type = :content_type)
    AND (:status IS NULL OR status = :status)
ORDER BY url ASC, source_id ASC
LIMIT :limit OFFSET :offset;

-- name: websites_by_url_descending
SELECT source_id FROM website
WHERE project = :project
    AND (:content_type IS NULL OR content_type = :content_type)
    AND (:status IS NULL OR status = :status)
ORDER BY url DESC, source_id DESC
LIMIT :limit OFFSET :offset;

-- name: websites_by_status_ascending
SELECT source_id FROM website
WHERE project = :project
    AND (:content_type IS NULL OR content_type = :content_type)
    AND (:status IS NULL OR status = :status)
ORDER BY status ASC, source_id ASC
LIMIT :limit OFFSET :offset;

-- name: websites_by_status_descending
SELECT source_id FROM website
WHERE project = :project
    AND (:content_type IS NULL OR content_type = :content_type)
    AND (:status IS NULL OR status = :status)
ORDER BY status DESC, source_id DESC
LIMIT :limit OFFSET :offset;

-- name: websites_of
SELECT
    website.*,
    (
        SELECT fields FROM website_page
        WHERE website_id = website.source_id
            AND (website.kind = 'page' OR website_page.source_id = website.source_id)
        ORDER BY source_id <> website_id
        LIMIT 1
    ) AS fields
FROM json_each(:source_ids) AS asked
CROSS JOIN website ON website.source_id = asked.value
ORDER BY asked.key;

-- name: count_websites
SELECT count(*) FROM website
WHERE project = :project
    AND (:content_type IS NULL OR content_type = :content_type)
    AND (:status IS NULL OR status = :status);

-- name: update_website
UPDATE website SET
    kind = coalesce(:kind, kind),
    content_type = coalesce(:content_type, content_type),
    options = coalesce(:options, options),
    tags = coalesce(:tags, tags),
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
LIMIT :limit;

-- name: count_refresh_anew
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
            SELECT CASE
                WHEN count(*) = 0 THEN NULL
                WHEN min(page.language) = max(page.language) THEN min(page.language)
                ELSE 'mixed'
            END
            FROM website_page
            CROSS JOIN page USING (source_id)
            WHERE website_page.website_id = website.source_id
        ),
        language
    ),
    fetched_at = CASE WHEN kind = 'site' AND :status = 'completed' THEN :now ELSE fetched_at END,
    updated_at = :now
WHERE source_id = :source_id;

-- name: join_page
INSERT INTO website_page (website_id, source_id, chunks, fields)
SELECT :website_id, :source_id, chunks, coalesce(:fields, '{}') FROM page
WHERE source_id = :source_id AND EXISTS (SELECT 1 FROM website WHERE source_id = :website_id)
ON CONFLICT (website_id, source_id) DO UPDATE SET fields = coalesce(:fields, fields);

-- name: leave_page
DELETE FROM website_page WHERE website_id = :website_id AND source_id = :source_id;

-- name: delete_unheld_page
-- A page that is itself the page of an entry is held by it.
DELETE FROM page
WHERE source_id = :source_id
    AND NOT EXISTS (SELECT 1 FROM website_page WHERE website_page.source_id = page.source_id);

-- name: list_members
SELECT page.source_id, page.url, page.title, page.language, page.chunks, page.fetched_at,
    website_page.fields
FROM website_page
CROSS JOIN page USING (source_id)
WHERE website_page.website_id = :website_id AND website_page.source_id > :after_source_id
ORDER BY website_page.source_id
LIMIT :limit;

-- name: find_member_by_text
SELECT page.source_id, page.url, page.title, page.language, page.chunks, page.fetched_at,
    website_page.fields
FROM page
CROSS JOIN website_page USING (source_id)
WHERE page.text_hash = :text_hash AND website_page.website_id = :website_id
ORDER BY page.source_id
LIMIT 1;

-- name: pages_of
SELECT website_page.source_id FROM (SELECT value FROM json_each(:source_ids)) AS asked
CROSS JOIN website ON website.source_id = asked.value AND website.project = :project
CROSS JOIN website_page ON website_page.website_id = website.source_id
UNION
SELECT page.source_id FROM (SELECT value FROM json_each(:source_ids)) AS asked
CROSS JOIN page ON page.source_id = asked.value AND page.project = :project
ORDER BY 1;

-- name: fields_of
SELECT source_id, fields FROM website_page
WHERE source_id IN (SELECT value FROM json_each(:source_ids)) AND fields <> '{}'
ORDER BY source_id, website_id;

-- name: pages_with_fields
-- Lower case is made outside: SQLite's own knows ASCII only.
SELECT DISTINCT website_page.source_id, website_page.fields
FROM website
CROSS JOIN website_page ON website_page.website_id = website.source_id
WHERE website.project = :project AND website_page.fields <> '{}'
ORDER BY website_page.source_id;

-- name: member_ids
SELECT source_id FROM website_page WHERE website_id = :website_id;

-- name: delete_website
DELETE FROM website WHERE source_id = :source_id;

-- name: page_size
SELECT url, chunks FROM page WHERE source_id = :source_id AND project = :project;

-- name: cancel_jobs_of
UPDATE job SET state = 'cancelled', worker = NULL, leased_until = NULL
WHERE project = :project AND key = :key AND state IN ('waiting', 'running');
