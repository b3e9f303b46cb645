-- The symbols that pages define. A page stored before this step gets them when it is read next.

CREATE TABLE symbol (
    source_id BIGINT NOT NULL REFERENCES page ON DELETE CASCADE,
    section INTEGER NOT NULL,
    -- The last part of the name in lower case.
    last_name TEXT NOT NULL,
    full_name TEXT NOT NULL,
    -- Where its section begins in the page: short sections share a chunk.
    start_offset INTEGER NOT NULL,
    PRIMARY KEY (source_id, section, full_name)
);
CREATE INDEX symbol_by_name ON symbol (last_name, source_id);
