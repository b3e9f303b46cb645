-- Links and images have an id of their own, which their page names: one update of the page replaces
-- them all, however many there are. It is negative, so that it can be unlisted while its page stays,
-- and none is used twice.
ALTER TABLE page ADD COLUMN links_id INTEGER NOT NULL DEFAULT 0;
UPDATE page SET links_id = -source_id;
ALTER TABLE corpus ADD COLUMN last_links_id INTEGER NOT NULL DEFAULT 0;
UPDATE corpus SET last_links_id = -coalesce(
    (SELECT seq FROM sqlite_sequence WHERE name = 'page'), 0
);
CREATE INDEX page_by_links ON page (links_id);

CREATE TABLE link_of_list (
    links_id INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    url TEXT NOT NULL,
    text TEXT NOT NULL,
    context TEXT NOT NULL,
    section INTEGER NOT NULL,
    start_offset INTEGER NOT NULL,
    kind TEXT NOT NULL DEFAULT 'content',
    PRIMARY KEY (links_id, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO link_of_list (links_id, ordinal, url, text, context, section, start_offset, kind)
SELECT -source_id, ordinal, url, text, context, section, start_offset, kind FROM link
ORDER BY 1, ordinal;
DROP TABLE link;
ALTER TABLE link_of_list RENAME TO link;
CREATE INDEX link_by_section ON link (links_id, section, url);
CREATE INDEX link_by_url ON link (url, links_id, section);

CREATE TABLE image_of_list (
    links_id INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    url TEXT NOT NULL,
    alt TEXT NOT NULL,
    caption TEXT NOT NULL,
    section INTEGER NOT NULL,
    start_offset INTEGER NOT NULL,
    PRIMARY KEY (links_id, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO image_of_list (links_id, ordinal, url, alt, caption, section, start_offset)
SELECT -source_id, ordinal, url, alt, caption, section, start_offset FROM image
ORDER BY 1, ordinal;
DROP TABLE image;
ALTER TABLE image_of_list RENAME TO image;

INSERT INTO unlisted (source_id, touched_at) SELECT -source_id, touched_at FROM unlisted;

DROP TRIGGER page_added;
CREATE TRIGGER page_added AFTER INSERT ON page BEGIN
    UPDATE corpus SET
        pages = pages + 1, tokens = tokens + new.tokens, text_bytes = text_bytes + new.text_bytes,
        last_links_id = last_links_id - 1;
    UPDATE page SET links_id = (SELECT last_links_id FROM corpus) WHERE source_id = new.source_id;
END;
DROP TRIGGER page_removed;
CREATE TRIGGER page_removed AFTER DELETE ON page BEGIN
    DELETE FROM link
    WHERE links_id = old.links_id AND old.links_id NOT IN (SELECT source_id FROM unlisted);
    DELETE FROM image
    WHERE links_id = old.links_id AND old.links_id NOT IN (SELECT source_id FROM unlisted);
    UPDATE corpus SET
        pages = pages - 1, tokens = tokens - old.tokens, text_bytes = text_bytes - old.text_bytes;
END;
