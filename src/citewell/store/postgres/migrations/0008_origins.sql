-- Where a page's text came from, what made it, the response it was made from, and kinds of links.

ALTER TABLE page ADD COLUMN origin TEXT NOT NULL DEFAULT 'fetched'
CHECK (origin IN ('fetched', 'supplied', 'file'));
ALTER TABLE page ADD COLUMN extractor INTEGER NOT NULL DEFAULT 0;
CREATE INDEX page_by_extractor ON page (extractor, source_id);

ALTER TABLE link ADD COLUMN kind TEXT NOT NULL DEFAULT 'content';

-- A docs folder is stored under its public URLs, tagged, with hashes as entity tags.
UPDATE page SET origin = 'file'
WHERE starts_with(url, 'file:') OR (etag ~ '^"[0-9a-f]{32}"$' AND 'docs' = ANY (tags));
-- Chunks that were cut elsewhere made a page of Markdown without validators, links or anchors. A
-- fetched page that looks the same counts as supplied until it is fetched again.
UPDATE page SET origin = 'supplied'
WHERE origin = 'fetched' AND kind = 'markdown' AND final_url = url
    AND etag IS NULL AND last_modified IS NULL AND canonical_url IS NULL
    AND EXISTS (SELECT 1 FROM website WHERE website.source_id = page.source_id)
    AND NOT EXISTS (SELECT 1 FROM link WHERE link.source_id = page.source_id)
    AND NOT EXISTS (
        SELECT 1 FROM section WHERE section.source_id = page.source_id AND anchor IS NOT NULL
    );

CREATE TABLE page_response (
    source_id BIGINT PRIMARY KEY REFERENCES page ON DELETE CASCADE,
    -- Of the compressed body.
    bytes BIGINT NOT NULL,
    status INTEGER NOT NULL,
    fetched_at TIMESTAMPTZ NOT NULL,
    final_url TEXT NOT NULL,
    content_type TEXT NOT NULL,
    headers TEXT NOT NULL,
    body BYTEA NOT NULL
);
-- It is compressed already.
ALTER TABLE page_response ALTER COLUMN body SET STORAGE EXTERNAL;
-- Answers how much is kept, and what is oldest, without reading any body.
CREATE INDEX page_response_by_age ON page_response (fetched_at, source_id, bytes);
