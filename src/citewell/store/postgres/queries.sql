-- Every statement about pages and chunks that the PostgreSQL backend runs. Words in braces are
-- names and numbers of a model's own index, spelt out by psycopg.

-- ── sessions ─────────────────────────────────────────────────────────────────

-- name: set_up_session
-- An index of words takes in what is new as far as it fits in work_mem: with 16 MB in a third less
-- time than with the usual 4. Compiling a statement takes longer than any statement here runs.
-- Vectors are searched so widely that a filter still leaves enough of them.
SELECT
    set_config('search_path', :search_path, FALSE),
    set_config('statement_timeout', '30s', FALSE),
    set_config('work_mem', '16MB', FALSE),
    set_config('jit', 'off', FALSE),
    set_config('hnsw.ef_search', '200', FALSE),
    set_config('hnsw.iterative_scan', 'strict_order', FALSE),
    set_config('hnsw.max_scan_tuples', '40000', FALSE);

-- name: no_time_limit
SET statement_timeout = 0;

-- name: lock_until_commit
SELECT pg_advisory_xact_lock(hashtext(current_schema() || ' citewell ' || :purpose), hashtext(:key));

-- name: notify
SELECT pg_notify(current_schema() || '_' || :channel, :payload);

-- name: listen
LISTEN {channel};

-- ── filters ──────────────────────────────────────────────────────────────────

-- name: is_only_project
-- One seek each.
SELECT
    (SELECT min(project) FROM page) IS NOT DISTINCT FROM :project
    AND (SELECT max(project) FROM page) IS NOT DISTINCT FROM :project AS is_only;

-- part: page_filter
WHERE (:project::text IS NULL OR project = :project)
    AND (:content_type::text IS NULL OR content_type = :content_type)
    AND (:updated_after::timestamptz IS NULL OR fetched_at > :updated_after)
    AND (
        :url_prefix::text IS NULL
        OR starts_with(url, :url_prefix)
        OR starts_with(final_url, :url_prefix)
    )
    AND (:tags::text[] IS NULL OR tags @> :tags)
    AND (:releases::text[] IS NULL OR product || '@' || version = ANY (:releases))
    AND (
        :superseding::text[] IS NULL
        OR product = ''
        OR NOT EXISTS (
            SELECT 1 FROM page AS newer
            WHERE newer.project = page.project AND newer.product = page.product
                AND md5(newer.place) = md5(page.place) AND newer.version <> page.version
                AND newer.product || '@' || newer.version = ANY (:superseding)
        )
    )

-- name: pages_passing
SELECT
    coalesce(array_agg(source_id), '{}') AS source_ids, coalesce(sum(chunks), 0)::bigint AS chunks
FROM page
-- use: page_filter;

-- name: pages_passing_under
-- SQLite seeks the pages under a prefix; here no index has URLs in their order.
SELECT
    coalesce(array_agg(source_id), '{}') AS source_ids, coalesce(sum(chunks), 0)::bigint AS chunks
FROM page
-- use: page_filter;

-- name: pages_passing_among
SELECT
    coalesce(array_agg(source_id), '{}') AS source_ids, coalesce(sum(chunks), 0)::bigint AS chunks
FROM page
-- use: page_filter
    AND source_id = ANY (:source_ids);

-- name: count_pages
-- Every search asks.
SELECT count(*) AS pages
FROM page
-- use: page_filter
    AND (:source_ids::bigint[] IS NULL OR source_id = ANY (:source_ids));

-- ── pages ────────────────────────────────────────────────────────────────────

-- name: page_before
-- Locked, so that two who write the same page do so one after the other.
SELECT source_id, text_hash, title FROM page
WHERE project = :project AND md5(url) = md5(:url) AND url = :url
FOR UPDATE;

-- name: put_page
-- The page of a website takes the id that was promised for it; a copied one that which it had,
-- where it is free; else the next one. A page put under the URL of a website belongs to it, whoever
-- put it. Supplied text that would replace or shadow a page of another origin is not written, and no
-- row is returned.
WITH put AS (
    INSERT INTO page (
        source_id, project, url, final_url, title, kind, language, content_type, tags, text_hash,
        chunks, tokens, fetched_at, etag, last_modified, published_at, modified_at, canonical_url,
        origin, supplied_by, incomplete, extractor, product, version, place, text_bytes
    ) SELECT
        coalesce(
            (SELECT source_id FROM website WHERE project = :project AND md5(url) = md5(:url)),
            CASE
                WHEN NOT EXISTS (SELECT 1 FROM page WHERE source_id = :source_id::bigint)
                    AND NOT EXISTS (SELECT 1 FROM website WHERE source_id = :source_id::bigint)
                THEN :source_id::bigint
            END,
            nextval(pg_get_serial_sequence('page', 'source_id'))
        ),
        :project, :url, :final_url, :title, :kind, :language, :content_type,
        :tags, :text_hash, :chunks, :tokens, :fetched_at, :etag, :last_modified,
        :published_at, :modified_at, :canonical_url, :origin, :supplied_by, :incomplete, :extractor,
        :product, :version, :place, :text_bytes
    WHERE :origin <> 'supplied' OR NOT EXISTS (
        SELECT 1 FROM page
        WHERE project = :project AND md5(final_url) = md5(:url) AND final_url = :url
            AND url <> :url AND origin <> 'supplied'
    )
    ON CONFLICT (project, md5(url)) DO UPDATE SET
        -- use: changed_columns
    WHERE excluded.origin <> 'supplied' OR page.origin = 'supplied'
    -- A row that was there has been locked by this transaction before it was changed.
    RETURNING source_id, xmax = 0 AS created
),
joined AS (
    INSERT INTO website_page (website_id, source_id)
    SELECT website.source_id, put.source_id FROM put
    JOIN website ON website.project = :project AND md5(website.url) = md5(:url)
    ON CONFLICT (website_id, source_id) DO NOTHING
)
SELECT source_id, created FROM put;

-- name: pass_page_number
-- An id that was given is not drawn again.
SELECT setval(sequence, greatest(nextval(sequence), :source_id::bigint))
FROM pg_get_serial_sequence('page', 'source_id') AS sequence;

-- name: remove_parts
WITH
    body AS (DELETE FROM page_body WHERE source_id = :source_id),
    sections AS (DELETE FROM section WHERE source_id = :source_id),
    links AS (DELETE FROM link WHERE source_id = :source_id),
    response AS (DELETE FROM page_response WHERE source_id = :source_id)
DELETE FROM image WHERE source_id = :source_id;

-- name: add_parts
-- Rows come as JSON, as those of chunks do: one value a table, whatever its columns.
WITH
    sections AS (
        INSERT INTO section (
            source_id, ordinal, parent, level, heading, anchor, start_offset, end_offset
        )
        SELECT :source_id, given.* FROM json_to_recordset(:sections::json) AS given (
            ordinal integer, parent integer, level integer, heading text, anchor text,
            start_offset integer, end_offset integer
        )
    ),
    links AS (
        INSERT INTO link (source_id, ordinal, url, text, context, section, start_offset, kind)
        SELECT :source_id, given.* FROM json_to_recordset(:links::json) AS given (
            ordinal integer, url text, text text, context text, section integer,
            start_offset integer, kind text
        )
    ),
    images AS (
        INSERT INTO image (source_id, ordinal, url, alt, caption, section, start_offset)
        SELECT :source_id, given.* FROM json_to_recordset(:images::json) AS given (
            ordinal integer, url text, alt text, caption text, section integer,
            start_offset integer
        )
    )
INSERT INTO page_body (source_id, description, structured_data, text, screen)
VALUES (:source_id, :description, :structured_data, :text, :screen);

-- name: lock_page
SELECT 1 FROM page WHERE source_id = :source_id FOR UPDATE;

-- part: all_images
(
    SELECT json_agg(each ORDER BY ordinal) FROM (
        SELECT ordinal, url, alt, caption, section, start_offset
        FROM image WHERE image.source_id = page.source_id
    ) AS each
) AS all_images

-- name: whole_page
-- One statement, and so one view and one journey.
SELECT
    -- use: page_row,
    page_body.text AS whole_text, page_body.screen, page_body.description,
    page_body.structured_data,
    (
        SELECT json_agg(each ORDER BY ordinal) FROM (
            SELECT ordinal, parent, level, heading, anchor, start_offset, end_offset
            FROM section WHERE section.source_id = page.source_id
        ) AS each
    ) AS all_sections,
    (
        SELECT json_agg(each ORDER BY ordinal) FROM (
            SELECT ordinal, url, text, context, section, start_offset, kind
            FROM link WHERE link.source_id = page.source_id
        ) AS each
    ) AS all_links,
    -- use: all_images
FROM page JOIN page_body USING (source_id)
WHERE source_id = :source_id;

-- name: page_texts
SELECT
    -- use: page_row,
    page_body.text AS whole_text, page_body.screen,
    -- use: all_images
FROM page JOIN page_body USING (source_id)
WHERE source_id = ANY (:source_ids);

-- name: corpus_stats
-- What waits for a vector is counted, by the index on the model: it is little where much is stored.
WITH passing AS (
    SELECT source_id, chunks, tokens, text_bytes FROM page
    -- use: page_filter
        AND (:source_ids::bigint[] IS NULL OR source_id = ANY (:source_ids))
)
SELECT
    count(*) AS pages,
    coalesce(sum(chunks), 0)::bigint AS chunks,
    coalesce(sum(tokens), 0)::bigint AS tokens,
    coalesce(sum(text_bytes), 0)::bigint AS text_bytes,
    coalesce(sum(chunks), 0)::bigint - (
        SELECT count(*) FROM (
            SELECT 0 AS model_id
            UNION ALL
            SELECT model_id FROM embedding_model WHERE name <> :model
        ) AS other
        JOIN chunk USING (model_id)
        JOIN passing USING (source_id)
    ) AS embedded_chunks
FROM passing;

-- ── chunks ───────────────────────────────────────────────────────────────────

-- name: chunks_before
SELECT chunk_id, heading_path, text, embedded_text FROM chunk
WHERE source_id = :source_id
ORDER BY ordinal;

-- name: add_chunks
WITH
    given AS (
        SELECT nextval(pg_get_serial_sequence('chunk', 'chunk_id')) AS chunk_id, each.*
        FROM json_to_recordset(:chunks::json) AS each (
            ordinal integer, section integer, start_offset integer, end_offset integer,
            tokens integer, has_code boolean, anchor text, heading_path text[], text text,
            embedded_text text, total integer, heading text, body text
        )
    ),
    chunks AS (
        INSERT INTO chunk (
            chunk_id, source_id, ordinal, section, start_offset, end_offset, tokens, has_code,
            anchor, heading_path, text, embedded_text
        )
        SELECT
            chunk_id, :source_id, ordinal, section, start_offset, end_offset, tokens, has_code,
            anchor, heading_path, text, embedded_text
        FROM given
    )
INSERT INTO chunk_words (chunk_id, source_id, total, heading, body)
SELECT chunk_id, :source_id, total, heading, body FROM given;

-- name: move_chunk
-- A chunk whose embedded text is unchanged; its vector stays.
UPDATE chunk SET
    ordinal = :ordinal, section = :section, start_offset = :start_offset,
    end_offset = :end_offset, tokens = :tokens, has_code = :has_code, anchor = :anchor
WHERE chunk_id = :chunk_id;

-- name: reword_chunk
UPDATE chunk SET heading_path = :heading_path, text = :text WHERE chunk_id = :chunk_id;

-- name: replace_words
UPDATE chunk_words SET
    total = :total, heading = :heading, body = :body
WHERE chunk_id = :chunk_id;

-- name: remove_chunks
DELETE FROM chunk WHERE chunk_id = ANY (:chunk_ids);

-- name: load_chunks
SELECT
    -- use: chunk_row,
    chunk_words.body AS words
FROM unnest(:chunk_ids::bigint[]) WITH ORDINALITY AS asked (chunk_id, place)
JOIN chunk ON chunk.chunk_id = asked.chunk_id
JOIN page ON page.source_id = chunk.source_id
JOIN chunk_words ON chunk_words.chunk_id = chunk.chunk_id
ORDER BY asked.place;

-- name: chunks_of_page
SELECT
    -- use: chunk_row,
    NULL AS words
FROM page
JOIN chunk ON chunk.source_id = page.source_id
WHERE page.source_id = :source_id
    AND chunk.ordinal >= :first_ordinal
    AND (:last_ordinal::integer IS NULL OR chunk.ordinal <= :last_ordinal)
ORDER BY chunk.ordinal;

-- name: chunks_to_embed
-- By model, so that the index on it finds the few that wait among many that do not.
SELECT chunk.chunk_id, chunk.embedded_text FROM (
    SELECT waiting.chunk_id FROM (
        SELECT 0 AS model_id
        UNION ALL
        SELECT model_id FROM embedding_model WHERE name <> :model
    ) AS other
    CROSS JOIN LATERAL (
        SELECT chunk_id FROM chunk WHERE chunk.model_id = other.model_id
        ORDER BY chunk_id LIMIT :limit
    ) AS waiting
    ORDER BY waiting.chunk_id LIMIT :limit
) AS asked
JOIN chunk USING (chunk_id)
ORDER BY chunk.chunk_id;

-- name: chunks_to_embed_of_pages
SELECT chunk_id, embedded_text FROM chunk
WHERE source_id = ANY (:source_ids)
    AND model_id IS DISTINCT FROM (SELECT model_id FROM embedding_model WHERE name = :model)
ORDER BY chunk_id
LIMIT :limit;

-- ── words ────────────────────────────────────────────────────────────────────

-- name: common_words
-- What ANALYZE has counted: reading the index for a word that is everywhere would take long.
SELECT
    most_common_elems::text::text[] AS words, most_common_elem_freqs::float8[] AS shares
FROM pg_stats_ext_exprs
WHERE statistics_schemaname = current_schema() AND statistics_name = 'common_words';

-- name: count_common_words
ANALYZE chunk_words;

-- name: count_words
-- Reads each word's whole list of chunks, so callers remember the answer; and all chunks for the
-- totals, which are 0 unless asked for.
SELECT totals.chunks, totals.words, ARRAY(
    SELECT (
        SELECT count(*) FROM chunk_words
        WHERE hash_words(heading, body) @> ARRAY[hashtext(asked.word)]
    )
    FROM json_array_elements_text(:words::json) WITH ORDINALITY AS asked (word, place)
    ORDER BY asked.place
) AS frequencies
FROM (
    SELECT count(*) AS chunks, coalesce(sum(total), 0)::bigint AS words FROM chunk_words
    WHERE :totals
) AS totals;

-- name: match_words
-- Each word is looked up for itself: how much of a query a chunk holds is then the sum of the
-- weights of its words, without reading the words of any chunk that is not among the best.
-- Nothing is found when there is a project beside `only_project`: two seeks decide.
-- The words come as JSON, whose length the planner does not look at: it then plans once, not
-- for each search, which took as long as the search. OFFSET 0 keeps it from turning the loop round.
SELECT chunk_words.chunk_id, chunk_words.heading, chunk_words.body FROM (
    SELECT found.chunk_id
    FROM json_to_recordset(:words::json) AS asked (word text, weight float8)
    CROSS JOIN LATERAL (
        SELECT chunk_id FROM chunk_words
        WHERE hash_words(heading, body) @> ARRAY[hashtext(asked.word)]
        OFFSET 0
    ) AS found
    WHERE :only_project::text IS NULL
        OR (SELECT min(project) FROM page) = :only_project
        AND (SELECT max(project) FROM page) = :only_project
    GROUP BY found.chunk_id
    ORDER BY sum(asked.weight) DESC, found.chunk_id
    LIMIT :limit
) AS best
JOIN chunk_words USING (chunk_id);

-- name: match_words_of_pages
-- The same for a list of pages. Planned at each call: a list that the planner sees becomes a hash table;
-- otherwise every chunk is compared with all of it.
SELECT chunk_words.chunk_id, chunk_words.heading, chunk_words.body FROM (
    SELECT found.chunk_id
    FROM json_to_recordset(:words::json) AS asked (word text, weight float8)
    CROSS JOIN LATERAL (
        SELECT chunk_id FROM chunk_words
        WHERE hash_words(heading, body) @> ARRAY[hashtext(asked.word)]
            AND source_id = ANY (:source_ids)
        OFFSET 0
    ) AS found
    GROUP BY found.chunk_id
    ORDER BY sum(asked.weight) DESC, found.chunk_id
    LIMIT :limit
) AS best
JOIN chunk_words USING (chunk_id);

-- name: words_of_pages
SELECT chunk_id, heading, body FROM chunk_words WHERE source_id = ANY (:source_ids);

-- ── vectors ──────────────────────────────────────────────────────────────────

-- name: find_model
SELECT model_id, dimensions, vectors, indexed FROM embedding_model WHERE name = :name;

-- name: use_model
-- A model that has only passed chunks over so far has no dimensions yet.
INSERT INTO embedding_model (name, dimensions) VALUES (:name, :dimensions)
ON CONFLICT (name) DO UPDATE SET
    dimensions = CASE embedding_model.dimensions
        WHEN 0 THEN excluded.dimensions ELSE embedding_model.dimensions
    END
RETURNING model_id, dimensions, vectors, indexed;

-- name: put_vectors
-- The numbers of all vectors come one after the other.
UPDATE chunk SET
    model_id = :model_id,
    vector = (:numbers::real[])[
        (given.place - 1) * :dimensions + 1 : given.place * :dimensions
    ]::halfvec
FROM unnest(:chunk_ids::bigint[]) WITH ORDINALITY AS given (chunk_id, place)
WHERE chunk.chunk_id = given.chunk_id;

-- name: count_vectors
UPDATE embedding_model SET vectors = vectors + :count WHERE model_id = :model_id;

-- name: pass_over
UPDATE chunk SET model_id = :model_id, vector = NULL WHERE chunk_id = ANY (:chunk_ids);

-- name: vectors_of_chunks
SELECT chunk_id, vector::vector::real[] AS vector FROM chunk
WHERE chunk_id = ANY (:chunk_ids) AND vector IS NOT NULL
    AND model_id = (SELECT model_id FROM embedding_model WHERE name = :model);

-- name: compare_vectors
-- As the nearest are compared, so that the cosines of both can be ranked together.
SELECT chunk_id, -(vector <#> (SELECT :vector::real[]::halfvec)) AS cosine FROM chunk
WHERE chunk_id = ANY (:chunk_ids) AND model_id = :model_id AND vector IS NOT NULL;

-- name: nearest_by_index
-- Nothing is found when there is a project beside `only_project`, here and below.
SELECT
    chunk_id,
    -(vector::halfvec({dimensions}) <#> :vector::real[]::halfvec({dimensions})) AS score
FROM chunk
WHERE model_id = {model_id}
    AND vector IS NOT NULL
    AND (:source_ids::bigint[] IS NULL OR source_id = ANY (:source_ids))
    AND (
        :only_project::text IS NULL
        OR (SELECT min(project) FROM page) = :only_project
        AND (SELECT max(project) FROM page) = :only_project
    )
ORDER BY vector::halfvec({dimensions}) <#> :vector::real[]::halfvec({dimensions})
LIMIT :limit;

-- name: nearest_exactly
-- The vector asked for is made once, by a query of its own, and not for every row.
SELECT chunk_id, -distance AS score FROM (
    SELECT chunk_id, vector <#> (SELECT :vector::real[]::halfvec) AS distance FROM chunk
    WHERE model_id = :model_id AND vector IS NOT NULL
) AS compared
WHERE :only_project::text IS NULL
    OR (SELECT min(project) FROM page) = :only_project
    AND (SELECT max(project) FROM page) = :only_project
ORDER BY distance, chunk_id
LIMIT :limit;

-- name: nearest_of_pages
SELECT chunk_id, -distance AS score FROM (
    SELECT chunk_id, vector <#> (SELECT :vector::real[]::halfvec) AS distance FROM chunk
    WHERE model_id = :model_id AND vector IS NOT NULL AND source_id = ANY (:source_ids)
) AS compared
ORDER BY distance, chunk_id
LIMIT :limit;

-- name: lock_index
SELECT pg_try_advisory_lock(hashtext(current_schema() || ' citewell vectors'), :model_id) AS locked;

-- name: unlock_index
SELECT pg_advisory_unlock(hashtext(current_schema() || ' citewell vectors'), :model_id);

-- name: drop_index
DROP INDEX CONCURRENTLY IF EXISTS {index};

-- name: give_index_memory
-- Where the server has less. Alone, since what workers share is limited elsewhere: a container
-- gives them 64 MB.
SELECT
    set_config('maintenance_work_mem', (:bytes / 1024)::text || 'kB', FALSE),
    set_config('max_parallel_maintenance_workers', '0', FALSE)
WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < :bytes;

-- name: take_index_memory_back
RESET maintenance_work_mem; RESET max_parallel_maintenance_workers;

-- name: build_index
CREATE INDEX CONCURRENTLY {index} ON chunk
USING hnsw ((vector::halfvec({dimensions})) halfvec_ip_ops) WITH (m = 16, ef_construction = 100)
WHERE model_id = {model_id} AND vector IS NOT NULL;

-- name: count_models
-- Counted when no chunk had a vector yet, the planner would take this model for one of a few chunks
-- and sort them all rather than use its index.
ANALYZE chunk (model_id);

-- name: note_index
UPDATE embedding_model SET indexed = TRUE WHERE model_id = :model_id;
