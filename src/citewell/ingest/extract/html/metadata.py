"""What the head of a page says of it: title, description, dates, canonical address, JSON-LD."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from citewell.core.frozen import frozen
from citewell.ingest.extract.characters import clean_plain_text, collapse_spaces
from citewell.ingest.extract.html.microdata import parse_microdata

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborHTMLParser

_MAX_JSON_LD_CHARACTERS = 100_000
_MAX_JSON_LD_OBJECTS = 50
_MAX_TITLE_CHARACTERS = 300
_MAX_DESCRIPTION_CHARACTERS = 1_000
_MAX_AUTHOR_CHARACTERS = 100
_SITE_IN_BRACKETS = re.compile(r" \[[^\[\]]*\]$")
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
# Of a heading, in the title: elements that a browser shows as they are written there.
_MARKUP = re.compile(
    r"</?(?:code|span|em|strong|tt|b|i|sub|sup|cite)(?: [\w-]{1,20}=\"[^\"<>]{0,200}\"){0,9}>"
)
_PUBLISHED = ("article:published_time", "datepublished", "dc.date.issued", "dcterms.created",
              "dc.date", "dcterms.date", "date", "pubdate", "sailthru.date", "parsely-pub-date",
              "citation_publication_date", "publish-date", "og:published_time")  # fmt: skip
_MODIFIED = ("article:modified_time", "og:updated_time", "datemodified", "dcterms.modified",
             "last-modified", "lastmod", "revised")  # fmt: skip


@frozen
class Metadata:
    """What a page says about itself outside its text."""

    title: str
    """Open Graph's title, else that of the window, the site's name included."""
    site_name: str
    headings: tuple[str, ...]
    """Those of the first level, wherever they stand."""
    description: str
    canonical_href: str
    base_href: str
    published_at: str | None
    modified_at: str | None
    author: str
    structured_data: str


def parse_metadata(parsed: LexborHTMLParser) -> Metadata:
    """Return the metadata in the head of a page."""
    meta = _meta_values(parsed)
    objects = [*_json_ld(parsed), *parse_microdata(parsed)]
    return Metadata(
        title=_title(parsed, meta),
        site_name=meta.get("og:site_name", ""),
        headings=_headings(parsed),
        description=_description(meta),
        canonical_href=_href(parsed, "link[rel='canonical' i]"),
        base_href=_href(parsed, "base[href]"),
        published_at=_date(meta, _PUBLISHED, objects, "datePublished") or _time(parsed, "pubdate"),
        modified_at=_date(meta, _MODIFIED, objects, "dateModified"),
        author=_author(parsed, meta),
        structured_data=_as_list(objects),
    )


def _author(parsed: LexborHTMLParser, meta: dict[str, str]) -> str:
    for name in ("author", "article:author", "dc.creator", "parsely-author"):
        # Some sites name a profile page here instead of a person.
        if meta.get(name) and "://" not in meta[name]:
            return meta[name][:_MAX_AUTHOR_CHARACTERS]
    node = parsed.css_first("[rel='author' i]")
    return _words(node.text())[:_MAX_AUTHOR_CHARACTERS] if node is not None else ""


def _meta_values(parsed: LexborHTMLParser) -> dict[str, str]:
    values: dict[str, str] = {}
    for node in parsed.css("meta[content]"):
        attributes = node.attributes
        name = attributes.get("property") or attributes.get("name") or attributes.get("itemprop")
        content = attributes.get("content")
        if name and content and content.strip():
            values.setdefault(name.strip().lower(), collapse_spaces(clean_plain_text(content)))
    return values


def _description(meta: dict[str, str]) -> str:
    for name in ("description", "og:description", "twitter:description"):
        if meta.get(name):
            return meta[name][:_MAX_DESCRIPTION_CHARACTERS]
    return ""


def _headings(parsed: LexborHTMLParser) -> tuple[str, ...]:
    headings = [_words(node.text()) for node in parsed.css("h1")]
    return tuple(heading for heading in headings if heading)


def _title(parsed: LexborHTMLParser, meta: dict[str, str]) -> str:
    node = parsed.css_first("head title") or parsed.css_first("title")
    own = _words(_MARKUP.sub("", node.text())) if node is not None else ""
    if meta.get("generator", "").startswith("DokuWiki"):
        own = _SITE_IN_BRACKETS.sub("", own)
    shared = meta.get("og:title", "")
    if own and shared in (meta.get("og:site_name"), meta.get("application-name")):
        shared = ""
    return (shared or own)[:_MAX_TITLE_CHARACTERS]


def _words(text: str) -> str:
    return collapse_spaces(clean_plain_text(text)).rstrip("¶#§ ").strip()


def _href(parsed: LexborHTMLParser, selector: str) -> str:
    node = parsed.css_first(selector)
    return (node.attributes.get("href") or "").strip() if node is not None else ""


def _date(
    meta: dict[str, str], names: tuple[str, ...], objects: list[dict[str, Any]], key: str
) -> str | None:
    found = [meta[name] for name in names if name in meta]
    found.extend(str(item[key]) for item in objects if isinstance(item.get(key), str))
    for value in found:
        match = _DATE.search(value)
        if match:
            return match.group()
    return None


def _time(parsed: LexborHTMLParser, attribute: str) -> str | None:
    selectors = (f"time[{attribute}]", "[itemprop='datePublished']", "article time[datetime]")
    for selector in selectors:
        node = parsed.css_first(selector)
        if node is None:
            continue
        value = node.attributes.get("datetime") or node.attributes.get("content") or node.text()
        match = _DATE.search(value or "")
        if match:
            return match.group()
    return None


def _json_ld(parsed: LexborHTMLParser) -> Iterator[dict[str, Any]]:
    size = 0
    for node in parsed.css("script[type='application/ld+json']"):
        source = node.text().strip()
        size += len(source)
        if size > _MAX_JSON_LD_CHARACTERS:
            return
        try:
            value = json.loads(source, strict=False)
        except (ValueError, RecursionError):
            continue  # a broken block says nothing; the page's text is still good
        yield from _objects(value)


def _objects(value: object) -> Iterator[dict[str, Any]]:
    items = value if isinstance(value, list) else [value]
    for item in items:
        if not isinstance(item, dict):
            continue
        graph = item.get("@graph")
        if isinstance(graph, list):
            yield from (node for node in graph if isinstance(node, dict))
        else:
            yield item


def _as_list(objects: list[dict[str, Any]]) -> str:
    return clean_plain_text(json.dumps(objects[:_MAX_JSON_LD_OBJECTS], ensure_ascii=False))
