-- The text, chunks, sections and symbols of a page have the id that its links and images have, which
-- the page names: one update of the page replaces them all, however many there are.
DROP TRIGGER chunk_removed;
DROP TRIGGER embedded_chunk_removed;
DROP TRIGGER page_added;
DROP TRIGGER page_removed;

UPDATE link SET links_id = (SELECT source_id FROM page WHERE page.links_id = link.links_id)
WHERE links_id IN (SELECT links_id FROM page);
UPDATE image SET links_id = (SELECT source_id FROM page WHERE page.links_id = image.links_id)
WHERE links_id IN (SELECT links_id FROM page);
UPDATE page SET links_id = source_id;

-- Their id is no longer that of a page. Copying the tables without the reference would take minutes
-- in a large library; no row is written otherwise without it.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, ' REFERENCES page ON DELETE CASCADE', '')
WHERE type = 'table' AND name IN ('page_body', 'chunk', 'section', 'symbol');
PRAGMA writable_schema = RESET;

ALTER TABLE page_body RENAME COLUMN source_id TO rows_id;
ALTER TABLE chunk RENAME COLUMN source_id TO rows_id;
ALTER TABLE section RENAME COLUMN source_id TO rows_id;
ALTER TABLE symbol RENAME COLUMN source_id TO rows_id;
ALTER TABLE link RENAME COLUMN links_id TO rows_id;
ALTER TABLE image RENAME COLUMN links_id TO rows_id;
ALTER TABLE page RENAME COLUMN links_id TO rows_id;
ALTER TABLE corpus RENAME COLUMN last_links_id TO last_rows_id;
ALTER TABLE unlisted RENAME COLUMN source_id TO rows_id;
DROP INDEX page_by_links;
CREATE INDEX page_by_rows ON page (rows_id);
-- The revision of the models' vectors when a page's rows were last replaced; 0 if they never were.
ALTER TABLE page ADD COLUMN listed_revision INTEGER NOT NULL DEFAULT 0;
CREATE INDEX page_by_listing ON page (listed_revision) WHERE listed_revision > 0;

CREATE TRIGGER chunk_removed AFTER DELETE ON chunk BEGIN
    DELETE FROM chunk_words WHERE rowid = old.chunk_id;
    UPDATE corpus SET chunks = chunks - 1, words = words - old.words
    WHERE old.rows_id NOT IN (SELECT rows_id FROM unlisted);
END;
CREATE TRIGGER embedded_chunk_removed AFTER DELETE ON chunk
WHEN old.model_id <> 0 AND old.rows_id NOT IN (SELECT rows_id FROM unlisted) BEGIN
    UPDATE embedding_model SET chunks = chunks - 1 WHERE model_id = old.model_id;
END;
CREATE TRIGGER page_added AFTER INSERT ON page BEGIN
    UPDATE corpus SET
        pages = pages + 1, tokens = tokens + new.tokens, text_bytes = text_bytes + new.text_bytes,
        last_rows_id = last_rows_id - 1;
    UPDATE page SET rows_id = (SELECT last_rows_id FROM corpus) WHERE source_id = new.source_id;
END;
CREATE TRIGGER page_removed AFTER DELETE ON page BEGIN
    DELETE FROM page_body
    WHERE rows_id = old.rows_id AND old.rows_id NOT IN (SELECT rows_id FROM unlisted);
    DELETE FROM chunk
    WHERE rows_id = old.rows_id AND old.rows_id NOT IN (SELECT rows_id FROM unlisted);
    DELETE FROM section
    WHERE rows_id = old.rows_id AND old.rows_id NOT IN (SELECT rows_id FROM unlisted);
    DELETE FROM symbol
    WHERE rows_id = old.rows_id AND old.rows_id NOT IN (SELECT rows_id FROM unlisted);
    DELETE FROM link
    WHERE rows_id = old.rows_id AND old.rows_id NOT IN (SELECT rows_id FROM unlisted);
    DELETE FROM image
    WHERE rows_id = old.rows_id AND old.rows_id NOT IN (SELECT rows_id FROM unlisted);
    UPDATE corpus SET
        pages = pages - 1, tokens = tokens - old.tokens, text_bytes = text_bytes - old.text_bytes;
END;
