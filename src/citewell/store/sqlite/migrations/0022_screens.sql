-- The words of a page as a browser shows them, compressed: links are made to fit these.
ALTER TABLE page_body ADD COLUMN screen BLOB NOT NULL DEFAULT x'';
