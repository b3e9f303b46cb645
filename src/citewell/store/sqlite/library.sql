-- The library of websites, where SQLite needs another statement. Triggers keep what an entry tells of
-- its pages.

-- name: reserve_page_number
UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'page' RETURNING seq AS source_id;

-- name: pass_page_number
-- An id that was given is not drawn again.
UPDATE sqlite_sequence SET seq = max(seq, :source_id) WHERE name = 'page';

-- name: get_websites
SELECT
    website.*,
    (
        SELECT fields FROM website_page
        WHERE website_id = website.source_id
            AND (website.kind = 'page' OR website_page.source_id = website.source_id)
        ORDER BY source_id <> website_id
        LIMIT 1
    ) AS fields,
    (
        SELECT coalesce(sum(text_bytes), 0) FROM website_page
        JOIN page ON page.source_id = website_page.source_id
        WHERE website_page.website_id = website.source_id
    ) AS text_bytes,
    (SELECT origin FROM page WHERE page.source_id = website.source_id) AS origin,
    (SELECT supplied_by FROM page WHERE page.source_id = website.source_id) AS supplied_by
FROM website
WHERE source_id IN (SELECT value FROM json_each(:source_ids));

-- name: list_websites
SELECT source_id FROM website
WHERE project = :project
    AND (:kind IS NULL OR kind = :kind)
    AND NOT (:is_grouped AND kind = 'page' AND EXISTS (
        SELECT 1 FROM website_page JOIN website AS site ON site.source_id = website_page.website_id
        WHERE website_page.source_id = website.source_id AND site.kind = 'site'
    ))
    AND (:content_type IS NULL OR content_type = :content_type)
    AND (:status IS NULL OR status = :status)
    AND (:matching IS NULL OR lower(url || ' ' || title) LIKE '%' || :matching || '%')
ORDER BY
    :order_by = 'fetch_timestamp' AND fetched_at IS NULL,
    CASE WHEN :descending THEN
        CASE :order_by WHEN 'fetch_timestamp' THEN fetched_at WHEN 'url' THEN url ELSE status END
    END DESC,
    CASE :order_by WHEN 'fetch_timestamp' THEN fetched_at WHEN 'url' THEN url ELSE status END,
    CASE WHEN :descending THEN -source_id ELSE source_id END
LIMIT :limit OFFSET :offset;

-- name: join_page
INSERT INTO website_page (website_id, source_id, chunks, fields)
SELECT :website_id, :source_id, chunks, coalesce(:fields, '{}') FROM page
WHERE source_id = :source_id AND EXISTS (SELECT 1 FROM website WHERE source_id = :website_id)
ON CONFLICT (website_id, source_id) DO UPDATE SET fields = coalesce(:fields, fields);

-- name: pages_of
SELECT website_page.source_id FROM (SELECT value FROM json_each(:source_ids)) AS asked
CROSS JOIN website ON website.source_id = asked.value AND website.project = :project
CROSS JOIN website_page ON website_page.website_id = website.source_id
UNION
SELECT page.source_id FROM (SELECT value FROM json_each(:source_ids)) AS asked
CROSS JOIN page ON page.source_id = asked.value AND page.project = :project
ORDER BY 1;
