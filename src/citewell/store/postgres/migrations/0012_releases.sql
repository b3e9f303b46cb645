-- Which product and version a page documents, and what the user's folders use.

ALTER TABLE page ADD COLUMN product TEXT NOT NULL DEFAULT '';
ALTER TABLE page ADD COLUMN version TEXT NOT NULL DEFAULT '';
-- The address without the version: what the same page of every version shares.
ALTER TABLE page ADD COLUMN place TEXT NOT NULL DEFAULT '';

-- Pages of packages are stored as pypi:name@version/path and npm:@scope/name@version/path.
UPDATE page SET
    product = parts[1],
    version = parts[2],
    place = parts[1] || '@' || parts[3]
FROM (
    SELECT source_id, regexp_match(url, '^((?:pypi|npm):@?[^@]+)@([^/@]+)(/.*)$') AS parts FROM page
) AS cut
WHERE cut.source_id = page.source_id AND parts IS NOT NULL;

-- Addresses can be longer than an index entry may be.
CREATE INDEX page_by_release ON page (project, product, md5(place), version) WHERE product <> '';

CREATE TABLE used_release (
    project TEXT NOT NULL,
    folder TEXT NOT NULL,
    product TEXT NOT NULL,
    version TEXT NOT NULL,
    PRIMARY KEY (project, folder, product, version)
);
