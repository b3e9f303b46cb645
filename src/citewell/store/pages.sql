-- Pages and their chunks. PostgreSQL finds a URL by its hash, which is what it indexes.

-- part: page_row
-- A page as `rows.py` reads it.
page.*,
-- sqlite: (SELECT json_group_array(tag) FROM page_tag WHERE page_tag.source_id = page.source_id) AS tags,
(
    SELECT count(*) FROM chunk
    -- sqlite: WHERE chunk.rows_id = page.rows_id
    -- postgres: WHERE chunk.source_id = page.source_id
        AND chunk.model_id <> 0
        AND (
            CAST(:model AS text) IS NULL
            OR chunk.model_id = (SELECT model_id FROM embedding_model WHERE name = :model)
        )
) AS embedded_chunks

-- part: page_order
CASE WHEN :order_by = 'title' AND NOT :descending THEN lower(title) END,
CASE WHEN :order_by = 'title' AND :descending THEN lower(title) END DESC,
CASE WHEN :order_by = 'url' AND NOT :descending THEN url END,
CASE WHEN :order_by = 'url' AND :descending THEN url END DESC,
CASE WHEN :order_by = 'fetched' AND NOT :descending THEN fetched_at END,
CASE WHEN :order_by = 'fetched' AND :descending THEN fetched_at END DESC,
CASE WHEN :order_by = 'size' AND NOT :descending THEN tokens END,
CASE WHEN :order_by = 'size' AND :descending THEN tokens END DESC,
source_id

-- part: chunk_row
-- A chunk and its page as `rows.py` reads them; the words of the chunk come last.
chunk.chunk_id, page.source_id, chunk.ordinal, chunk.section, chunk.heading_path,
chunk.anchor, chunk.start_offset, chunk.end_offset, chunk.text, chunk.tokens, chunk.has_code,
page.url, page.title, page.text_hash, page.fetched_at, page.language, page.kind,
page.content_type,
-- sqlite: (SELECT json_group_array(tag) FROM page_tag WHERE page_tag.source_id = page.source_id) AS tags,
-- postgres: page.tags,
page.origin, page.product, page.version

-- part: changed_columns
final_url = excluded.final_url,
title = excluded.title,
kind = excluded.kind,
language = excluded.language,
content_type = excluded.content_type,
-- postgres: tags = excluded.tags,
text_hash = excluded.text_hash,
chunks = excluded.chunks,
tokens = excluded.tokens,
fetched_at = excluded.fetched_at,
etag = excluded.etag,
last_modified = excluded.last_modified,
published_at = excluded.published_at,
modified_at = excluded.modified_at,
canonical_url = excluded.canonical_url,
origin = excluded.origin,
supplied_by = excluded.supplied_by,
incomplete = excluded.incomplete,
extractor = excluded.extractor,
product = excluded.product,
version = excluded.version,
place = excluded.place,
text_bytes = excluded.text_bytes

-- part: section_node
page.source_id AS number, section.ordinal AS section,
coalesce(nullif(section.heading, ''), above.heading, '') AS name,
page.title, page.url, section.anchor, NULL AS entity_kind, page.origin,
(
    SELECT count(*) FROM section AS below
    -- sqlite: WHERE below.rows_id = section.rows_id
    -- postgres: WHERE below.source_id = section.source_id
        AND below.parent = section.ordinal
) AS sections,
(
    SELECT count(*) FROM mention
    WHERE mention.source_id = page.source_id AND mention.section = section.ordinal
) AS entities

-- name: touch_page
UPDATE page SET
    fetched_at = :fetched_at,
    etag = coalesce(:etag, etag),
    last_modified = coalesce(:last_modified, last_modified)
WHERE source_id = :source_id;

-- name: delete_page
-- Foreign keys take the rest along.
DELETE FROM page WHERE source_id = :source_id;

-- name: find_page
-- Supplied text comes last. The URL as put comes before a page that was only redirected to it. Two
-- seeks; with OR, SQLite may go through the whole project.
SELECT
    -- use: page_row
FROM page
WHERE source_id = (
    SELECT source_id FROM (
        SELECT source_id, origin, 0 AS redirected FROM page
        WHERE project = :project AND url = :url AND md5(url) = md5(:url)
        UNION ALL
        SELECT source_id, origin, 1 AS redirected FROM page
        WHERE project = :project AND final_url = :url AND md5(final_url) = md5(:url)
    ) AS candidates
    ORDER BY CASE origin WHEN 'supplied' THEN 1 ELSE 0 END, redirected, source_id
    LIMIT 1
);

-- name: text_hashes
SELECT source_id, text_hash FROM page
WHERE TRUE
    -- sqlite: AND source_id IN (SELECT value FROM json_each(:source_ids))
    -- postgres: AND source_id = ANY (:source_ids)
;

-- name: page_titles
SELECT url, title FROM page
WHERE project = :project
    -- sqlite: AND url IN (SELECT value FROM json_each(:urls))
    -- postgres: AND url = ANY (:urls) AND md5(url) IN (SELECT md5(asked) FROM unnest(:urls::text[]) AS asked)
;

-- name: list_pages
SELECT
    -- use: page_row
FROM page
WHERE source_id > :after_source_id
    -- sqlite: AND (:source_ids IS NULL OR source_id IN (SELECT value FROM json_each(:source_ids)))
    -- postgres: AND (:source_ids::bigint[] IS NULL OR source_id = ANY (:source_ids))
ORDER BY source_id
LIMIT :limit;

-- name: browse_pages
-- The pages are chosen first: SQLite would count the vectors of every page before it sorts them.
SELECT
    -- use: page_row
FROM page
WHERE source_id IN (
    SELECT source_id FROM page
    WHERE (CAST(:matching AS text) IS NULL OR lower(url || ' ' || title) LIKE '%' || :matching || '%')
    -- sqlite: AND (:source_ids IS NULL OR source_id IN (SELECT value FROM json_each(:source_ids)))
    -- postgres: AND (:source_ids::bigint[] IS NULL OR source_id = ANY (:source_ids))
    ORDER BY
    -- use: page_order
    LIMIT :limit OFFSET :offset
)
ORDER BY
    -- use: page_order
;

-- name: count_browsed_pages
SELECT count(*) AS total FROM page
WHERE (CAST(:matching AS text) IS NULL OR lower(url || ' ' || title) LIKE '%' || :matching || '%')
    -- sqlite: AND (:source_ids IS NULL OR source_id IN (SELECT value FROM json_each(:source_ids)))
    -- postgres: AND (:source_ids::bigint[] IS NULL OR source_id = ANY (:source_ids));

-- name: loose_folders
-- Pages of no entry, by all of their URL up to its last slash.
SELECT
    CASE WHEN url LIKE '%/%' THEN rtrim(url, replace(url, '/', '')) ELSE url END AS folder,
    count(*) AS pages,
    CAST(sum(text_bytes) AS bigint) AS text_bytes,
    max(fetched_at) AS fetched_at,
    min(source_id) AS first_id,
    min(title) AS first_title
FROM page
WHERE NOT EXISTS (SELECT 1 FROM website_page WHERE website_page.source_id = page.source_id)
    -- sqlite: AND (:source_ids IS NULL OR source_id IN (SELECT value FROM json_each(:source_ids)))
    -- postgres: AND (:source_ids::bigint[] IS NULL OR source_id = ANY (:source_ids))
GROUP BY 1
ORDER BY 1;

-- name: list_outdated_pages
SELECT
    -- use: page_row
FROM page
WHERE extractor < :extractor AND source_id > :after_source_id AND origin <> 'supplied'
    AND (
        CAST(:with_response AS integer) = 0
        OR EXISTS (SELECT 1 FROM page_response WHERE page_response.source_id = page.source_id)
    )
ORDER BY source_id
LIMIT :limit;

-- name: embedded_texts
SELECT chunk_id, embedded_text FROM chunk
-- sqlite: WHERE chunk_id IN (SELECT value FROM json_each(:chunk_ids));
-- postgres: WHERE chunk_id = ANY (:chunk_ids);
