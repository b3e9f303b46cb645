-- A response without a Content-Type gets the one of its page's kind: read again without it, the
-- Markdown made of a package was taken for plain text.
UPDATE page_response SET content_type = (
    SELECT CASE page.kind
        WHEN 'html' THEN 'text/html'
        WHEN 'markdown' THEN 'text/markdown'
        WHEN 'rst' THEN 'text/x-rst'
        WHEN 'asciidoc' THEN 'text/asciidoc'
        WHEN 'pdf' THEN 'application/pdf'
        WHEN 'json' THEN 'application/json'
        WHEN 'xml' THEN 'text/xml'
        ELSE 'text/plain'
    END
    FROM page WHERE page.source_id = page_response.source_id
) WHERE content_type = '';
