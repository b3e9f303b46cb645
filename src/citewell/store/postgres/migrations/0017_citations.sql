-- Citations that were handed out, and what became of them when their pages changed.

CREATE TABLE citation (
    owner TEXT NOT NULL,
    project TEXT NOT NULL,
    citation_id TEXT NOT NULL,
    question TEXT NOT NULL,
    -- NULL once the site removed the page; a page that is deleted takes its citations along.
    source_id BIGINT REFERENCES page ON DELETE CASCADE,
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    section TEXT NOT NULL,
    start BIGINT NOT NULL,
    "end" BIGINT NOT NULL,
    quote TEXT NOT NULL,
    tool TEXT NOT NULL,
    user_name TEXT NOT NULL,
    agent TEXT NOT NULL,
    times BIGINT NOT NULL DEFAULT 1,
    handed_at TIMESTAMPTZ NOT NULL,
    verdict TEXT NOT NULL DEFAULT 'exact',
    difference TEXT NOT NULL DEFAULT '',
    judged_at TIMESTAMPTZ,
    -- The text that the verdict is about.
    judged_hash TEXT NOT NULL,
    is_reported INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (owner, project, citation_id, question)
);

CREATE INDEX citation_by_page ON citation (source_id);
CREATE INDEX citation_by_time ON citation (owner, project, handed_at);
-- Addresses can be longer than an index entry may be.
CREATE INDEX citation_of_removed_page ON citation (project, md5(url)) WHERE source_id IS NULL;
CREATE INDEX citation_to_report ON citation (citation_id) WHERE is_reported = 0;
