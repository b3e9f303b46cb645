"""An HTML page as canonical Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.errors import EmptyPage
from citewell.core.language import detect_language
from citewell.core.records import ExtractedPage
from citewell.ingest.extract.canonical import CanonicalWriter, join_blocks, visible_text
from citewell.ingest.extract.html.blocks import BlockRenderer
from citewell.ingest.extract.html.main_content import find_main_content
from citewell.ingest.extract.html.metadata import choose_title, read_metadata
from citewell.ingest.extract.html.tree import parse_document
from citewell.ingest.extract.links import LinkResolver
from citewell.ingest.extract.text import name_of

if TYPE_CHECKING:
    from citewell.core.records import FetchedPage


_OPENING_BLOCKS = 8
_SENTENCE = re.compile(r"[.!?…:][\"'”’»)\]*]*(?:\s+[^\Wa-z]|$)|[。！？]")


def extract_html(fetched: FetchedPage) -> ExtractedPage:
    """Return the main content of an HTML page.

    Raises:
        EmptyPage: no text that a reader could see.
    """
    document = parse_document(fetched.text)
    metadata = read_metadata(document.parsed)
    links = LinkResolver(fetched.final_url, base_href=metadata.base_href)
    writer = CanonicalWriter()
    content = find_main_content(document)
    blocks = BlockRenderer(writer, links).blocks(content.element)
    if content.is_article:
        blocks = without_bylines(blocks)
    canonical = writer.finish(join_blocks(blocks))
    if not canonical.text.strip():
        raise EmptyPage(f"{fetched.final_url} holds no readable text")
    headings = [section.heading for section in canonical.sections if section.level == 1]
    title = choose_title(metadata, headings) or next(
        (section.heading for section in canonical.sections if section.heading), ""
    )
    return ExtractedPage(
        title=title or name_of(fetched.final_url),
        text=canonical.text,
        kind="html",
        language=detect_language(canonical.text),
        sections=canonical.sections,
        links=canonical.links,
        images=canonical.images,
        canonical_url=links.resolve(metadata.canonical_href),
        description=metadata.description,
        published_at=metadata.published_at,
        modified_at=metadata.modified_at,
        structured_data=metadata.structured_data,
    )


def without_bylines(blocks: list[str]) -> list[str]:
    """Return an article's blocks without the dates, names and labels before its first sentence."""
    kept: list[str] = []
    for at, block in enumerate(blocks):
        words = visible_text(block)
        if _SENTENCE.search(words) or len(words) >= 80 or at >= _OPENING_BLOCKS:
            return kept + blocks[at:]
        if words.startswith(("#", "- ", "1. ", "|", "```", "![", "$$")) or not words:
            kept.append(block)
    # Nothing reads like a sentence: a page of short lines is kept whole.
    return blocks
