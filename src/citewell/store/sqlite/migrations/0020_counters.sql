-- How much there is, kept by triggers: every search and every status asks, and counting scanned
-- all pages and an index of all chunks.

ALTER TABLE corpus ADD COLUMN pages INTEGER NOT NULL DEFAULT 0;
ALTER TABLE corpus ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE corpus ADD COLUMN text_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE corpus SET
    pages = (SELECT count(*) FROM page),
    tokens = (SELECT coalesce(sum(tokens), 0) FROM page),
    text_bytes = (SELECT coalesce(sum(text_bytes), 0) FROM page);

-- The chunks that the model has dealt with, those it passed over included.
ALTER TABLE embedding_model ADD COLUMN chunks INTEGER NOT NULL DEFAULT 0;
UPDATE embedding_model SET chunks = (
    SELECT count(*) FROM chunk WHERE chunk.model_id = embedding_model.model_id
);

CREATE TRIGGER page_added AFTER INSERT ON page BEGIN
    UPDATE corpus SET
        pages = pages + 1, tokens = tokens + new.tokens, text_bytes = text_bytes + new.text_bytes;
END;
CREATE TRIGGER page_resized AFTER UPDATE OF tokens, text_bytes ON page BEGIN
    UPDATE corpus SET
        tokens = tokens + new.tokens - old.tokens,
        text_bytes = text_bytes + new.text_bytes - old.text_bytes;
END;
CREATE TRIGGER page_removed AFTER DELETE ON page BEGIN
    UPDATE corpus SET
        pages = pages - 1, tokens = tokens - old.tokens, text_bytes = text_bytes - old.text_bytes;
END;
CREATE TRIGGER chunk_embedded AFTER UPDATE OF model_id ON chunk
WHEN old.model_id <> new.model_id BEGIN
    UPDATE embedding_model SET chunks = chunks - 1 WHERE model_id = old.model_id;
    UPDATE embedding_model SET chunks = chunks + 1 WHERE model_id = new.model_id;
END;
CREATE TRIGGER embedded_chunk_removed AFTER DELETE ON chunk WHEN old.model_id <> 0 BEGIN
    UPDATE embedding_model SET chunks = chunks - 1 WHERE model_id = old.model_id;
END;
