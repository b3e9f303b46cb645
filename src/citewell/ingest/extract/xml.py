"""XML as canonical Markdown: feeds as headed entries, sitemaps as links, the rest as its text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from citewell.core.errors import EmptyPage
from citewell.core.language import detect_language
from citewell.core.records import ExtractedPage
from citewell.ingest.extract.canonical import CanonicalWriter, join_blocks
from citewell.ingest.extract.characters import clean_plain_text, collapse_spaces
from citewell.ingest.extract.html.fragment import render_fragment
from citewell.ingest.extract.html.page import extract_html
from citewell.ingest.extract.links import LinkResolver, markdown_target
from citewell.ingest.extract.page_name import name_of

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from citewell.core.records import FetchedPage

_TAG = re.compile(r"<[^<>]*>")
_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*+(?:\[(?:[^\]]|\](?!\s*+>))*+\])?+\s*+>")
_LOOKS_LIKE_HTML = re.compile(r"<p\b|<br|<div|<a\s|</|&lt;", re.IGNORECASE)


def _without_document_type(source: str) -> str:
    start = source.find("<!DOCTYPE")
    document_type = _DOCTYPE.match(source, start) if start >= 0 else None
    return source if document_type is None else source[:start] + source[document_type.end() :]


def extract_xml(fetched: FetchedPage) -> ExtractedPage:
    """Return a feed's entries, a sitemap's links or the text of any other XML.

    Raises:
        EmptyPage: there is no text.
    """
    # Entities of a document type could expand without end; nothing here needs them.
    source = _without_document_type(clean_plain_text(fetched.text)).strip()
    try:
        root = ElementTree.fromstring(source)
    except ElementTree.ParseError:
        return _page(fetched, "", [collapse_spaces(_TAG.sub(" ", source))], CanonicalWriter())
    name = _local(root)
    if name == "html":
        return extract_html(fetched)
    writer = CanonicalWriter()
    links = LinkResolver(fetched.final_url)
    if name in ("rss", "feed", "rdf"):
        return _feed(fetched, root, writer, links)
    if name in ("urlset", "sitemapindex"):
        places = [_text(place) for place in root.iter() if _local(place) == "loc"]
        lines = [_link_line(place, place, writer=writer, links=links) for place in places]
        return _page(fetched, "Sitemap", ["\n".join(f"- {line}" for line in lines)], writer)
    paragraphs = [collapse_spaces(text) for text in root.itertext() if text.strip()]
    title = _child_text(root, "title", "name")
    return _page(fetched, title, paragraphs, writer)


def _feed(
    fetched: FetchedPage, root: Element, writer: CanonicalWriter, links: LinkResolver
) -> ExtractedPage:
    channel = next((child for child in root if _local(child) == "channel"), root)
    title = _child_text(channel, "title") or name_of(fetched.final_url)
    about = _child_text(channel, "description", "subtitle")
    blocks = [f"{writer.mark_section(1, title, None)}# {title}", *([about] if about else [])]
    for entry in root.iter():
        if _local(entry) in ("item", "entry"):
            blocks.extend(_entry(entry, writer, links))
    return _page(fetched, title, blocks, writer, description=about)


def _entry(entry: Element, writer: CanonicalWriter, links: LinkResolver) -> list[str]:
    title = _child_text(entry, "title") or "Untitled"
    mark = writer.mark_section(2, title, None)
    blocks = [f"{mark}## {_link_line(title, _entry_link(entry), writer=writer, links=links)}"]
    date = _child_text(entry, "pubdate", "published", "updated", "date")
    if date:
        blocks.append(date)
    body = _child_text(entry, "encoded", "content", "description", "summary", is_html=True)
    if _LOOKS_LIKE_HTML.search(body):
        blocks.extend(render_fragment(body, writer, links))
    elif body:
        blocks.append(collapse_spaces(body))
    return blocks


def _entry_link(entry: Element) -> str:
    for child in entry:
        if _local(child) == "link" and child.get("rel", "alternate") == "alternate":
            return (child.get("href") or child.text or "").strip()
    return ""


def _link_line(text: str, target: str, *, writer: CanonicalWriter, links: LinkResolver) -> str:
    url = links.resolve(target)
    if url is None:
        return text
    return f"{writer.mark_link(url.partition('#')[0], text)}[{text}]({markdown_target(url)})"


def _page(
    fetched: FetchedPage,
    title: str,
    blocks: list[str],
    writer: CanonicalWriter,
    *,
    description: str = "",
) -> ExtractedPage:
    canonical = writer.finish(join_blocks(blocks))
    if not canonical.text.strip():
        raise EmptyPage(f"{fetched.final_url} holds no readable text")
    return ExtractedPage(
        title=title or name_of(fetched.final_url),
        text=canonical.text,
        kind="xml",
        language=detect_language(canonical.text),
        sections=canonical.sections,
        links=canonical.links,
        images=canonical.images,
        description=description,
    )


def _local(element: Element) -> str:
    return str(element.tag).rpartition("}")[2].lower()


def _text(element: Element) -> str:
    return collapse_spaces("".join(element.itertext()))


def _child_text(element: Element, *names: str, is_html: bool = False) -> str:
    """Return the text of the first child with one of the names, in the order of the names."""
    for name in names:
        for child in element:
            if _local(child) != name:
                continue
            if is_html and len(child):
                return "".join(ElementTree.tostring(part, encoding="unicode") for part in child)
            text = "".join(child.itertext())
            if text.strip():
                return text.strip() if is_html else collapse_spaces(_TAG.sub("", text))
    return ""
