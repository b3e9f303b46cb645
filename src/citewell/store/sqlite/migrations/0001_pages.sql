-- Pages, what hangs on them, and their chunks with words and vectors.

-- "CtWl": tells our files from those of other programs.
PRAGMA application_id = 1131698028;

CREATE TABLE migration (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL
) STRICT;

-- One row: totals that ranking needs at every search and that would take a scan to count.
-- The triggers below keep it true.
CREATE TABLE corpus (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    chunks INTEGER NOT NULL,
    words INTEGER NOT NULL
) STRICT;
INSERT INTO corpus (only_row, chunks, words) VALUES (1, 0, 0);

-- Narrow on purpose: filters and lists scan it. The long texts are in page_body.
CREATE TABLE page (
    source_id INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL,
    url TEXT NOT NULL,
    final_url TEXT NOT NULL,
    title TEXT NOT NULL,
    kind TEXT NOT NULL,
    language TEXT NOT NULL,
    content_type TEXT NOT NULL,
    text_hash TEXT NOT NULL,
    chunks INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    -- UTC with microseconds, so that text order is time order.
    fetched_at TEXT NOT NULL,
    etag TEXT,
    last_modified TEXT,
    published_at TEXT,
    modified_at TEXT,
    canonical_url TEXT,
    UNIQUE (project, url)
) STRICT;
CREATE INDEX page_by_final_url ON page (project, final_url);

CREATE TABLE page_body (
    source_id INTEGER PRIMARY KEY REFERENCES page ON DELETE CASCADE,
    description TEXT NOT NULL,
    structured_data TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;

CREATE TABLE page_tag (
    source_id INTEGER NOT NULL REFERENCES page ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (source_id, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE section (
    source_id INTEGER NOT NULL REFERENCES page ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    parent INTEGER,
    level INTEGER NOT NULL,
    heading TEXT NOT NULL,
    anchor TEXT,
    start_offset INTEGER NOT NULL,
    end_offset INTEGER NOT NULL,
    PRIMARY KEY (source_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE link (
    source_id INTEGER NOT NULL REFERENCES page ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    url TEXT NOT NULL,
    text TEXT NOT NULL,
    context TEXT NOT NULL,
    section INTEGER NOT NULL,
    start_offset INTEGER NOT NULL,
    PRIMARY KEY (source_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE image (
    source_id INTEGER NOT NULL REFERENCES page ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    url TEXT NOT NULL,
    alt TEXT NOT NULL,
    caption TEXT NOT NULL,
    section INTEGER NOT NULL,
    start_offset INTEGER NOT NULL,
    PRIMARY KEY (source_id, ordinal)
) STRICT, WITHOUT ROWID;

-- `revision` rises with every write of vectors of the model, so that a process which holds codes
-- of them in memory sees what it has missed.
CREATE TABLE embedding_model (
    model_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dimensions INTEGER NOT NULL,
    revision INTEGER NOT NULL
) STRICT;

-- A chunk id is never used twice: what is held in memory about a chunk that is gone stays harmless.
-- The order of columns puts what is read most before the long texts.
CREATE TABLE chunk (
    chunk_id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id INTEGER NOT NULL REFERENCES page ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    section INTEGER NOT NULL,
    start_offset INTEGER NOT NULL,
    end_offset INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    words INTEGER NOT NULL,
    has_code INTEGER NOT NULL,
    -- 0 while the chunk has no vector.
    model_id INTEGER NOT NULL DEFAULT 0,
    vector_revision INTEGER NOT NULL DEFAULT 0,
    -- A unit vector in half precision.
    vector BLOB,
    anchor TEXT,
    heading_path TEXT NOT NULL,
    text TEXT NOT NULL,
    embedded_text TEXT NOT NULL
) STRICT;
CREATE INDEX chunk_by_page ON chunk (source_id, ordinal, model_id);
-- Tells the page of a chunk without reading the chunk's long row: word search under a filter.
CREATE INDEX chunk_to_page ON chunk (chunk_id, source_id);
CREATE INDEX chunk_by_model ON chunk (model_id, vector_revision);

-- Holds words made by core/words.py, joined by spaces. The ascii tokenizer splits at nothing else
-- in them and folds nothing, so a word is found exactly as core/words.py gave it.
CREATE VIRTUAL TABLE chunk_words USING fts5 (
    heading, body, tokenize = "ascii tokenchars '._'"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (chunk_words, row);

CREATE TRIGGER chunk_added AFTER INSERT ON chunk BEGIN
    UPDATE corpus SET chunks = chunks + 1, words = words + new.words;
END;
CREATE TRIGGER chunk_words_changed AFTER UPDATE OF words ON chunk BEGIN
    UPDATE corpus SET words = words + new.words - old.words;
END;
CREATE TRIGGER chunk_removed AFTER DELETE ON chunk BEGIN
    DELETE FROM chunk_words WHERE rowid = old.chunk_id;
    UPDATE corpus SET chunks = chunks - 1, words = words - old.words;
END;
