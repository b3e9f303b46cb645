"""All that a reader of a page can see, its furniture included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.ingest.extract.canonical import CanonicalWriter, join_blocks
from citewell.ingest.extract.extract import extract_page
from citewell.ingest.extract.html.blocks import BlockRenderer
from citewell.ingest.extract.html.tree import is_sent_as_xml, parse_document
from citewell.ingest.extract.links import LinkResolver

if TYPE_CHECKING:
    from citewell.core.records import FetchedPage


def extract_whole_text(fetched: FetchedPage) -> str:
    """Return the whole text of a page as Markdown: menus, sidebars and footers as well.

    Raises:
        ExtractionError: the page is damaged.
        EmptyPage: it is no HTML, and holds no readable text.
    """
    if fetched.kind != "html":
        return extract_page(fetched).text
    is_xml = is_sent_as_xml(fetched.final_url)
    document = parse_document(fetched.text, is_rendered=fetched.rendered, is_xml=is_xml)
    writer = CanonicalWriter()
    blocks = BlockRenderer(writer, LinkResolver(fetched.final_url)).blocks(document.body)
    return writer.finish(join_blocks(blocks)).text
