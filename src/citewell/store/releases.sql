-- Products and their versions: which are stored, and which a synced folder uses.

-- name: list_releases
SELECT product, version, count(*) AS pages FROM page
WHERE project = :project AND product <> ''
GROUP BY product, version
ORDER BY product, version;

-- name: siblings_of_page
SELECT other.source_id, other.url, other.product, other.version
FROM page AS own
JOIN page AS other
    ON other.project = own.project AND other.product = own.product AND other.place = own.place
    -- postgres: AND md5(other.place) = md5(own.place)
    -- What the index of releases holds.
    AND other.product <> ''
WHERE own.source_id = :source_id AND own.product <> '' AND other.version <> own.version
ORDER BY other.source_id;

-- name: twins_of_chunks
-- CROSS JOIN keeps SQLite to this order; left to itself it indexes all texts for every batch.
SELECT own.chunk_id, max(twin.chunk_id) AS twin_id
FROM chunk AS own
JOIN page AS page
    -- sqlite: ON page.rows_id = own.rows_id
    -- postgres: ON page.source_id = own.source_id
    AND page.product <> ''
-- sqlite: CROSS JOIN page AS other
-- postgres: JOIN page AS other
    ON other.project = page.project AND other.product = page.product AND other.place = page.place
    -- postgres: AND md5(other.place) = md5(page.place)
    AND other.product <> '' AND other.version <> page.version
-- sqlite: CROSS JOIN chunk AS twin
-- postgres: JOIN chunk AS twin
    -- sqlite: ON twin.rows_id = other.rows_id
    -- postgres: ON twin.source_id = other.source_id
    AND twin.embedded_text = own.embedded_text
JOIN embedding_model ON embedding_model.model_id = twin.model_id
-- sqlite: WHERE own.chunk_id IN (SELECT value FROM json_each(:chunk_ids))
-- postgres: WHERE own.chunk_id = ANY (:chunk_ids)
    AND embedding_model.name = :model AND twin.vector IS NOT NULL
GROUP BY own.chunk_id;

-- name: pages_of_release
SELECT source_id FROM page
WHERE project = :project AND product = :product AND version = :version AND product <> ''
ORDER BY source_id;

-- name: used_releases
SELECT folder, product, version FROM used_release
WHERE project = :project
ORDER BY folder, product, version;

-- name: forget_used_releases
DELETE FROM used_release WHERE project = :project AND folder = :folder;

-- name: add_used_release
INSERT INTO used_release (project, folder, product, version)
VALUES (:project, :folder, :product, :version)
ON CONFLICT DO NOTHING;

-- name: keep_earlier_text
-- Before a page is put with another text: what it says is kept. Supplied text is not: the site
-- never said so.
INSERT INTO earlier_fetch (source_id, fetched_at, text)
SELECT page.source_id, page.fetched_at, page_body.text FROM page
-- sqlite: JOIN page_body ON page_body.rows_id = page.rows_id
-- postgres: JOIN page_body ON page_body.source_id = page.source_id
WHERE page.source_id = :source_id AND page.origin <> 'supplied'
ON CONFLICT (source_id, fetched_at) DO UPDATE SET text = excluded.text;

-- name: drop_earlier_texts
-- Of each page the newest, and before it as many as the limits on number and length allow.
DELETE FROM earlier_fetch
WHERE source_id = :source_id AND fetched_at IN (
    SELECT fetched_at FROM (
        SELECT fetched_at,
            row_number() OVER newest AS place,
            sum(length(text)) OVER newest AS characters
        FROM earlier_fetch WHERE source_id = :source_id
        WINDOW newest AS (ORDER BY fetched_at DESC)
    ) AS kept
    WHERE place > 1 AND (place > :most_texts OR characters > :most_characters)
);

-- part: earlier_of_page
-- SQLite keeps the text of a large page shortly before it is replaced.
WHERE source_id = :source_id AND NOT EXISTS (
    SELECT 1 FROM page
    -- sqlite: JOIN page_body ON page_body.rows_id = page.rows_id
    -- postgres: JOIN page_body ON page_body.source_id = page.source_id
    WHERE page.source_id = :source_id AND page.fetched_at = earlier_fetch.fetched_at
        AND page_body.text = earlier_fetch.text
)
ORDER BY fetched_at DESC

-- name: earlier_fetches
SELECT fetched_at FROM earlier_fetch
-- use: earlier_of_page;

-- name: earlier_texts
SELECT fetched_at, text FROM earlier_fetch
-- use: earlier_of_page;
