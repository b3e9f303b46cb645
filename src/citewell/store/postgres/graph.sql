-- ── graph: writing ───────────────────────────────────────────────────────────

-- name: put_entities
-- The strongest kind that any page gives an entity is its kind, with the name of that page. In
-- the order of the keys, so that no two writers wait for each other.
INSERT INTO entity (project, key, name, kind)
SELECT :project, given.key, given.name, given.kind
FROM unnest(:keys::text[], :names::text[], :kinds::text[]) AS given (key, name, kind)
ORDER BY given.key
ON CONFLICT (project, md5(key)) DO UPDATE SET name = excluded.name, kind = excluded.kind
WHERE strpos('symbol term topic phrase', excluded.kind)
    < strpos('symbol term topic phrase', entity.kind);

-- name: entity_ids
SELECT key, entity_id FROM entity
WHERE project = :project AND md5(key) IN (SELECT md5(k) FROM unnest(:keys::text[]) AS k)
ORDER BY entity_id
FOR UPDATE;

-- name: forget_mentions_of_page
-- Entities are locked in order before they are recounted.
WITH
    named AS (
        SELECT entity_id, count(*) AS times FROM mention
        WHERE source_id = :source_id GROUP BY entity_id
    ),
    locked AS (
        SELECT entity_id FROM entity
        WHERE entity_id IN (SELECT entity_id FROM named)
        ORDER BY entity_id FOR UPDATE
    ),
    gone AS (DELETE FROM mention WHERE source_id = :source_id)
UPDATE entity SET sections = sections - named.times
FROM named JOIN locked USING (entity_id)
WHERE entity.entity_id = named.entity_id;

-- name: put_mentions
INSERT INTO mention (source_id, section, entity_id, times, defines)
SELECT :source_id, given.section, given.entity_id, max(given.times), max(given.defines)
FROM unnest(
    :sections::integer[], :entity_ids::bigint[], :times::integer[], :defines::integer[]
) AS given (section, entity_id, times, defines)
GROUP BY given.section, given.entity_id;

-- name: count_mentions
UPDATE entity SET sections = sections + named.times
FROM (
    SELECT entity_id, count(*) AS times FROM mention
    WHERE source_id = :source_id GROUP BY entity_id
) AS named
WHERE entity.entity_id = named.entity_id;

-- name: remove_unnamed_entities
-- One that another writer is just about to name is locked by it, and stays.
DELETE FROM entity WHERE entity_id IN (
    SELECT entity_id FROM entity WHERE sections <= 0
    ORDER BY entity_id
    FOR UPDATE SKIP LOCKED
);

-- ── graph: nodes ─────────────────────────────────────────────────────────────
-- `visible` is a list of pages, or NULL where all pages of the start nodes' project may be seen:
-- no edge leaves a project.

-- name: page_nodes
SELECT
    page.source_id AS number, 0 AS section, title AS name, '' AS title, url, NULL AS anchor,
    NULL AS entity_kind, 0 AS entities, page.origin,
    (SELECT count(*) FROM section WHERE section.source_id = page.source_id) AS sections
FROM page
WHERE page.source_id = ANY (:numbers::bigint[])
    AND (:project::text IS NULL OR page.project = :project)
    AND (:visible::bigint[] IS NULL OR page.source_id = ANY (:visible));

-- name: section_nodes
-- What goes on after a symbol's entry has no heading of its own; it has that of its parent.
SELECT
    -- use: section_node
FROM unnest(:numbers::bigint[], :ordinals::integer[]) AS asked (source_id, ordinal)
JOIN page ON page.source_id = asked.source_id
JOIN section ON section.source_id = page.source_id AND section.ordinal = asked.ordinal
LEFT JOIN section AS above
    ON above.source_id = section.source_id AND above.ordinal = section.parent
WHERE (:project::text IS NULL OR page.project = :project)
    AND (:visible::bigint[] IS NULL OR page.source_id = ANY (:visible));

-- name: entity_nodes
SELECT
    entity_id AS number, 0 AS section, name, '' AS title, NULL AS url, NULL AS anchor,
    kind AS entity_kind, 0 AS entities, 'fetched' AS origin,
    CASE
        WHEN :visible::bigint[] IS NULL THEN sections
        ELSE (
            SELECT count(*) FROM mention
            WHERE mention.entity_id = entity.entity_id AND mention.source_id = ANY (:visible)
        )
    END AS sections
FROM entity
WHERE entity_id = ANY (:numbers::bigint[])
    AND (:project::text IS NULL OR entity.project = :project)
    AND (
        :visible::bigint[] IS NULL
        OR EXISTS (
            SELECT 1 FROM mention
            WHERE mention.entity_id = entity.entity_id AND mention.source_id = ANY (:visible)
        )
    );

-- name: entities_named
SELECT asked.place - 1 AS place, entity.entity_id
FROM unnest(:keys::text[]) WITH ORDINALITY AS asked (key, place)
JOIN entity ON md5(entity.key) = md5(asked.key)
    AND (:project::text IS NULL OR entity.project = :project)
ORDER BY asked.place, entity.entity_id;

-- name: symbols_ending_with
SELECT entity_id FROM entity
WHERE (:project::text IS NULL OR project = :project)
    AND kind = 'symbol' AND name ILIKE :pattern
ORDER BY sections DESC, entity_id
LIMIT :limit;

-- part: seen_page
WHERE (:project::text IS NULL OR project = :project)
    AND (:visible::bigint[] IS NULL OR source_id = ANY (:visible))

-- name: graph_counts
SELECT
    (
        SELECT count(*) FROM page
        -- use: seen_page
    ) AS pages,
    (
        SELECT count(*) FROM page JOIN section USING (source_id)
        -- use: seen_page
    ) AS sections,
    (
        SELECT count(*) FROM page JOIN link USING (source_id)
        -- use: seen_page
    ) AS links,
    (
        SELECT count(*) FROM page JOIN mention USING (source_id)
        -- use: seen_page
    ) AS mentions,
    CASE
        WHEN :visible::bigint[] IS NULL THEN (
            SELECT count(*) FROM entity WHERE :project::text IS NULL OR project = :project
        )
        ELSE (
            SELECT count(DISTINCT entity_id) FROM mention WHERE source_id = ANY (:visible)
        )
    END AS entities;

-- name: chunks_of_sections
SELECT
    -- use: chunk_row,
    NULL AS words
FROM unnest(:numbers::bigint[], :ordinals::integer[])
    WITH ORDINALITY AS asked (source_id, section, place)
JOIN page ON page.source_id = asked.source_id
CROSS JOIN LATERAL (
    SELECT * FROM chunk AS own
    WHERE own.source_id = asked.source_id AND own.section = asked.section
    ORDER BY own.ordinal
    LIMIT :limit
) AS chunk
ORDER BY asked.place, chunk.ordinal;

-- ── graph: edges ─────────────────────────────────────────────────────────────
-- Each returns number and section of the source, number and section of the target, weight,
-- whether it defines, and the target's degree.

-- name: children_of_pages
SELECT
    source_id AS source, 0 AS source_section, source_id AS target, ordinal AS target_section,
    1 AS weight, 0 AS defines, 1 AS degree
FROM section
WHERE source_id = ANY (:pages::bigint[]) AND parent IS NULL
ORDER BY source_id, ordinal
LIMIT :limit;

-- name: children_of_sections
SELECT
    section.source_id AS source, section.parent AS source_section, section.source_id AS target,
    section.ordinal AS target_section, 1 AS weight, 0 AS defines, 1 AS degree
FROM unnest(:numbers::bigint[], :ordinals::integer[]) AS asked (source_id, ordinal)
JOIN section ON section.source_id = asked.source_id AND section.parent = asked.ordinal
ORDER BY section.source_id, section.ordinal
LIMIT :limit;

-- name: parent_sections
SELECT
    section.source_id AS source, section.ordinal AS source_section, section.source_id AS target,
    section.parent AS target_section, 1 AS weight, 0 AS defines, 1 AS degree
FROM unnest(:numbers::bigint[], :ordinals::integer[]) AS asked (source_id, ordinal)
JOIN section ON section.source_id = asked.source_id AND section.ordinal = asked.ordinal
WHERE section.parent IS NOT NULL
LIMIT :limit;

-- name: parent_pages
SELECT
    section.source_id AS source, section.ordinal AS source_section, section.source_id AS target,
    0 AS target_section, 1 AS weight, 0 AS defines, 1 AS degree
FROM unnest(:numbers::bigint[], :ordinals::integer[]) AS asked (source_id, ordinal)
JOIN section ON section.source_id = asked.source_id AND section.ordinal = asked.ordinal
WHERE section.parent IS NULL
LIMIT :limit;

-- name: pages_of_sections
SELECT
    section.source_id AS source, section.ordinal AS source_section, section.source_id AS target,
    0 AS target_section, 1 AS weight, 0 AS defines, 1 AS degree
FROM unnest(:numbers::bigint[], :ordinals::integer[]) AS asked (source_id, ordinal)
JOIN section ON section.source_id = asked.source_id AND section.ordinal = asked.ordinal
LIMIT :limit;

-- name: sections_beside
SELECT
    section.source_id AS source, asked.ordinal AS source_section, section.source_id AS target,
    section.ordinal AS target_section, 1 AS weight, 0 AS defines, 1 AS degree
FROM unnest(:numbers::bigint[], :ordinals::integer[]) AS asked (source_id, ordinal)
JOIN section ON section.source_id = asked.source_id
    AND section.ordinal = asked.ordinal + :step
LIMIT :limit;

-- part: linked_pages
JOIN page AS origin ON origin.source_id = named.source_id
JOIN page AS target ON target.source_id = coalesce(
    (
        SELECT source_id FROM page
        WHERE project = origin.project AND md5(url) = md5(named.url)
    ),
    (
        SELECT min(source_id) FROM page
        WHERE project = origin.project AND md5(final_url) = md5(named.url)
    )
)
WHERE target.source_id <> named.source_id
    AND (:visible::bigint[] IS NULL OR target.source_id = ANY (:visible))

-- name: links_of_sections
-- A hub is known as one after a hundred links; counting further would add nothing.
SELECT
    linked.source_id AS source, linked.section AS source_section, linked.target,
    0 AS target_section, linked.links AS weight, 0 AS defines,
    (
        SELECT count(*) FROM (
            SELECT 1 FROM link WHERE md5(link.url) = md5(linked.url) LIMIT 100
        ) AS counted
    ) AS degree
FROM (
    SELECT
        named.source_id, named.section, target.source_id AS target, target.url,
        sum(named.links)::integer AS links
    FROM (
        SELECT link.source_id, link.section, link.url, count(*) AS links
        FROM unnest(:numbers::bigint[], :ordinals::integer[]) AS asked (source_id, ordinal)
        JOIN link ON link.source_id = asked.source_id AND link.section = asked.ordinal
        WHERE link.kind = 'content'
        GROUP BY link.source_id, link.section, link.url
    ) AS named
    -- use: linked_pages
    GROUP BY named.source_id, named.section, target.source_id
    ORDER BY links DESC, target.source_id
    LIMIT :limit
) AS linked
ORDER BY linked.links DESC, linked.target;

-- name: links_of_pages
SELECT
    linked.source_id AS source, 0 AS source_section, linked.target, 0 AS target_section,
    linked.links AS weight, 0 AS defines,
    (
        SELECT count(*) FROM (
            SELECT 1 FROM link WHERE md5(link.url) = md5(linked.url) LIMIT 100
        ) AS counted
    ) AS degree
FROM (
    SELECT
        named.source_id, target.source_id AS target, target.url, sum(named.links)::integer AS links
    FROM (
        SELECT link.source_id, link.url, count(*) AS links FROM link
        WHERE link.source_id = ANY (:pages::bigint[]) AND link.kind = 'content'
        GROUP BY link.source_id, link.url
    ) AS named
    -- use: linked_pages
    GROUP BY named.source_id, target.source_id
    ORDER BY links DESC, target.source_id
    LIMIT :limit
) AS linked
ORDER BY linked.links DESC, linked.target;

-- name: links_to_pages
SELECT
    linking.target AS source, 0 AS source_section, linking.source_id AS target,
    linking.section AS target_section, linking.links AS weight, 0 AS defines,
    (
        SELECT count(*) FROM link
        WHERE link.source_id = linking.source_id AND link.section = linking.section
    ) AS degree
FROM (
    SELECT target.source_id AS target, link.source_id, link.section, count(*)::integer AS links
    FROM page AS target
    JOIN link ON md5(link.url) IN (md5(target.url), md5(target.final_url))
    JOIN page AS origin
        ON origin.source_id = link.source_id AND origin.project = target.project
    WHERE target.source_id = ANY (:pages::bigint[]) AND origin.source_id <> target.source_id
        AND link.kind = 'content'
        AND (:visible::bigint[] IS NULL OR origin.source_id = ANY (:visible))
    GROUP BY target.source_id, link.source_id, link.section
    ORDER BY links DESC, link.source_id, link.section
    LIMIT :limit
) AS linking
ORDER BY linking.links DESC, linking.source_id, linking.section;

-- name: mentions_of_sections
SELECT
    mention.source_id AS source, mention.section AS source_section, mention.entity_id AS target,
    0 AS target_section, mention.times AS weight, mention.defines, entity.sections AS degree
FROM unnest(:numbers::bigint[], :ordinals::integer[]) AS asked (source_id, ordinal)
JOIN mention ON mention.source_id = asked.source_id AND mention.section = asked.ordinal
JOIN entity USING (entity_id)
ORDER BY mention.defines DESC, 1.0 * mention.times / entity.sections DESC, mention.entity_id
LIMIT :limit;

-- name: mentions_of_pages
SELECT
    mention.source_id AS source, 0 AS source_section, mention.entity_id AS target,
    0 AS target_section, sum(mention.times)::integer AS weight, max(mention.defines) AS defines,
    entity.sections AS degree
FROM mention
JOIN entity USING (entity_id)
WHERE mention.source_id = ANY (:pages::bigint[])
GROUP BY mention.source_id, mention.entity_id, entity.sections
ORDER BY max(mention.defines) DESC, 1.0 * sum(mention.times) / entity.sections DESC,
    mention.entity_id
LIMIT :limit;

-- name: mentions_of_entities
SELECT
    naming.entity_id AS source, 0 AS source_section, naming.source_id AS target,
    naming.section AS target_section, naming.times AS weight, naming.defines,
    (
        SELECT count(*) FROM mention
        WHERE mention.source_id = naming.source_id AND mention.section = naming.section
    ) AS degree
FROM (
    SELECT entity_id, source_id, section, times, defines FROM mention
    WHERE entity_id = ANY (:entities::bigint[])
        AND (:visible::bigint[] IS NULL OR source_id = ANY (:visible))
    ORDER BY defines DESC, times DESC, source_id, section
    LIMIT :limit
) AS naming
ORDER BY naming.defines DESC, naming.times DESC, naming.source_id, naming.section;

-- name: sections_sharing_entities
-- An entity that very many sections name relates none of them.
SELECT
    sharing.source_id AS source, sharing.section AS source_section, sharing.other_id AS target,
    sharing.other_section AS target_section, sharing.weight, 0 AS defines,
    (
        SELECT count(*) FROM mention
        WHERE mention.source_id = sharing.other_id AND mention.section = sharing.other_section
    ) AS degree
FROM (
    SELECT
        own.source_id, own.section, other.source_id AS other_id, other.section AS other_section,
        sum(1.0::float8 / entity.sections) AS weight
    FROM unnest(:numbers::bigint[], :ordinals::integer[]) AS asked (source_id, ordinal)
    JOIN mention AS own ON own.source_id = asked.source_id AND own.section = asked.ordinal
    JOIN entity ON entity.entity_id = own.entity_id
        AND entity.sections BETWEEN 2 AND :most_sections
    JOIN mention AS other ON other.entity_id = own.entity_id
        AND (other.source_id <> own.source_id OR other.section <> own.section)
    WHERE :visible::bigint[] IS NULL OR other.source_id = ANY (:visible)
    GROUP BY own.source_id, own.section, other.source_id, other.section
    ORDER BY weight DESC, other.source_id, other.section
    LIMIT :limit
) AS sharing
ORDER BY sharing.weight DESC, sharing.other_id, sharing.other_section;
