"""What the head of a page says of it: title, description, dates, canonical address, JSON-LD."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from citewell.core.frozen import frozen
from citewell.ingest.extract.characters import clean_plain_text, collapse_spaces
from citewell.ingest.extract.html.microdata import read_microdata

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selectolax.lexbor import LexborHTMLParser

_MAX_JSON_LD_CHARACTERS = 100_000
_MAX_JSON_LD_OBJECTS = 50
_MAX_TITLE_CHARACTERS = 300
_MAX_DESCRIPTION_CHARACTERS = 1_000
_MAX_AUTHOR_CHARACTERS = 100
_DASHES = "|–—·•»:-"
_TITLE_SEPARATOR = re.compile(rf"(?<!\s)\s++(?:[{_DASHES}]\s++|[|»]\s*+)|[|»]\s*+")
_LEAST_TITLE_CHARACTERS = 3
_UNTITLED = ("<no title>", "Untitled")
_NO_TITLE = re.compile(
    r"\W*(?:name|synopsis|(?:table of )?contents|index|summary|abstract|note)\W*", re.IGNORECASE
)
# Without such a word, what follows a dash may be the page and what precedes it the site.
_SITE = re.compile(
    r"\b(?:docs?|documentation|manual|reference|guide|handbook|wiki)\b", re.IGNORECASE
)
_SITE_IN_BRACKETS = re.compile(r" \[[^\[\]]*\]$")
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
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


def read_metadata(parsed: LexborHTMLParser) -> Metadata:
    """Read the head of a page."""
    meta = _meta_values(parsed)
    objects = [*_json_ld(parsed), *read_microdata(parsed)]
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


def choose_title(
    metadata: Metadata,
    headings: list[str],
    *,
    subheadings: Sequence[str] = (),
    is_article: bool = False,
) -> str:
    """Return the page's own name: the heading that its title repeats, or that title.

    `headings` are those of the first level in the main content, `subheadings` those of the second.
    A heading that only repeats the end or the middle of the title names the site; so does one that
    only repeats its start where a later heading is the end.
    """
    title = metadata.title
    if title.startswith(_UNTITLED):
        return next(iter(headings), "")[:_MAX_TITLE_CHARACTERS]
    if not title:
        return next(iter(headings or metadata.headings), "")[:_MAX_TITLE_CHARACTERS]
    parts = [_plain(part) for part in _TITLE_SEPARATOR.split(title)]
    whole = _plain(title)
    candidates = [h for h in (*headings, *metadata.headings) if len(h) >= _LEAST_TITLE_CHARACTERS]
    ranked = [
        (_plain(heading) != whole and _plain(heading) in parts[1:], place)
        for place, heading in enumerate(candidates)
        if _names(_plain(heading), parts, whole)
    ]
    if ranked:
        names_site, place = min(ranked)
        if not names_site:
            own = candidates[ranked[0][1]]
            if own in headings and candidates[place] not in headings:
                # The title begins with the site's name, which stands over every page's content.
                return own
            # Outside the main content the end of a title is the site's name.
            further = (*headings[place + 1 :], *subheadings)
            return _own_heading(candidates[place], further, parts) or candidates[place]
    is_vague = len(title.split()) == 1 and "." not in title
    if is_vague and len(headings) == 1 and not ranked and not is_article:
        return headings[0]
    return _without_site_name(title, metadata.site_name, is_article=is_article)


def _own_heading(heading: str, further: Sequence[str], parts: list[str]) -> str | None:
    """Return the later heading that ends a title which begins with the name of the site."""
    if len(parts) < 2 or not "".join(parts[:-1]).startswith(_plain(heading)):
        return None
    return next((each for each in further if _plain(each) == parts[-1]), None)


def repeats_title(words: str, title: str) -> bool:
    """Return whether a line of a page is what its title begins with or consists of."""
    parts = [_plain(part) for part in _TITLE_SEPARATOR.split(title)]
    return _names(_plain(words), parts, _plain(title))


def shares_words(line: str, title: str) -> bool:
    """Return whether most words of a line are in a title."""
    words = re.findall(r"\w+", line.lower())
    known = set(re.findall(r"\w+", title.lower()))
    return 2 * sum(word in known for word in words) > len(words)


def is_title_of_site(title: str, headings: Sequence[str], url: str) -> bool:
    """Return whether a title has no word of the page's address, nor of its headings.

    A first heading with a word of the address names the page even if it repeats the site's name.
    """
    heading = next(iter(headings), "")
    if title[:1].isdecimal():
        # The number of a chapter.
        return False
    name = _long_words(_name_in_address(url))
    words, of_title = _long_words(heading), _long_words(title)
    if not name or not words or _NO_TITLE.fullmatch(heading) or name & of_title:
        return False
    if words & name:
        return not shares_words(heading, title)
    return not any(of_title & _long_words(each) for each in headings)


def heading_of_address(headings: Sequence[str], url: str) -> str:
    """Return the heading that has the last word of the page's address, or ""."""
    words = re.findall(r"[^\W\d_]{3,}", _name_in_address(url).lower())
    if not words:
        return ""
    return next((each for each in headings if words[-1] in re.findall(r"\w+", each.lower())), "")


def _name_in_address(url: str) -> str:
    """Return the last part of a path, without the ending of a file."""
    path = re.sub(r"(?:/(?:index|default))?\.\w{2,5}$", "", url.partition("?")[0].partition("#")[0])
    return path.rstrip("/").rpartition("/")[2]


def _long_words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{4,}", text.lower()))


def _names(heading: str, parts: list[str], whole: str) -> bool:
    """Return whether a title repeats the heading, not only a word of it."""
    if not heading or heading not in whole:
        return False
    return heading in parts or whole.startswith(heading) or 2 * len(heading) >= len(whole)


def _plain(words: str) -> str:
    return "".join(re.findall(r"\w+", words.lower()))


def _without_site_name(title: str, site_name: str, *, is_article: bool) -> str:
    if site_name:
        name = re.escape(site_name)
        pattern = rf"[{_DASHES}]\s*+{name}$|^{name}\s*+[{_DASHES}]\s*+"
        stripped = re.sub(pattern, "", title).rstrip()
        if stripped and stripped != title:
            return stripped
    parts = _TITLE_SEPARATOR.split(title)
    if len(parts) == 1:
        return title
    # The site's name is the short part at the end; a short part at the start may be the subject.
    kept = title[: title.rfind(parts[-1])].rstrip(f" {_DASHES}")
    if _SITE.search(parts[0]) and not _SITE.search(parts[-1]):
        # The site's name comes first.
        return title
    is_site = is_article or title[len(kept) :].strip()[0] in "|»" or _SITE.search(parts[-1])
    return kept if is_site and len(parts[-1].split()) <= 5 and len(kept) >= 4 else title


def _headings(parsed: LexborHTMLParser) -> tuple[str, ...]:
    headings = [_words(node.text()) for node in parsed.css("h1")]
    return tuple(heading for heading in headings if heading)


def _title(parsed: LexborHTMLParser, meta: dict[str, str]) -> str:
    node = parsed.css_first("head title") or parsed.css_first("title")
    own = _words(node.text()) if node is not None else ""
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
