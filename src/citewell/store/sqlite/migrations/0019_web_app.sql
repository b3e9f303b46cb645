-- The texts of several earlier fetches, not of the last one alone.

CREATE TABLE earlier_fetch (
    source_id INTEGER NOT NULL REFERENCES page ON DELETE CASCADE,
    fetched_at TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (source_id, fetched_at)
) STRICT;

INSERT INTO earlier_fetch (source_id, fetched_at, text)
SELECT source_id, fetched_at, text FROM earlier_text;

DROP TABLE earlier_text;

-- How long the text of a page is.
ALTER TABLE page ADD COLUMN text_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE page SET text_bytes = coalesce(
    (SELECT length(CAST(text AS BLOB)) FROM page_body WHERE page_body.source_id = page.source_id), 0
);

-- Why a call failed, redacted.
ALTER TABLE call ADD COLUMN message TEXT NOT NULL DEFAULT '';
