-- Entities and who names them, and the ways through links and sections that the graph needs.
-- A page stored before this step gets its entities when it is ingested next.

-- One name within a project. `key` is what all its spellings share (core/graph.py).
CREATE TABLE entity (
    -- Never used twice: an id that a caller holds does not come to mean something else.
    entity_id INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL,
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    -- How many sections name it; kept true by the triggers below.
    sections INTEGER NOT NULL DEFAULT 0,
    UNIQUE (project, key)
) STRICT;

CREATE TABLE mention (
    source_id INTEGER NOT NULL REFERENCES page ON DELETE CASCADE,
    section INTEGER NOT NULL,
    entity_id INTEGER NOT NULL REFERENCES entity,
    -- How often, and whether the section is about it.
    times INTEGER NOT NULL,
    defines INTEGER NOT NULL,
    PRIMARY KEY (source_id, section, entity_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mention_by_entity ON mention (entity_id, defines, times);

CREATE TRIGGER mention_added AFTER INSERT ON mention BEGIN
    UPDATE entity SET sections = sections + 1 WHERE entity_id = new.entity_id;
END;
-- An entity that nothing names any more is gone.
CREATE TRIGGER mention_removed AFTER DELETE ON mention BEGIN
    UPDATE entity SET sections = sections - 1 WHERE entity_id = old.entity_id;
    DELETE FROM entity WHERE entity_id = old.entity_id AND sections = 0;
END;

CREATE INDEX link_by_section ON link (source_id, section, url);
CREATE INDEX link_by_url ON link (url, source_id, section);
CREATE INDEX section_by_parent ON section (source_id, parent);
CREATE INDEX chunk_by_section ON chunk (source_id, section, ordinal);
