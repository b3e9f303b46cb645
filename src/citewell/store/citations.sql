-- Citations that were handed out. What an owner reads names the owner; pages are judged for all.

-- name: put_citation
-- A page that was deleted meanwhile has no citations; the copy of one that is missing can be quoted.
INSERT INTO citation (
    owner, project, citation_id, question, source_id, url, title, section, start, "end", quote,
    tool, user_name, agent, handed_at, judged_hash, verdict, judged_at
)
SELECT
    :owner, page.project, :citation_id, :question, page.source_id, page.url, page.title, :section,
    :start, :end, :quote, :tool, :user, :agent, :handed_at,
    CASE WHEN page.missing_at IS NULL THEN :page_hash ELSE '' END,
    CASE WHEN page.missing_at IS NULL THEN 'exact' ELSE 'gone' END,
    page.missing_at
FROM page
WHERE page.source_id = :source_id AND page.project = :project
ON CONFLICT (owner, project, citation_id, question) DO UPDATE SET
    tool = excluded.tool,
    user_name = excluded.user_name,
    agent = excluded.agent,
    times = citation.times + 1,
    handed_at = excluded.handed_at
WHERE NOT :is_shown_again;

-- name: list_citations
SELECT * FROM citation
WHERE owner = :owner AND project = :project
    AND (CAST(:verdict AS text) IS NULL OR verdict = :verdict)
    AND (
        CAST(:matching AS text) IS NULL
        OR lower(question || ' ' || title || ' ' || url || ' ' || quote)
            LIKE '%' || CAST(:matching AS text) || '%'
    )
ORDER BY handed_at DESC, citation_id DESC, question DESC
LIMIT :limit OFFSET :offset;

-- name: citations_of_page
SELECT * FROM citation
WHERE source_id = :source_id AND owner = :owner AND project = :project
ORDER BY handed_at DESC, citation_id DESC, question DESC
LIMIT :limit;

-- name: count_citations
-- A quote that several questions got is one citation.
SELECT verdict, count(*) AS citations, CAST(sum(is_waiting) AS bigint) AS waiting FROM (
    SELECT
        citation.citation_id,
        citation.verdict,
        max(
            CASE
                WHEN page.missing_at IS NULL AND page.text_hash <> citation.judged_hash THEN 1
                ELSE 0
            END
        ) AS is_waiting
    FROM citation LEFT JOIN page ON page.source_id = citation.source_id
    WHERE citation.owner = :owner AND citation.project = :project
    GROUP BY citation.citation_id, citation.verdict
) AS quoted
GROUP BY verdict;

-- name: citations_to_judge
-- Of all owners: the same quote is judged once. A missing page is judged when it is back.
SELECT DISTINCT
    citation.source_id, citation.citation_id, citation.start, citation.quote
FROM citation JOIN page ON page.source_id = citation.source_id
WHERE page.text_hash <> citation.judged_hash AND page.missing_at IS NULL
ORDER BY citation.source_id, citation.citation_id
LIMIT :limit;

-- name: judge_citation
-- Only while the page is the one that was looked at; a later change is judged for itself.
UPDATE citation SET
    is_reported = CASE WHEN verdict = :verdict THEN is_reported ELSE 0 END,
    verdict = :verdict,
    difference = :difference,
    judged_at = :judged_at,
    judged_hash = :judged_hash
WHERE source_id = :source_id AND citation_id = :citation_id
    AND EXISTS (
        SELECT 1 FROM page WHERE page.source_id = :source_id AND page.text_hash = :judged_hash
    );

-- name: detach_citations
-- The site removed the page: its citations outlive it.
UPDATE citation SET
    source_id = NULL,
    is_reported = CASE WHEN verdict = 'gone' THEN is_reported ELSE 0 END,
    verdict = 'gone',
    difference = '',
    judged_at = :judged_at,
    judged_hash = ''
WHERE source_id = :source_id;

-- name: mark_page_missing
UPDATE page SET missing_at = :missing_at WHERE source_id = :source_id;

-- name: mark_page_found
UPDATE page SET missing_at = NULL WHERE source_id = :source_id AND missing_at IS NOT NULL;

-- name: lose_citations
-- The copy of the page is kept, but its site has it no more.
UPDATE citation SET
    is_reported = CASE WHEN verdict = 'gone' THEN is_reported ELSE 0 END,
    verdict = 'gone',
    difference = '',
    judged_at = :missing_at,
    judged_hash = ''
WHERE source_id = :source_id;

-- name: attach_citations
-- A page that is back at its address takes up the citations that outlived it.
UPDATE citation SET source_id = page.source_id
FROM page
WHERE citation.source_id IS NULL AND page.project = citation.project AND page.url = citation.url
    -- postgres: AND md5(page.url) = md5(citation.url)
    ;

-- name: take_unreported_citations
UPDATE citation SET is_reported = 1
WHERE is_reported = 0
RETURNING citation_id, project, url, verdict;

-- name: forget_citations_before
DELETE FROM citation WHERE handed_at < :before;

-- name: forget_oldest_citations
-- Of each owner, those that do not fit when the newest are kept.
DELETE FROM citation WHERE (owner, project, citation_id, question) IN (
    SELECT owner, project, citation_id, question FROM (
        SELECT
            owner, project, citation_id, question,
            row_number() OVER (PARTITION BY owner ORDER BY handed_at DESC, citation_id) AS place
        FROM citation
    ) AS numbered
    WHERE place > :most
);

-- name: forget_citations_of
DELETE FROM citation WHERE owner = :owner AND project = :project;
