-- Large pages are written, and what they replace is removed, in many short transactions.

-- Ids that rows of chunk, section, link, image and symbol have while no page has them: the rows are
-- being written, or wait to be removed. No statement that reads the library returns them.
CREATE TABLE unlisted (
    source_id INTEGER PRIMARY KEY,
    -- Seconds since 1970. Long ago: whoever used the id has ended, or needs it no longer.
    touched_at REAL NOT NULL
) STRICT;

-- Whoever lists chunks counts them: a statement for each took as long as storing it.
DROP TRIGGER chunk_added;
DROP TRIGGER chunk_removed;
CREATE TRIGGER chunk_removed AFTER DELETE ON chunk BEGIN
    DELETE FROM chunk_words WHERE rowid = old.chunk_id;
    UPDATE corpus SET chunks = chunks - 1, words = words - old.words
    WHERE old.source_id NOT IN (SELECT source_id FROM unlisted);
END;
DROP TRIGGER embedded_chunk_removed;
CREATE TRIGGER embedded_chunk_removed AFTER DELETE ON chunk
WHEN old.model_id <> 0 AND old.source_id NOT IN (SELECT source_id FROM unlisted) BEGIN
    UPDATE embedding_model SET chunks = chunks - 1 WHERE model_id = old.model_id;
END;
