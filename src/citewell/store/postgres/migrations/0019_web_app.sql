-- The texts of several earlier fetches, not of the last one alone.

ALTER TABLE earlier_text RENAME TO earlier_fetch;
ALTER TABLE earlier_fetch DROP CONSTRAINT earlier_text_pkey;
ALTER TABLE earlier_fetch ADD PRIMARY KEY (source_id, fetched_at);

-- How long the text of a page is.
ALTER TABLE page ADD COLUMN text_bytes BIGINT NOT NULL DEFAULT 0;
UPDATE page SET text_bytes = octet_length(page_body.text)
FROM page_body WHERE page_body.source_id = page.source_id;

-- Why a call failed, redacted.
ALTER TABLE call ADD COLUMN message TEXT NOT NULL DEFAULT '';
