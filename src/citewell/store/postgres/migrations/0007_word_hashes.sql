-- The index of words, made anew over their hashes: numbers are quicker to compare than words, which
-- is most of what it costs to write.

-- Two words share a hash once in four billion; what the index finds is scored by the words it holds.
CREATE FUNCTION hash_words(heading TEXT, body TEXT) RETURNS INTEGER[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000
AS $$ BEGIN
    RETURN ARRAY(SELECT hashtext(unnest(string_to_array(heading || ' ' || body, ' '))));
END $$;

CREATE INDEX chunk_words_by_hash ON chunk_words USING gin (hash_words(heading, body));
-- Nothing asks how common a hash is, so ANALYZE need not count them.
ALTER INDEX chunk_words_by_hash ALTER COLUMN 1 SET STATISTICS 0;

-- ANALYZE counts the words themselves, as it did for the index that goes.
CREATE STATISTICS common_words ON (words_of_chunk(heading, body) COLLATE "C") FROM chunk_words;
ALTER STATISTICS common_words SET STATISTICS 1000;

-- Last, since readers wait from here on.
DROP INDEX chunk_words_by_word;
