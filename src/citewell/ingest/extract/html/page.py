"""An HTML page as canonical Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.errors import EmptyPage
from citewell.core.language import detect_language
from citewell.core.records import ExtractedPage
from citewell.core.screen import pack_screen
from citewell.ingest.extract.canonical import CanonicalWriter, join_blocks, visible_text
from citewell.ingest.extract.characters import collapse_spaces
from citewell.ingest.extract.html.blocks import BlockRenderer
from citewell.ingest.extract.html.element import HEADING_TAGS, Element
from citewell.ingest.extract.html.left_out_links import left_out_links
from citewell.ingest.extract.html.mail_page import spread_messages
from citewell.ingest.extract.html.main_content import find_main_content
from citewell.ingest.extract.html.metadata import (
    choose_title,
    heading_of_address,
    is_title_of_site,
    read_metadata,
    repeats_title,
    shares_words,
)
from citewell.ingest.extract.html.screen import read_screen
from citewell.ingest.extract.html.tree import parse_document
from citewell.ingest.extract.links import LinkResolver
from citewell.ingest.extract.page_name import name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import FetchedPage, Section
    from citewell.ingest.extract.html.metadata import Metadata


_OPENING_ELEMENTS = 60
_OPENING_SECTIONS = 4
_MAX_NAME_LINE = 300
# "tep_register_comm, tep_override_comm - Manage pid to process name mappings": up to three names.
_MANUAL_NAMES = re.compile(
    r"([\w.:+~-]{3,60}(?:, ?[\w.:+~-]{3,60}){0,2})(?:, ?[\w.:+~-]{3,60})*+\s+[-–—]\s"
)
_TITLE_TAGS = frozenset({"div", "p", "center"})
_OPENING_BLOCKS = 8
_CLOSING_BLOCKS = 6
_LONG_BLOCK_CHARACTERS = 80
_STRUCTURE = ("#", "- ", "1. ", "|", "```", "![", "$$", ">", "**", "ℹ️", "⚠️")
_SENTENCE = re.compile(r"[.!?…:][\"'”’»)\]*]*(?:\s+[^\Wa-z]|$)|[。！？]")


_DATELINE = re.compile(
    r"(?:(?:first |last )?(?:published|updated|posted|modified)|veröffentlicht|aktualisiert|stand)"
    r"\b.*\d|\d{1,2}[./]\d{1,2}[./]\d{4}\b|\d{1,2} [A-Za-zéûäç]{3,9}\.? \d{4}\b"
    r"|[A-Z][a-z]{2,8} \d{1,2}, \d{4}\b|\d{4}-\d\d-\d\d\b|\d{4}年\d{1,2}月\d{1,2}日",
    re.IGNORECASE,
)


def extract_html(fetched: FetchedPage) -> ExtractedPage:
    """Return the main content of an HTML page.

    Raises:
        EmptyPage: no text that a reader could see.
    """
    document = parse_document(fetched.text, is_rendered=fetched.rendered)
    screen = pack_screen(read_screen(document.body))
    document = spread_messages(document, fetched.text)
    metadata = read_metadata(document.parsed)
    links = LinkResolver(fetched.final_url, base_href=metadata.base_href)
    writer = CanonicalWriter()
    content = find_main_content(document, links)
    is_site_title = _is_site_title(metadata, content.element)
    named = _make_title_a_heading(content.element, "" if is_site_title else metadata.title)
    renderer = BlockRenderer(
        writer, links, listed=content.listed_links, has_captions=not content.is_article
    )
    blocks = renderer.blocks(content.element)
    if content.is_article:
        blocks = without_bylines(blocks)
    canonical = writer.finish(join_blocks(blocks))
    if not canonical.text.strip():
        raise EmptyPage(f"{fetched.final_url} holds no readable text")
    further = left_out_links(document, content, canonical, links)
    title = _title_of(
        metadata,
        canonical.sections,
        named or _manual_name(canonical.text, canonical.sections, metadata.title),
        fetched.final_url,
        is_article=content.is_article,
        is_site_title=is_site_title,
    )
    return ExtractedPage(
        title=title or name_of(fetched.final_url),
        text=canonical.text,
        kind="html",
        language=detect_language(canonical.text),
        sections=canonical.sections,
        links=canonical.links + further,
        images=canonical.images,
        canonical_url=links.resolve(metadata.canonical_href),
        description=metadata.description,
        published_at=metadata.published_at,
        modified_at=metadata.modified_at,
        author=metadata.author,
        structured_data=metadata.structured_data,
        screen=screen,
    )


def _title_of(
    metadata: Metadata,
    sections: Sequence[Section],
    named: str,
    url: str,
    *,
    is_article: bool,
    is_site_title: bool,
) -> str:
    """Return the page's own name, followed by the window's title where that is the whole site's.

    `named` is the line that the page calls its title, or "".
    """
    headings = [section.heading for section in sections if section.level == 1]
    subheadings = [section.heading for section in sections if section.level == 2]
    all_headings = [section.heading for section in sections if section.heading]
    first = next(iter(all_headings), "")
    own = named
    if not named and not is_article:
        if is_site_title or is_title_of_site(metadata.title, all_headings, url):
            own = first
        elif first == metadata.title or (
            len(headings) > 1 and repeats_title(headings[0], metadata.title)
        ):
            # Over further headings, the title may be that of the site on every page.
            own = heading_of_address(all_headings, url)
    if own and metadata.title and not shares_words(own, metadata.title):
        return f"{own} – {metadata.title}"
    chosen = choose_title(metadata, headings, subheadings=subheadings, is_article=is_article)
    return named or chosen or first


def _manual_name(text: str, sections: Sequence[Section], title: str) -> str:
    """Return what a manual page says it is about, where its title is that of a whole library."""
    name = next((each for each in sections[:_OPENING_SECTIONS] if each.heading == "NAME"), None)
    if name is None:
        return ""
    body = visible_text(text[name.start : name.end]).partition("NAME")[2].lstrip()
    names = _MANUAL_NAMES.match(body[:_MAX_NAME_LINE])
    first = names.group(1).partition(",")[0].lower() if names is not None else ""
    return names.group(1) if names is not None and first not in title.lower() else ""


def _is_site_title(metadata: Metadata, root: Element) -> bool:
    """Return whether the heading that the title repeats was taken out, with a menu."""
    return root.find("h1") is None and any(
        repeats_title(heading, metadata.title) for heading in metadata.headings
    )


def _make_title_a_heading(root: Element, title: str) -> str:
    """Make the line that repeats the page's title its heading, where it stands before any other.

    So is one whose class says that it is the title, whose words are returned; "" for none.
    """
    is_first = True
    for _, element in zip(range(_OPENING_ELEMENTS), root.walk(), strict=False):
        is_first = is_first and element.tag not in HEADING_TAGS
        if element.tag not in _TITLE_TAGS or element.has_block:
            continue
        words = collapse_spaces(element.text_start(_LONG_BLOCK_CHARACTERS))
        if not 3 <= len(words) <= _LONG_BLOCK_CHARACTERS:
            continue
        is_named = _is_named_title(element, root)
        if is_named or (is_first and title and repeats_title(words, title)):
            element.tag = "h1"
            return words if is_named else ""
    return ""


def _is_named_title(element: Element, root: Element) -> bool:
    """Return whether a line is called the title, in a header, on a page without a first heading.

    Doxygen's is the title whatever else has a heading: a site's name, or a chapter of the page.
    """
    around = element.parent.names if element.parent is not None else ""
    is_named = element.has_class("title") and "header" in around and element.find("a") is None
    return is_named and (" headertitle " in around or root.find("h1") is None)


def without_bylines(blocks: list[str]) -> list[str]:
    """Return an article's blocks without the labels before its first and after its last sentence.

    Dates, names, "back to the list": short lines that are no sentences.
    """
    opening = [block for block in blocks[:_OPENING_BLOCKS] if not _is_dateline(block)]
    blocks = opening + blocks[_OPENING_BLOCKS:]
    kept: list[str] = []
    for at, block in enumerate(blocks):
        words = visible_text(block)
        if _reads_like_text(words) or at >= _OPENING_BLOCKS:
            kept.extend(blocks[at:])
            break
        if not words or words.startswith(_STRUCTURE):
            kept.append(block)
    else:
        # Nothing reads like a sentence: a page of short lines is kept whole.
        return blocks
    return _without_closing_labels(kept)


def _is_dateline(block: str) -> bool:
    words = visible_text(block)
    return len(words) < _LONG_BLOCK_CHARACTERS and bool(_DATELINE.match(words))


def _without_closing_labels(blocks: list[str]) -> list[str]:
    end = len(blocks)
    while end > max(len(blocks) - _CLOSING_BLOCKS, 1):
        words = visible_text(blocks[end - 1])
        is_heading = words.startswith("#") and "\n" not in blocks[end - 1]
        if not is_heading and (_reads_like_text(words) or words.startswith(_STRUCTURE)):
            break
        end -= 1
    return blocks[:end]


def _reads_like_text(words: str) -> bool:
    return len(words) >= _LONG_BLOCK_CHARACTERS or bool(_SENTENCE.search(words))
