"""An HTML page as canonical Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.errors import EmptyPage
from citewell.core.language import detect_language
from citewell.core.records import ExtractedPage
from citewell.core.screen import RESET, pack_screen
from citewell.ingest.extract.canonical import CanonicalWriter, join_blocks, visible_text
from citewell.ingest.extract.characters import collapse_spaces
from citewell.ingest.extract.html.blocks import BlockRenderer
from citewell.ingest.extract.html.element import BLOCK_TAGS, HEADING_TAGS, Element
from citewell.ingest.extract.html.left_out_links import left_out_links
from citewell.ingest.extract.html.mail_page import spread_messages
from citewell.ingest.extract.html.main_content import find_main_content
from citewell.ingest.extract.html.metadata import parse_metadata
from citewell.ingest.extract.html.navigation_bar import text_outside_links
from citewell.ingest.extract.html.screen import read_screen
from citewell.ingest.extract.html.stray_markup import put_in_place
from citewell.ingest.extract.html.title import choose_title, repeats_title
from citewell.ingest.extract.html.tree import is_sent_as_xml, parse_document
from citewell.ingest.extract.html.widgets import lay_out_widgets
from citewell.ingest.extract.links import LinkResolver
from citewell.ingest.extract.page_name import name_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

    from citewell.core.records import FetchedPage
    from citewell.ingest.extract.html.main_content import MainContent
    from citewell.ingest.extract.html.metadata import Metadata


_OPENING_ELEMENTS = 60
_WRITES_HIDING = re.compile(r"\.([\w-]{1,60})\s{0,9}\{\s{0,9}display:\s{0,9}none")
_SETS_ANCHOR = re.compile(r"\blocation\.hash ?=(?!=)")
_MAX_TITLE_CHARACTERS = 300
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


def _generator(parsed: LexborHTMLParser) -> str:
    named = parsed.css_first("meta[name='generator' i]")
    return (named.attributes.get("content") or "") if named is not None else ""


def _sets_anchor(parsed: LexborHTMLParser) -> bool:
    """Return whether a script inside the page sets its anchor, as those of Qt's do."""
    scripts = (script.text() for script in parsed.css("script"))
    return any("location.hash" in script and _SETS_ANCHOR.search(script) for script in scripts)


def _hidden_names(parsed: LexborHTMLParser) -> tuple[str, ...]:
    """Return the classes that a script hides as the page is opened, as those of old RDoc do."""
    scripts = (script.text() for script in parsed.css("script:not([src])"))
    written = (script for script in scripts if "document.write" in script)
    return tuple(name.lower() for script in written for name in _WRITES_HIDING.findall(script))


def extract_html(fetched: FetchedPage) -> ExtractedPage:
    """Return the main content of an HTML page.

    Raises:
        EmptyPage: no text that a reader could see.
    """
    is_xml = is_sent_as_xml(fetched.final_url)
    document = parse_document(fetched.text, is_rendered=fetched.rendered, is_xml=is_xml)
    screen = read_screen(
        document.body, generator=_generator(document.parsed), hidden=_hidden_names(document.parsed)
    )
    mark = RESET if _sets_anchor(document.parsed) else ""
    metadata = parse_metadata(document.parsed)
    links = LinkResolver(fetched.final_url, base_href=metadata.base_href)
    document = put_in_place(lay_out_widgets(spread_messages(document, fetched.text)), links)
    writer = CanonicalWriter()
    content = find_main_content(document, links)
    _drop_repeated_title(content.element)
    is_site_title = _is_site_title(metadata, content)
    repeated = "" if is_site_title else metadata.title
    named = _make_title_a_heading(content.element, repeated, metadata.site_name)
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
    title = choose_title(
        metadata,
        canonical,
        fetched.final_url,
        named=named,
        is_article=content.is_article,
        is_site_title=is_site_title,
        has_own_headings=content.has_own_headings,
    )
    return ExtractedPage(
        title=title[:_MAX_TITLE_CHARACTERS] or name_of(fetched.final_url),
        window_title=metadata.title,
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
        screen=pack_screen(mark + screen if screen else ""),
    )


def _is_site_title(metadata: Metadata, content: MainContent) -> bool:
    """Return whether the heading that the title repeats was taken out, with a menu or a logo."""
    has_logo = any(element.tag == "h1" for element in content.furniture)
    return (has_logo or content.element.find("h1") is None) and any(
        repeats_title(heading, metadata.title) for heading in metadata.headings
    )


def _drop_repeated_title(root: Element) -> None:
    """Remove a first heading that only says what the next one says, as OpenStack's pages do."""
    opening = zip(range(_OPENING_ELEMENTS), root.walk(), strict=False)
    headings = [element for _, element in opening if element.tag in HEADING_TAGS]
    if len(headings) < 2 or headings[0].tag <= headings[1].tag:
        return
    words, below = (heading.text().replace("¶", "").split() for heading in headings[:2])
    above = "".join(root.text_start(_LONG_BLOCK_CHARACTERS).replace("¶", "").split())
    if words == below and above.startswith(2 * "".join(words)):
        headings[0].remove()


def _make_title_a_heading(root: Element, title: str, site_name: str) -> str:
    """Make the line that repeats the page's title its heading, where it stands before any other.

    So is one whose class says that it is the title, whose words are returned; "" for none.
    """
    has_title = any(e.tag == "h1" and repeats_title(e.text(), title) for e in root.walk())
    is_first = not has_title
    for _, element in zip(range(_OPENING_ELEMENTS), root.walk(), strict=False):
        is_first = is_first and element.tag not in HEADING_TAGS
        # A block below may have been taken out meanwhile.
        has_block = element.has_block and element.find(*BLOCK_TAGS) is not None
        if element.tag not in _TITLE_TAGS or has_block:
            continue
        words = collapse_spaces(element.text_start(_LONG_BLOCK_CHARACTERS))
        if not 3 <= len(words) <= _LONG_BLOCK_CHARACTERS:
            continue
        is_named = _is_named_title(element, root)
        is_repeated = is_first and title and repeats_title(words, title)
        is_site = title != words and site_name.startswith(words)
        if is_named or (is_repeated and not is_site and not _is_site_name(element, words, title)):
            element.tag = "h1"
            return _without_labels(element) if is_named else ""
    return ""


def _is_site_name(element: Element, words: str, title: str) -> bool:
    """Return whether a line is the end of a longer title and only leads to it, as a path does."""
    links = [below for below in element.walk() if below.tag == "a" and below.attribute("href")]
    if len(links) > 1 and not re.search(r"\w", text_outside_links(element)):
        return True
    link = element.find("a")
    is_link = link is not None and collapse_spaces(link.text()) == words
    return is_link and title.endswith(words) and title != words


def _without_labels(title: Element) -> str:
    """Return the words of a title without what Doxygen sets beside them, as "abstract"."""
    words = [c if isinstance(c, str) else c.text() for c in title.children if not _is_label(c)]
    return collapse_spaces("".join(words)).strip()


def _is_label(node: Element | str) -> bool:
    return not isinstance(node, str) and node.has_class("mlabels")


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
