-- Which product and version a page documents, and what the user's folders use.

ALTER TABLE page ADD COLUMN product TEXT NOT NULL DEFAULT '';
ALTER TABLE page ADD COLUMN version TEXT NOT NULL DEFAULT '';
-- The address without the version: what the same page of every version shares.
ALTER TABLE page ADD COLUMN place TEXT NOT NULL DEFAULT '';

-- Pages of packages are stored as pypi:name@version/path and npm:@scope/name@version/path.
WITH package AS (
    SELECT
        source_id, url,
        -- An @ that opens the name of an npm scope is not the one before the version.
        CASE WHEN url LIKE 'npm:@%' THEN 5 ELSE 0 END AS skipped
    FROM page WHERE url LIKE 'pypi:%@%/%' OR url LIKE 'npm:%@%/%'
),
cut AS (
    SELECT source_id, url, skipped + instr(substr(url, skipped + 1), '@') AS mark FROM package
),
whole AS (
    SELECT
        source_id, url, mark, mark + instr(substr(url, mark + 1), '/') AS slash FROM cut
)
UPDATE page SET
    product = substr(page.url, 1, whole.mark - 1),
    version = substr(page.url, whole.mark + 1, whole.slash - whole.mark - 1),
    place = substr(page.url, 1, whole.mark) || substr(page.url, whole.slash)
FROM whole WHERE whole.source_id = page.source_id AND whole.slash > whole.mark + 1;

CREATE INDEX page_by_release ON page (project, product, place, version) WHERE product <> '';

CREATE TABLE used_release (
    project TEXT NOT NULL,
    folder TEXT NOT NULL,
    product TEXT NOT NULL,
    version TEXT NOT NULL,
    PRIMARY KEY (project, folder, product, version)
) STRICT, WITHOUT ROWID;
