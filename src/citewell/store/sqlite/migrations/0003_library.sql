-- The library of websites and the background jobs that keep it.

-- An entry of the library. Its id comes from the numbers of pages before anything is fetched:
-- the page of its URL takes it when it is put. No foreign key: the page may not be there yet.
CREATE TABLE website (
    source_id INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    url TEXT NOT NULL,
    kind TEXT NOT NULL,
    content_type TEXT NOT NULL,
    status TEXT NOT NULL,
    error_message TEXT,
    -- What follows is told by the pages; the triggers below and finish_website keep it true.
    title TEXT NOT NULL DEFAULT '',
    language TEXT,
    pages INTEGER NOT NULL DEFAULT 0,
    chunks INTEGER NOT NULL DEFAULT 0,
    fetched_at TEXT,
    tags TEXT NOT NULL DEFAULT '[]',
    options TEXT NOT NULL DEFAULT '{}',
    refresh_seconds REAL,
    refresh_due_at TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    last_change TEXT,
    UNIQUE (project, url)
) STRICT;
CREATE INDEX website_by_fetch ON website (project, fetched_at, source_id);
CREATE INDEX website_by_status ON website (project, status, source_id);
CREATE INDEX website_by_due_refresh ON website (refresh_due_at) WHERE refresh_due_at IS NOT NULL;

-- Which pages belong to which entry. `chunks` repeats the page's: when a page is deleted, its own
-- row is gone before the counts of the entry can be taken back.
CREATE TABLE website_page (
    website_id INTEGER NOT NULL REFERENCES website ON DELETE CASCADE,
    source_id INTEGER NOT NULL REFERENCES page ON DELETE CASCADE,
    chunks INTEGER NOT NULL,
    fields TEXT NOT NULL DEFAULT '{}',
    PRIMARY KEY (website_id, source_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX website_page_by_page ON website_page (source_id, website_id);

CREATE TRIGGER website_page_added AFTER INSERT ON website_page BEGIN
    UPDATE website SET pages = pages + 1, chunks = chunks + new.chunks
    WHERE source_id = new.website_id;
    UPDATE website SET (title, language, fetched_at) = (
        SELECT title, language, fetched_at FROM page WHERE source_id = new.source_id
    )
    WHERE source_id = new.website_id AND kind = 'page';
END;
CREATE TRIGGER website_page_recounted AFTER UPDATE OF chunks ON website_page BEGIN
    UPDATE website SET chunks = chunks + new.chunks - old.chunks WHERE source_id = new.website_id;
END;
CREATE TRIGGER website_page_removed AFTER DELETE ON website_page BEGIN
    UPDATE website SET pages = pages - 1, chunks = chunks - old.chunks
    WHERE source_id = old.website_id;
END;
-- A page put under the URL of an entry belongs to it, whoever put it.
CREATE TRIGGER page_of_website_added AFTER INSERT ON page
WHEN EXISTS (SELECT 1 FROM website WHERE source_id = new.source_id) BEGIN
    INSERT INTO website_page (website_id, source_id, chunks)
    VALUES (new.source_id, new.source_id, new.chunks);
END;
CREATE TRIGGER page_of_website_changed
AFTER UPDATE OF chunks, title, language, fetched_at ON page BEGIN
    UPDATE website_page SET chunks = new.chunks
    WHERE source_id = new.source_id AND chunks <> new.chunks;
    UPDATE website
    SET title = new.title, language = new.language, fetched_at = new.fetched_at
    WHERE kind = 'page' AND source_id IN (
        SELECT website_id FROM website_page WHERE website_page.source_id = new.source_id
    );
END;

-- Whether a page of a site says what another one says.
CREATE INDEX page_by_text ON page (text_hash);

-- The last run through a site, known by its job: a job that goes on finds its frontier here.
CREATE TABLE crawl (
    website_id INTEGER PRIMARY KEY REFERENCES website ON DELETE CASCADE,
    job_id INTEGER NOT NULL,
    discovery TEXT NOT NULL,
    started_at TEXT NOT NULL
) STRICT;

CREATE TABLE crawl_url (
    -- Rises in the order of finding.
    found INTEGER PRIMARY KEY,
    website_id INTEGER NOT NULL REFERENCES crawl ON DELETE CASCADE,
    url TEXT NOT NULL,
    depth INTEGER NOT NULL,
    modified_at TEXT,
    ignore_canonical INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'waiting',
    canonical_url TEXT,
    error TEXT,
    change TEXT,
    chunks_removed INTEGER NOT NULL DEFAULT 0,
    chunks_added INTEGER NOT NULL DEFAULT 0,
    UNIQUE (website_id, url)
) STRICT;
CREATE INDEX crawl_url_by_state ON crawl_url (website_id, state, depth, found);

CREATE TABLE job (
    job_id INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    payload TEXT NOT NULL,
    priority INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting',
    run_at TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    lease INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    leased_until TEXT,
    progress TEXT NOT NULL,
    result TEXT,
    error TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX unfinished_job ON job (project, key, kind)
WHERE state IN ('waiting', 'running');
-- Partial: nearly all jobs are done, and SQLite would find an index over all states of little use.
CREATE INDEX waiting_job ON job (priority DESC, run_at, job_id) WHERE state = 'waiting';
CREATE INDEX running_job ON job (leased_until) WHERE state = 'running';
CREATE INDEX job_by_key ON job (project, key, job_id);
