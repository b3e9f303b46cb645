-- The symbols that pages define.

-- name: symbols_named
SELECT
    page.source_id, page.product, symbol.full_name, symbol.start_offset,
    (
        SELECT min(chunk.chunk_id) FROM chunk
        -- sqlite: WHERE chunk.rows_id = symbol.rows_id
        -- postgres: WHERE chunk.source_id = symbol.source_id
            AND chunk.start_offset <= symbol.start_offset AND chunk.end_offset > symbol.start_offset
    ) AS chunk_id
FROM symbol
-- sqlite: JOIN page ON page.rows_id = symbol.rows_id
-- postgres: JOIN page ON page.source_id = symbol.source_id
-- sqlite: WHERE symbol.last_name IN (SELECT value FROM json_each(:last_names))
-- postgres: WHERE symbol.last_name = ANY (:last_names)
    AND (CAST(:project AS text) IS NULL OR page.project = :project)
    -- sqlite: AND (:source_ids IS NULL OR page.source_id IN (SELECT value FROM json_each(:source_ids)))
    -- postgres: AND (:source_ids::bigint[] IS NULL OR page.source_id = ANY (:source_ids))
ORDER BY page.source_id, symbol.section
LIMIT :limit;

-- name: count_symbols
-- One that has several names is counted once.
SELECT count(*) AS symbols FROM (
    SELECT DISTINCT page.source_id, symbol.start_offset FROM symbol
    -- sqlite: JOIN page ON page.rows_id = symbol.rows_id
    -- postgres: JOIN page ON page.source_id = symbol.source_id
    -- sqlite: WHERE page.source_id IN (SELECT value FROM json_each(:source_ids))
    -- postgres: WHERE page.source_id = ANY (:source_ids)
) AS defined;

-- name: remove_symbols
DELETE FROM symbol WHERE source_id = :source_id;

-- name: add_symbol
INSERT INTO symbol (source_id, section, last_name, full_name, start_offset)
VALUES (:source_id, :section, :last_name, :full_name, :start_offset)
ON CONFLICT DO NOTHING;
