-- What a page said before its text last changed.

CREATE TABLE earlier_text (
    source_id BIGINT PRIMARY KEY REFERENCES page ON DELETE CASCADE,
    fetched_at TIMESTAMPTZ NOT NULL,
    text TEXT NOT NULL
);
