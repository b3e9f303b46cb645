-- Every statement the SQLite backend runs. Lists of ids are bound as JSON and read by json_each.
-- Searches return one row that holds a JSON list: Python lets go of its lock at every row, and two
-- searches side by side would spend most of their time handing it to and fro.

-- ── connections ──────────────────────────────────────────────────────────────

-- name: list_code
SELECT type, sql FROM sqlite_schema WHERE type IN ('trigger', 'view');

-- name: list_schema
-- Without what SQLite makes along with a table, which has no SQL or a name that is reserved.
SELECT
    entry.type, entry.name, entry.sql, listed.type AS table_type
FROM sqlite_schema AS entry JOIN pragma_table_list AS listed
    ON listed.schema = 'main' AND listed.name = entry.tbl_name
WHERE entry.sql IS NOT NULL AND listed.type <> 'shadow' AND entry.name NOT LIKE 'sqlite\_%' ESCAPE '\'
ORDER BY entry.rowid;

-- name: configure_connection
-- Without WAL's fsync per commit a power cut may lose the last pages, never the database.
PRAGMA foreign_keys = ON;
PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -8192;
PRAGMA temp_store = MEMORY;

-- name: configure_writer
PRAGMA journal_mode = WAL;
PRAGMA journal_size_limit = 67108864;

-- name: configure_reader
-- No memory map: it takes a quarter off a search of 100,000 chunks, but every reader counts the
-- file as its own memory (139 MB instead of 40 MB after searching 15,000 chunks).
PRAGMA query_only = ON;

-- name: begin_write
BEGIN IMMEDIATE;

-- name: begin_read
BEGIN DEFERRED;

-- name: commit
COMMIT;

-- name: finish
PRAGMA optimize;
PRAGMA wal_checkpoint(TRUNCATE);

-- name: identify
SELECT
    (SELECT count(*) FROM sqlite_schema) AS tables,
    (SELECT application_id FROM pragma_application_id) AS application_id;

-- name: applied_version
SELECT coalesce(max(CAST(version AS INTEGER)), 0) FROM migration;

-- name: note_migration
INSERT INTO migration (version, name) VALUES (:version, :name);

-- ── filters ──────────────────────────────────────────────────────────────────

-- name: is_only_project
-- One seek each; asked for both at once SQLite would scan.
SELECT
    (SELECT min(project) FROM page) IS :project
    AND (SELECT max(project) FROM page) IS :project AS is_only;

-- part: page_filter
WHERE (:project IS NULL OR project = :project)
    AND (:content_type IS NULL OR content_type = :content_type)
    AND (:updated_after IS NULL OR fetched_at > :updated_after)
    AND (
        :url_prefix IS NULL
        OR substr(url, 1, length(:url_prefix)) = :url_prefix
        OR substr(final_url, 1, length(:url_prefix)) = :url_prefix
    )
    AND (
        :tags IS NULL
        OR NOT EXISTS (
            SELECT 1 FROM json_each(:tags) AS wanted
            WHERE NOT EXISTS (
                SELECT 1 FROM page_tag
                WHERE page_tag.source_id = page.source_id AND page_tag.tag = wanted.value
            )
        )
    )
    AND (
        :releases IS NULL
        OR page.product || '@' || page.version IN (SELECT value FROM json_each(:releases))
    )
    AND (
        :superseding IS NULL
        OR page.product = ''
        OR NOT EXISTS (
            SELECT 1 FROM page AS newer
            WHERE newer.project = page.project AND newer.product = page.product
                AND newer.place = page.place AND newer.version <> page.version
                AND newer.product || '@' || newer.version IN (SELECT value FROM json_each(:superseding))
        )
    )

-- name: pages_passing
SELECT json_group_array(source_id) AS source_ids, coalesce(sum(chunks), 0) AS chunks FROM page
-- use: page_filter;

-- name: pages_passing_under
-- The same for pages of one project under a prefix: two seeks, so that no other page is read.
SELECT json_group_array(page.source_id) AS source_ids, coalesce(sum(page.chunks), 0) AS chunks
FROM (
    SELECT source_id FROM page
    WHERE project = :project AND url >= :url_prefix AND url < :url_prefix || char(1114111)
    UNION
    SELECT source_id FROM page
    WHERE project = :project
        AND final_url >= :url_prefix AND final_url < :url_prefix || char(1114111)
) AS asked
CROSS JOIN page ON page.source_id = asked.source_id
-- use: page_filter;

-- name: pages_passing_among
-- The same for a list of pages: CROSS JOIN keeps the list outermost, so no other page is read.
SELECT json_group_array(page.source_id) AS source_ids, coalesce(sum(page.chunks), 0) AS chunks
FROM (SELECT DISTINCT value FROM json_each(:source_ids)) AS asked
CROSS JOIN page ON page.source_id = asked.value
-- use: page_filter;

-- ── pages ────────────────────────────────────────────────────────────────────

-- name: put_page
-- The page of a website takes the id that was promised for it; a copied one that which it had,
-- where it is free; else the next one. Supplied text that would replace or shadow a page of another
-- origin is not written, and no row is returned.
INSERT INTO page (
    source_id, project, url, final_url, title, kind, language, content_type, text_hash, chunks, tokens,
    fetched_at, etag, last_modified, published_at, modified_at, canonical_url, origin, supplied_by,
    incomplete, extractor, product, version, place, text_bytes
) SELECT
    coalesce(
        (SELECT source_id FROM website WHERE project = :project AND url = :url),
        CASE
            WHEN NOT EXISTS (SELECT 1 FROM page WHERE source_id = :source_id)
                AND NOT EXISTS (SELECT 1 FROM website WHERE source_id = :source_id)
            THEN :source_id
        END
    ),
    :project, :url, :final_url, :title, :kind, :language, :content_type, :text_hash, :chunks,
    :tokens, :fetched_at, :etag, :last_modified, :published_at, :modified_at, :canonical_url,
    :origin, :supplied_by, :incomplete, :extractor, :product, :version, :place, :text_bytes
WHERE :origin <> 'supplied' OR NOT EXISTS (
    SELECT 1 FROM page
    WHERE project = :project AND final_url = :url AND url <> :url AND origin <> 'supplied'
)
ON CONFLICT (project, url) DO UPDATE SET
    -- use: changed_columns
WHERE excluded.origin <> 'supplied' OR page.origin = 'supplied'
RETURNING source_id;

-- name: page_before
SELECT source_id, text_hash, title, fetched_at, extractor, chunks, rows_id FROM page
WHERE project = :project AND url = :url;

-- name: put_page_body
INSERT OR REPLACE INTO page_body (rows_id, description, structured_data, text, screen)
VALUES (:rows_id, :description, :structured_data, :text, :screen);

-- name: remove_page_body
DELETE FROM page_body WHERE rows_id = :rows_id;

-- name: remove_tags
DELETE FROM page_tag WHERE source_id = :source_id;

-- name: put_tag
INSERT OR IGNORE INTO page_tag (source_id, tag) VALUES (?, ?);

-- Every part of a page has these statements. `change_…` leaves indexed columns alone: SQLite
-- writes an index again when a statement names its column, even where the value is the same.

-- name: sections_before
SELECT ordinal, parent, level, heading, anchor, start_offset, end_offset FROM section
WHERE rows_id = :rows_id;

-- name: put_sections
INSERT INTO section (
    rows_id, ordinal, parent, level, heading, anchor, start_offset, end_offset
) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (rows_id, ordinal) DO UPDATE SET
    parent = excluded.parent, level = excluded.level, heading = excluded.heading,
    anchor = excluded.anchor, start_offset = excluded.start_offset, end_offset = excluded.end_offset;

-- name: change_sections
UPDATE section SET level = ?, heading = ?, anchor = ?, start_offset = ?, end_offset = ?
WHERE rows_id = ? AND ordinal = ?;

-- name: drop_sections
DELETE FROM section WHERE rows_id = ? AND ordinal = ?;

-- name: remove_sections
DELETE FROM section WHERE rows_id = :rows_id AND ordinal IN (
    SELECT ordinal FROM section WHERE rows_id = :rows_id LIMIT :limit
);

-- name: links_before
SELECT ordinal, url, text, context, section, start_offset, kind FROM link
WHERE rows_id = :rows_id;

-- name: put_links
INSERT INTO link (rows_id, ordinal, url, text, context, section, start_offset, kind)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (rows_id, ordinal) DO UPDATE SET
    url = excluded.url, text = excluded.text, context = excluded.context,
    section = excluded.section, start_offset = excluded.start_offset, kind = excluded.kind;

-- name: change_links
UPDATE link SET text = ?, context = ?, start_offset = ?, kind = ?
WHERE rows_id = ? AND ordinal = ?;

-- name: drop_links
DELETE FROM link WHERE rows_id = ? AND ordinal = ?;

-- name: remove_links
DELETE FROM link WHERE rows_id = :rows_id AND ordinal IN (
    SELECT ordinal FROM link WHERE rows_id = :rows_id LIMIT :limit
);

-- name: images_before
SELECT ordinal, url, alt, caption, section, start_offset FROM image WHERE rows_id = :rows_id;

-- name: put_images
INSERT INTO image (rows_id, ordinal, url, alt, caption, section, start_offset)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (rows_id, ordinal) DO UPDATE SET
    url = excluded.url, alt = excluded.alt, caption = excluded.caption,
    section = excluded.section, start_offset = excluded.start_offset;

-- name: change_images
UPDATE image SET url = ?, alt = ?, caption = ?, section = ?, start_offset = ?
WHERE rows_id = ? AND ordinal = ?;

-- name: drop_images
DELETE FROM image WHERE rows_id = ? AND ordinal = ?;

-- name: remove_images
DELETE FROM image WHERE rows_id = :rows_id AND ordinal IN (
    SELECT ordinal FROM image WHERE rows_id = :rows_id LIMIT :limit
);

-- name: symbols_before
SELECT section, last_name, full_name, start_offset FROM symbol WHERE rows_id = :rows_id;

-- name: put_symbols
INSERT INTO symbol (rows_id, section, last_name, full_name, start_offset) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (rows_id, section, full_name) DO UPDATE SET
    last_name = excluded.last_name, start_offset = excluded.start_offset;

-- name: change_symbols
UPDATE symbol SET start_offset = ? WHERE rows_id = ? AND section = ? AND full_name = ?;

-- name: drop_symbols
DELETE FROM symbol WHERE rows_id = ? AND section = ? AND full_name = ?;

-- name: remove_symbols
DELETE FROM symbol WHERE rows_id = :rows_id AND (section, full_name) IN (
    SELECT section, full_name FROM symbol WHERE rows_id = :rows_id LIMIT :limit
);

-- part: all_images
(
    SELECT json_group_array(json_object(
        'url', url, 'alt', alt, 'caption', caption, 'section', section, 'start_offset', start_offset
    )) FROM (
        SELECT url, alt, caption, section, start_offset FROM image
        WHERE image.rows_id = page.rows_id ORDER BY ordinal
    )
) AS all_images

-- name: whole_page
SELECT
    -- use: page_row,
    page_body.text AS whole_text, page_body.screen, page_body.description,
    page_body.structured_data,
    (
        SELECT json_group_array(json_object(
            'ordinal', ordinal, 'parent', parent, 'level', level, 'heading', heading, 'anchor', anchor, 'start_offset', start_offset, 'end_offset', end_offset
        )) FROM (
            SELECT ordinal, parent, level, heading, anchor, start_offset, end_offset FROM section
            WHERE section.rows_id = page.rows_id ORDER BY ordinal
        )
    ) AS all_sections,
    (
        SELECT json_group_array(json_object(
            'url', url, 'text', text, 'context', context, 'section', section, 'start_offset', start_offset, 'kind', kind
        )) FROM (
            SELECT url, text, context, section, start_offset, kind FROM link
            WHERE link.rows_id = page.rows_id ORDER BY ordinal
        )
    ) AS all_links,
    -- use: all_images
FROM page JOIN page_body USING (rows_id)
WHERE source_id = :source_id;

-- name: page_texts
SELECT
    -- use: page_row,
    page_body.text AS whole_text, page_body.screen,
    -- use: all_images
FROM page JOIN page_body USING (rows_id)
WHERE source_id IN (SELECT value FROM json_each(:source_ids));

-- name: count_everything
SELECT
    pages, chunks, tokens, text_bytes,
    (
        SELECT coalesce(sum(chunks), 0) FROM embedding_model WHERE :model IS NULL OR name = :model
    ) AS embedded
FROM corpus;

-- name: count_pages
SELECT
    count(*) AS pages, coalesce(sum(chunks), 0) AS chunks, coalesce(sum(tokens), 0) AS tokens,
    coalesce(sum(text_bytes), 0) AS text_bytes
FROM page
WHERE source_id IN (SELECT value FROM json_each(:source_ids));

-- name: count_embedded_of_pages
SELECT count(*) AS embedded FROM (SELECT value FROM json_each(:source_ids)) AS asked
CROSS JOIN page ON page.source_id = asked.value
CROSS JOIN chunk INDEXED BY chunk_by_page ON chunk.rows_id = page.rows_id
WHERE model_id <> 0 AND (
    :model IS NULL OR model_id = (SELECT model_id FROM embedding_model WHERE name = :model)
);

-- ── chunks ───────────────────────────────────────────────────────────────────

-- name: chunks_before
SELECT
    chunk_id, ordinal, section, start_offset, end_offset, tokens, has_code, anchor, words,
    heading_path, text, embedded_text
FROM chunk
WHERE rows_id = :rows_id
ORDER BY ordinal;

-- name: sum_of_chunk_ids
-- No id is used twice, so a page that has other chunks than before has another sum or count.
SELECT count(*), coalesce(sum(chunk_id), 0) FROM chunk WHERE rows_id = :rows_id;

-- name: next_chunk_id
-- AUTOINCREMENT keeps the highest id there ever was, also of chunks that are gone.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'chunk'), 0) + 1;

-- name: add_chunk
INSERT INTO chunk (
    chunk_id, rows_id, ordinal, section, start_offset, end_offset, tokens, has_code, anchor, words,
    heading_path, text, embedded_text, model_id, vector_revision, vector
)
-- With the vector of the chunk that has the same text in what is replaced.
SELECT
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
    coalesce(same.model_id, 0), coalesce(same.vector_revision, 0), same.vector
FROM (SELECT ? AS chunk_id) AS asked
LEFT JOIN chunk AS same ON same.chunk_id = asked.chunk_id;

-- name: move_chunk
-- A chunk whose embedded text is unchanged; its vector stays.
UPDATE chunk SET
    ordinal = ?, section = ?, start_offset = ?, end_offset = ?, tokens = ?, has_code = ?, anchor = ?
WHERE chunk_id = ?;

-- name: reword_chunk
UPDATE chunk SET words = ?, heading_path = ?, text = ? WHERE chunk_id = ?;

-- name: remove_chunks
DELETE FROM chunk WHERE chunk_id IN (SELECT value FROM json_each(:chunk_ids));

-- name: add_words
INSERT INTO chunk_words (rowid, heading, body) VALUES (?, ?, ?);

-- name: remove_words
DELETE FROM chunk_words WHERE rowid = ?;

-- name: count_chunks
UPDATE corpus SET chunks = chunks + :chunks, words = words + :words;

-- ── rows of no page ──────────────────────────────────────────────────────────

-- name: has_unlisted
SELECT EXISTS (SELECT 1 FROM unlisted) AS is_any;

-- name: begin_unlisted
INSERT INTO unlisted (rows_id, touched_at) VALUES (:rows_id, :now);

-- name: touch_unlisted
UPDATE unlisted SET touched_at = :now WHERE rows_id = :rows_id;

-- name: end_unlisted
DELETE FROM unlisted WHERE rows_id = :rows_id;

-- name: left_unlisted
SELECT rows_id FROM unlisted WHERE touched_at < :left_before OR touched_at > :ahead_of
ORDER BY rows_id LIMIT 1;

-- name: reserve_rows
UPDATE corpus SET last_rows_id = last_rows_id - 1 RETURNING last_rows_id;

-- name: rows_of_page
SELECT rows_id FROM page WHERE source_id = :source_id;

-- name: replace_rows
UPDATE page SET
    rows_id = :rows_id, listed_revision = (SELECT coalesce(max(revision), 0) FROM embedding_model)
WHERE source_id = :source_id;

-- name: next_revisions
-- One that no model has had.
UPDATE embedding_model SET revision = 1 + (SELECT max(revision) FROM embedding_model);

-- part: vectors_of_rows
SELECT count(*) FROM chunk INDEXED BY chunk_by_page
WHERE chunk.model_id = embedding_model.model_id AND

-- name: count_listed_vectors
UPDATE embedding_model SET chunks = chunks + (
    -- use: vectors_of_rows
    rows_id = :listed_id
) - (
    -- use: vectors_of_rows
    rows_id = :unlisted_id
);

-- name: page_rows
SELECT chunks, (
    (SELECT count(*) FROM section WHERE section.rows_id = page.rows_id)
    + (SELECT count(*) FROM link WHERE link.rows_id = page.rows_id)
    + (SELECT count(*) FROM image WHERE image.rows_id = page.rows_id)
    + (SELECT count(*) FROM symbol WHERE symbol.rows_id = page.rows_id)
) AS other_rows
FROM page
WHERE source_id = :source_id;

-- name: chunks_and_words
SELECT count(*) AS chunks, coalesce(sum(words), 0) AS words FROM chunk
WHERE rows_id = :rows_id;

-- name: remove_unlisted_chunks
DELETE FROM chunk WHERE chunk_id IN (
    SELECT chunk_id FROM chunk WHERE rows_id = :rows_id LIMIT :limit
);

-- name: load_chunks
SELECT
    -- use: chunk_row,
    chunk_words.body AS words
FROM (SELECT value FROM json_each(:chunk_ids)) AS asked
CROSS JOIN chunk ON chunk.chunk_id = asked.value
CROSS JOIN page ON page.rows_id = chunk.rows_id
CROSS JOIN chunk_words ON chunk_words.rowid = chunk.chunk_id;

-- name: chunks_of_page
SELECT
    -- use: chunk_row,
    NULL AS words
FROM page
CROSS JOIN chunk ON chunk.rows_id = page.rows_id
WHERE page.source_id = :source_id
    AND chunk.ordinal >= :first_ordinal
    AND (:last_ordinal IS NULL OR chunk.ordinal <= :last_ordinal)
ORDER BY chunk.ordinal;

-- name: chunks_to_embed
-- By model, so that the index on it finds the few that wait among many that do not.
SELECT chunk_id, embedded_text FROM chunk
WHERE chunk_id IN (
    SELECT chunk_id FROM (
        SELECT chunk_id FROM chunk INDEXED BY chunk_by_model
        WHERE model_id = 0 AND rows_id NOT IN (SELECT rows_id FROM unlisted)
        LIMIT :limit
    )
    UNION ALL
    SELECT chunk_id FROM (
        SELECT chunk_id FROM embedding_model
        CROSS JOIN chunk INDEXED BY chunk_by_model USING (model_id)
        WHERE name <> :model AND rows_id NOT IN (SELECT rows_id FROM unlisted)
        LIMIT :limit
    )
    LIMIT :limit
)
ORDER BY chunk_id;

-- name: chunks_to_embed_of_pages
SELECT chunk_id, embedded_text FROM chunk
WHERE chunk_id IN (
    SELECT chunk_id FROM (SELECT DISTINCT value FROM json_each(:source_ids)) AS asked
    CROSS JOIN page ON page.source_id = asked.value
    CROSS JOIN chunk INDEXED BY chunk_by_page ON chunk.rows_id = page.rows_id
    WHERE model_id NOT IN (SELECT model_id FROM embedding_model WHERE name = :model)
    ORDER BY chunk_id
    LIMIT :limit
)
ORDER BY chunk_id;

-- ── words ────────────────────────────────────────────────────────────────────

-- name: corpus_totals
SELECT chunks, words FROM corpus;

-- name: word_frequencies
-- Reads each word's whole list of chunks, so callers remember the answer.
SELECT json_group_object(vocabulary.term, vocabulary.doc)
FROM (SELECT value FROM json_each(:words)) AS asked
CROSS JOIN vocabulary ON vocabulary.term = asked.value;

-- name: match_words
-- FTS5's bm25() is lower for better matches. Sorting by it is faster than by FTS5's own rank.
SELECT json_group_array(chunk_id) FROM (
    SELECT rowid AS chunk_id FROM chunk_words
    WHERE chunk_words MATCH :query
    ORDER BY bm25(chunk_words, :heading_weight, :body_weight), rowid
    LIMIT :limit
);

-- name: match_words_of_listed
-- The same while there are rows of no page; dropping those takes a seek a match.
SELECT json_group_array(chunk_id) FROM (
    SELECT chunk_words.rowid AS chunk_id FROM chunk_words
    CROSS JOIN chunk INDEXED BY chunk_to_page ON chunk.chunk_id = chunk_words.rowid
    WHERE chunk_words MATCH :query
        AND +chunk.rows_id NOT IN (SELECT rows_id FROM unlisted)
    ORDER BY bm25(chunk_words, :heading_weight, :body_weight), chunk_words.rowid
    LIMIT :limit
);

-- name: match_words_of_pages
-- CROSS JOIN keeps the word index outermost; a chunk of another page is dropped before it is
-- scored. The plus keeps SQLite from seeking every page of the list for every chunk.
SELECT json_group_array(chunk_id) FROM (
    SELECT chunk_words.rowid AS chunk_id FROM chunk_words
    CROSS JOIN chunk INDEXED BY chunk_to_page ON chunk.chunk_id = chunk_words.rowid
    WHERE chunk_words MATCH :query
        AND +chunk.rows_id IN (
            SELECT rows_id FROM page
            WHERE page.source_id IN (SELECT value FROM json_each(:source_ids))
        )
    ORDER BY bm25(chunk_words, :heading_weight, :body_weight), chunk_words.rowid
    LIMIT :limit
);

-- name: words_of_chunks
SELECT json_group_array(json_array(chunk_words.rowid, heading, body))
FROM (SELECT value FROM json_each(:chunk_ids)) AS asked
CROSS JOIN chunk_words ON chunk_words.rowid = asked.value;

-- name: words_of_pages
SELECT json_group_array(json_array(chunk_words.rowid, heading, body))
FROM (SELECT value FROM json_each(:source_ids)) AS asked
CROSS JOIN page ON page.source_id = asked.value
CROSS JOIN chunk INDEXED BY chunk_by_page ON chunk.rows_id = page.rows_id
CROSS JOIN chunk_words ON chunk_words.rowid = chunk.chunk_id;

-- ── vectors ──────────────────────────────────────────────────────────────────

-- name: find_model
SELECT model_id, dimensions, revision FROM embedding_model WHERE name = :name;

-- name: next_revision
-- A model that has only passed chunks over so far has no dimensions yet.
INSERT INTO embedding_model (name, dimensions, revision) VALUES (:name, :dimensions, 1)
ON CONFLICT (name) DO UPDATE SET
    revision = revision + 1,
    dimensions = CASE dimensions WHEN 0 THEN excluded.dimensions ELSE dimensions END
RETURNING model_id, dimensions, revision;

-- name: put_vector
UPDATE chunk SET model_id = ?, vector_revision = ?, vector = ?
WHERE chunk_id = ? AND rows_id NOT IN (SELECT rows_id FROM unlisted);

-- name: pass_over
UPDATE chunk SET model_id = :model_id, vector_revision = :revision, vector = NULL
WHERE chunk_id IN (SELECT value FROM json_each(:chunk_ids))
    AND rows_id NOT IN (SELECT rows_id FROM unlisted);

-- name: vectors_since
SELECT chunk_id, page.source_id, vector FROM chunk
CROSS JOIN page ON page.rows_id = chunk.rows_id
WHERE model_id = :model_id AND vector_revision > :revision AND vector IS NOT NULL
UNION ALL
-- Of pages whose rows were replaced since, with vectors that are older.
SELECT chunk_id, page.source_id, vector FROM page INDEXED BY page_by_listing
CROSS JOIN chunk INDEXED BY chunk_by_page ON chunk.rows_id = page.rows_id
WHERE page.listed_revision > 0 AND page.listed_revision > :revision
    AND model_id = :model_id AND vector_revision <= :revision AND vector IS NOT NULL;

-- name: vectors_after
-- Read in the order of the table: an index would jump about in it for nearly every row. One row of
-- many vectors, since Python hands its lock over at every row.
SELECT
    json_group_array(chunk_id) AS chunk_ids,
    json_group_array(source_id) AS source_ids,
    CAST(coalesce(group_concat(vector, ''), '') AS BLOB) AS vectors
FROM (
    SELECT chunk_id, page.source_id, vector FROM chunk NOT INDEXED
    CROSS JOIN page ON page.rows_id = chunk.rows_id
    WHERE chunk_id > :after AND model_id = :model_id AND vector IS NOT NULL
    ORDER BY chunk_id
    LIMIT :limit
);

-- name: chunk_id_range
SELECT coalesce((SELECT min(chunk_id) FROM chunk), 0) AS lowest,
    coalesce((SELECT max(chunk_id) FROM chunk), 0) AS highest;

-- name: embedded_chunk_ids_of_pages
SELECT json_group_array(chunk_id) FROM (SELECT value FROM json_each(:source_ids)) AS asked
CROSS JOIN page ON page.source_id = asked.value
CROSS JOIN chunk INDEXED BY chunk_by_page ON chunk.rows_id = page.rows_id
WHERE model_id = :model_id;

-- name: all_source_ids
SELECT json_group_array(source_id) FROM page;

-- name: vectors_of_chunks
-- group_concat() joins the bytes of blobs as they are; one row spares Python a step for each.
SELECT
    json_group_array(chunk_id) AS chunk_ids,
    CAST(coalesce(group_concat(vector, ''), '') AS BLOB) AS vectors
FROM (SELECT value FROM json_each(:chunk_ids)) AS asked
CROSS JOIN chunk ON chunk.chunk_id = asked.value
WHERE +model_id = :model_id AND vector IS NOT NULL
    AND rows_id NOT IN (SELECT rows_id FROM unlisted);

-- ── graph: writing ───────────────────────────────────────────────────────────

-- name: put_entity
-- The strongest kind that any page gives an entity is its kind, with the name of that page.
INSERT INTO entity (project, key, name, kind) VALUES (:project, :key, :name, :kind)
ON CONFLICT (project, key) DO UPDATE SET name = excluded.name, kind = excluded.kind
WHERE instr('symbol term topic phrase', excluded.kind)
    < instr('symbol term topic phrase', entity.kind);

-- name: entity_ids
SELECT json_group_object(key, entity_id)
FROM (SELECT value FROM json_each(:keys)) AS asked
CROSS JOIN entity ON entity.project = :project AND entity.key = asked.value;

-- name: put_mention
INSERT INTO mention (source_id, section, entity_id, times, defines) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (source_id, section, entity_id) DO UPDATE SET
    times = excluded.times, defines = excluded.defines;

-- name: mentions_before
SELECT section, entity_id FROM mention WHERE source_id = :source_id;

-- name: remove_mention
DELETE FROM mention WHERE source_id = ? AND section = ? AND entity_id = ?;

-- ── graph: nodes ─────────────────────────────────────────────────────────────
-- :visible is a list of pages, or NULL where all pages of the start nodes' project may be seen:
-- no edge leaves a project.

-- name: page_nodes
SELECT
    page.source_id AS number, 0 AS section, title AS name, '' AS title, url, NULL AS anchor,
    NULL AS entity_kind, 0 AS entities, page.origin,
    (SELECT count(*) FROM section WHERE section.rows_id = page.rows_id) AS sections
FROM (SELECT value FROM json_each(:numbers)) AS asked
CROSS JOIN page ON page.source_id = asked.value
WHERE (:project IS NULL OR page.project = :project)
    AND (:visible IS NULL OR page.source_id IN (SELECT value FROM json_each(:visible)));

-- name: section_nodes
-- What goes on after a symbol's entry has no heading of its own; it has that of its parent.
SELECT
    -- use: section_node
FROM (
    SELECT json_extract(value, '$[0]') AS source_id, json_extract(value, '$[1]') AS ordinal
    FROM json_each(:sections)
) AS asked
CROSS JOIN page ON page.source_id = asked.source_id
CROSS JOIN section ON section.rows_id = page.rows_id AND section.ordinal = asked.ordinal
LEFT JOIN section AS above
    ON above.rows_id = section.rows_id AND above.ordinal = section.parent
WHERE (:project IS NULL OR page.project = :project)
    AND (:visible IS NULL OR page.source_id IN (SELECT value FROM json_each(:visible)));

-- name: entity_nodes
SELECT
    entity_id AS number, 0 AS section, name, '' AS title, NULL AS url, NULL AS anchor,
    kind AS entity_kind, 0 AS entities, 'fetched' AS origin,
    CASE
        WHEN :visible IS NULL THEN sections
        ELSE (
            SELECT count(*) FROM mention
            WHERE mention.entity_id = entity.entity_id
                AND mention.source_id IN (SELECT value FROM json_each(:visible))
        )
    END AS sections
FROM (SELECT value FROM json_each(:numbers)) AS asked
CROSS JOIN entity ON entity.entity_id = asked.value
WHERE (:project IS NULL OR entity.project = :project)
    AND (
        :visible IS NULL
        OR EXISTS (
            SELECT 1 FROM mention
            WHERE mention.entity_id = entity.entity_id
                AND mention.source_id IN (SELECT value FROM json_each(:visible))
        )
    );

-- name: entities_named
SELECT asked.key AS place, entity.entity_id
FROM json_each(:keys) AS asked
CROSS JOIN entity ON entity.key = asked.value
    AND (:project IS NULL OR entity.project = :project)
ORDER BY asked.key, entity.entity_id;

-- name: symbols_ending_with
-- Scans the project's entities: a few milliseconds for tens of thousands.
SELECT entity_id FROM entity
WHERE (:project IS NULL OR project = :project) AND kind = 'symbol' AND name LIKE :pattern ESCAPE '\'
ORDER BY sections DESC, entity_id
LIMIT :limit;

-- part: seen_page
WHERE (:project IS NULL OR project = :project)
    AND (:visible IS NULL OR source_id IN (SELECT value FROM json_each(:visible)))

-- name: graph_counts
SELECT
    (
        SELECT count(*) FROM page
        -- use: seen_page
    ) AS pages,
    (
        SELECT count(*) FROM page CROSS JOIN section USING (rows_id)
        -- use: seen_page
    ) AS sections,
    (
        SELECT count(*) FROM page
        CROSS JOIN link INDEXED BY link_by_section USING (rows_id)
        -- use: seen_page
    ) AS links,
    (
        SELECT count(*) FROM page CROSS JOIN mention USING (source_id)
        -- use: seen_page
    ) AS mentions,
    CASE
        WHEN :visible IS NULL THEN (
            SELECT count(*) FROM entity WHERE :project IS NULL OR project = :project
        )
        ELSE (
            SELECT count(DISTINCT entity_id) FROM mention
            WHERE source_id IN (SELECT value FROM json_each(:visible))
        )
    END AS entities;

-- name: chunks_of_sections
SELECT
    -- use: chunk_row,
    NULL AS words
FROM (
    SELECT
        key AS place, json_extract(value, '$[0]') AS source_id,
        json_extract(value, '$[1]') AS section
    FROM json_each(:sections)
) AS asked
CROSS JOIN page ON page.source_id = asked.source_id
CROSS JOIN chunk ON chunk.chunk_id IN (
    SELECT chunk_id FROM chunk AS own INDEXED BY chunk_by_section
    WHERE own.rows_id = page.rows_id AND own.section = asked.section
    ORDER BY own.ordinal
    LIMIT :limit
)
ORDER BY asked.place, chunk.ordinal;

-- ── graph: edges ─────────────────────────────────────────────────────────────
-- Each returns one row with a list of [number and section of the source, number and section of the
-- target, weight, defines, degree].

-- part: pages_asked
FROM json_each(:sections) AS asked
CROSS JOIN page ON page.source_id = json_extract(asked.value, '$[0]')
CROSS JOIN section ON section.rows_id = page.rows_id

-- name: children_of_pages
SELECT json_group_array(json_array(source_id, 0, source_id, ordinal, 1, 0, 1)) FROM (
    SELECT page.source_id, section.ordinal
    FROM (SELECT value FROM json_each(:pages)) AS asked
    CROSS JOIN page ON page.source_id = asked.value
    CROSS JOIN section ON section.rows_id = page.rows_id AND section.parent IS NULL
    ORDER BY page.source_id, section.ordinal
    LIMIT :limit
);

-- name: children_of_sections
SELECT json_group_array(json_array(source_id, parent, source_id, ordinal, 1, 0, 1)) FROM (
    SELECT page.source_id, section.parent, section.ordinal
    -- use: pages_asked
        AND section.parent = json_extract(asked.value, '$[1]')
    ORDER BY page.source_id, section.ordinal
    LIMIT :limit
);

-- name: parent_sections
SELECT json_group_array(json_array(source_id, ordinal, source_id, parent, 1, 0, 1)) FROM (
    SELECT page.source_id, section.ordinal, section.parent
    -- use: pages_asked
        AND section.ordinal = json_extract(asked.value, '$[1]')
    WHERE section.parent IS NOT NULL
    LIMIT :limit
);

-- name: parent_pages
SELECT json_group_array(json_array(source_id, ordinal, source_id, 0, 1, 0, 1)) FROM (
    SELECT page.source_id, section.ordinal
    -- use: pages_asked
        AND section.ordinal = json_extract(asked.value, '$[1]')
    WHERE section.parent IS NULL
    LIMIT :limit
);

-- name: pages_of_sections
SELECT json_group_array(json_array(source_id, ordinal, source_id, 0, 1, 0, 1)) FROM (
    SELECT page.source_id, section.ordinal
    -- use: pages_asked
        AND section.ordinal = json_extract(asked.value, '$[1]')
    LIMIT :limit
);

-- name: sections_beside
SELECT json_group_array(json_array(source_id, ordinal, source_id, beside, 1, 0, 1)) FROM (
    SELECT
        page.source_id, json_extract(asked.value, '$[1]') AS ordinal,
        section.ordinal AS beside
    -- use: pages_asked
        AND section.ordinal = json_extract(asked.value, '$[1]') + :step
    LIMIT :limit
);

-- part: linked_pages
CROSS JOIN page AS origin ON origin.source_id = named.source_id
CROSS JOIN page AS target ON target.source_id = coalesce(
    (SELECT source_id FROM page WHERE project = origin.project AND url = named.url),
    (SELECT min(source_id) FROM page WHERE project = origin.project AND final_url = named.url)
)
WHERE target.source_id <> named.source_id
    AND (:visible IS NULL OR target.source_id IN (SELECT value FROM json_each(:visible)))

-- part: known_links
-- A hub is known as one after a hundred links; counting further would add nothing.
(
    SELECT count(*) FROM (
        SELECT 1 FROM link
        WHERE link.url = linked.url AND link.rows_id NOT IN (SELECT rows_id FROM unlisted)
        LIMIT 100
    )
)

-- name: links_of_sections
SELECT json_group_array(
    json_array(
        source_id, section, target, 0, links, 0,
        -- use: known_links
    )
) FROM (
    SELECT
        named.source_id, named.section, target.source_id AS target, target.url,
        sum(named.links) AS links
    FROM (
        SELECT page.source_id, link.section, link.url, count(*) AS links
        FROM json_each(:sections) AS asked
        CROSS JOIN page ON page.source_id = json_extract(asked.value, '$[0]')
        CROSS JOIN link INDEXED BY link_by_section
            ON link.rows_id = page.rows_id
            AND link.section = json_extract(asked.value, '$[1]')
        WHERE link.kind = 'content'
        GROUP BY page.source_id, link.section, link.url
    ) AS named
    -- use: linked_pages
    GROUP BY named.source_id, named.section, target.source_id
    ORDER BY links DESC, target.source_id
    LIMIT :limit
) AS linked;

-- name: links_of_pages
SELECT json_group_array(
    json_array(
        source_id, 0, target, 0, links, 0,
        -- use: known_links
    )
) FROM (
    SELECT
        named.source_id, target.source_id AS target, target.url,
        sum(named.links) AS links
    FROM (
        SELECT page.source_id, link.url, count(*) AS links
        FROM json_each(:pages) AS asked
        CROSS JOIN page ON page.source_id = asked.value
        CROSS JOIN link INDEXED BY link_by_section ON link.rows_id = page.rows_id
        WHERE link.kind = 'content'
        GROUP BY page.source_id, link.url
    ) AS named
    -- use: linked_pages
    GROUP BY named.source_id, target.source_id
    ORDER BY links DESC, target.source_id
    LIMIT :limit
) AS linked;

-- name: links_to_pages
SELECT json_group_array(
    json_array(
        target, 0, source_id, section, links, 0,
        (
            SELECT count(*) FROM link
            WHERE link.rows_id = linking.rows_id AND link.section = linking.section
        )
    )
) FROM (
    SELECT
        target.source_id AS target, origin.source_id, origin.rows_id, link.section,
        count(*) AS links
    FROM json_each(:pages) AS asked
    CROSS JOIN page AS target ON target.source_id = asked.value
    CROSS JOIN link INDEXED BY link_by_url ON link.url IN (target.url, target.final_url)
    CROSS JOIN page AS origin
        ON origin.rows_id = link.rows_id AND origin.project = target.project
    WHERE origin.source_id <> target.source_id AND link.kind = 'content'
        AND (:visible IS NULL OR origin.source_id IN (SELECT value FROM json_each(:visible)))
    GROUP BY target.source_id, origin.source_id, link.section
    ORDER BY links DESC, origin.source_id, link.section
    LIMIT :limit
) AS linking;

-- name: mentions_of_sections
SELECT json_group_array(json_array(source_id, section, entity_id, 0, times, defines, sections))
FROM (
    SELECT
        mention.source_id, mention.section, entity_id, mention.times, mention.defines,
        entity.sections
    FROM json_each(:sections) AS asked
    CROSS JOIN mention ON mention.source_id = json_extract(asked.value, '$[0]')
        AND mention.section = json_extract(asked.value, '$[1]')
    CROSS JOIN entity USING (entity_id)
    ORDER BY mention.defines DESC, 1.0 * mention.times / entity.sections DESC, entity_id
    LIMIT :limit
);

-- name: mentions_of_pages
SELECT json_group_array(json_array(source_id, 0, entity_id, 0, times, defines, sections))
FROM (
    SELECT
        mention.source_id, entity_id, sum(mention.times) AS times,
        max(mention.defines) AS defines, entity.sections
    FROM json_each(:pages) AS asked
    CROSS JOIN mention ON mention.source_id = asked.value
    CROSS JOIN entity USING (entity_id)
    GROUP BY mention.source_id, entity_id
    ORDER BY defines DESC, 1.0 * sum(mention.times) / entity.sections DESC, entity_id
    LIMIT :limit
);

-- name: mentions_of_entities
SELECT json_group_array(
    json_array(
        entity_id, 0, source_id, section, times, defines,
        (
            SELECT count(*) FROM mention
            WHERE mention.source_id = naming.source_id AND mention.section = naming.section
        )
    )
) FROM (
    SELECT mention.entity_id, mention.source_id, mention.section, mention.times, mention.defines
    FROM json_each(:entities) AS asked
    CROSS JOIN mention INDEXED BY mention_by_entity ON mention.entity_id = asked.value
    WHERE :visible IS NULL OR mention.source_id IN (SELECT value FROM json_each(:visible))
    ORDER BY mention.defines DESC, mention.times DESC, mention.source_id, mention.section
    LIMIT :limit
) AS naming;

-- name: sections_sharing_entities
-- An entity that very many sections name relates none of them.
SELECT json_group_array(
    json_array(
        source_id, section, other_id, other_section, weight, 0,
        (
            SELECT count(*) FROM mention
            WHERE mention.source_id = sharing.other_id AND mention.section = sharing.other_section
        )
    )
) FROM (
    SELECT
        own.source_id, own.section, other.source_id AS other_id, other.section AS other_section,
        sum(1.0 / entity.sections) AS weight
    FROM json_each(:sections) AS asked
    CROSS JOIN mention AS own ON own.source_id = json_extract(asked.value, '$[0]')
        AND own.section = json_extract(asked.value, '$[1]')
    CROSS JOIN entity ON entity.entity_id = own.entity_id
        AND entity.sections BETWEEN 2 AND :most_sections
    CROSS JOIN mention AS other INDEXED BY mention_by_entity
        ON other.entity_id = own.entity_id
        AND (other.source_id <> own.source_id OR other.section <> own.section)
    WHERE :visible IS NULL OR other.source_id IN (SELECT value FROM json_each(:visible))
    GROUP BY own.source_id, own.section, other.source_id, other.section
    ORDER BY weight DESC, other.source_id, other.section
    LIMIT :limit
) AS sharing;
