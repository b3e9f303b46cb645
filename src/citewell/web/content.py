"""Detect what kind of page a body is, from its Content-Type, URL and first bytes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.core.boundary import label
from citewell.core.errors import UnsupportedContent
from citewell.web.charset_guess import unmarked_utf_16
from citewell.web.urls import shown_url

if TYPE_CHECKING:
    from citewell.core.records import PageKind

_KIND_OF_TYPE: dict[str, PageKind] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/x-rst": "rst",
    "text/prs.fallenstein.rst": "rst",
    "text/restructured": "rst",
    "text/asciidoc": "asciidoc",
    "text/x-asciidoc": "asciidoc",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
    "application/json": "json",
    "text/json": "json",
    "application/x-ndjson": "json",
    "text/xml": "xml",
    "application/xml": "xml",
    "text/plain": "text",
}
_BINARY_TYPES = ("image/", "audio/", "video/", "font/", "application/zip", "application/gzip")
_GZIP_TYPES = frozenset({"application/gzip", "application/x-gzip", "application/octet-stream"})
# As archives of mail keep their months, and packages their manuals.
_GZIPPED_TEXT = re.compile(
    r"\.(?:txt|mbox|x?html?|md|rst|adoc|json|xml|[1-9][a-z]{0,9})\.gz$", re.IGNORECASE
)
_HTML_SUFFIXES = (".html", ".htm", ".xhtml")
_KIND_OF_SUFFIX: dict[str, PageKind] = {
    "md": "markdown",
    "markdown": "markdown",
    "mdx": "markdown",
    "mkd": "markdown",
    "rst": "rst",
    "rest": "rst",
    "adoc": "asciidoc",
    "asciidoc": "asciidoc",
    "asc": "asciidoc",
}
_HTML_START = re.compile(rb"<(?:!doctype\s++html|html|head|body)\b", re.IGNORECASE)
_BEFORE_HTML = ((b"<!--", b"-->"), (b"<?xml", b">"))
"""What may stand before the first tag of HTML, by its beginning and its end."""
_XML_START = re.compile(rb"\s*<(\?xml\s|rss\b|feed\b|urlset\b|sitemapindex\b)", re.IGNORECASE)
_JSON_START = re.compile(rb"\s*[{\[]")
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")
_SNIFFED_BYTES = 1_445
# Control bytes that no text uses; they make up a tenth of compressed data and none of prose.
_CONTROL_BYTES = bytes([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_BINARY_SHARE = 0.05


def is_gzipped_text(url: str) -> bool:
    """Return whether a URL names a file of text that is kept compressed."""
    return _GZIPPED_TEXT.search(urlsplit(url).path) is not None


def refuse_binary_type(content_type: str, *, url: str) -> None:
    """Refuse a body by its header alone, so that a film is not downloaded to be thrown away.

    Raises:
        UnsupportedContent: the type is of pictures, sound, fonts or archives.
    """
    name = _type_name(content_type)
    if name in _GZIP_TYPES and is_gzipped_text(url):
        return
    if name.startswith(_BINARY_TYPES):
        named = label(name)
        raise UnsupportedContent(f"{shown_url(url)} is {named}, not a text", content_type=named)


def page_kind(body: bytes, *, content_type: str, url: str) -> PageKind:
    """Return the kind of a page; what the bytes plainly are outweighs a wrong label.

    Raises:
        UnsupportedContent: the body is binary, or of a type that holds no text.
    """
    refuse_binary_type(content_type, url=url)
    if is_gzipped_text(url):
        # The body is what it unpacks to; its type is that of the file.
        url = url.partition("?")[0].partition("#")[0][: -len(".gz")]
        if _type_name(content_type) in _GZIP_TYPES:
            content_type = "text/html" if url.lower().endswith(_HTML_SUFFIXES) else ""
    start = body[:_SNIFFED_BYTES]
    if start.lstrip().startswith(b"%PDF-"):
        return "pdf"
    name = _type_name(content_type)
    declared = kind_of_type(content_type)
    if declared == "pdf" or _is_binary(start, content_type):
        named = label(name)
        raise UnsupportedContent(
            f"{shown_url(url)} is binary{f' ({named})' if named else ''}", content_type=named
        )
    if declared not in (None, "text", "xml"):
        return declared
    return _sniff(start, declared, url)


def kind_of_type(content_type: str) -> PageKind | None:
    """Return the kind that a Content-Type names, or None where it says nothing."""
    name = _type_name(content_type)
    if name in _KIND_OF_TYPE:
        return _KIND_OF_TYPE[name]
    if name.endswith("+json"):
        return "json"
    if name.endswith("+xml"):
        return "xml"
    return "text" if name.startswith("text/") else None


def type_of_kind(kind: PageKind) -> str:
    """Return the Content-Type that names a kind."""
    return next(name for name, named in _KIND_OF_TYPE.items() if named == kind)


def _sniff(start: bytes, declared: PageKind | None, url: str) -> PageKind:
    unmarked = start
    for mark in _BYTE_ORDER_MARKS:
        unmarked = unmarked.removeprefix(mark)
    if _begins_as_html(unmarked):
        return "html"
    if declared == "xml" or _XML_START.match(unmarked):
        return "xml"
    # Sphinx keeps its sources as `page.rst.txt`.
    suffix = urlsplit(url).path.lower().removesuffix(".txt").rpartition(".")[2]
    if suffix in _KIND_OF_SUFFIX and not unmarked.startswith(b"-----BEGIN PGP"):
        return _KIND_OF_SUFFIX[suffix]
    if declared is None and _JSON_START.match(unmarked):
        return "json"
    return "text"


def _begins_as_html(start: bytes) -> bool:
    rest = start.lstrip()
    while (end := _end_of_preamble(rest)) is not None:
        rest = rest[end:].lstrip()
    return _HTML_START.match(rest) is not None


def _end_of_preamble(start: bytes) -> int | None:
    """Return where the comment or declaration that `start` begins with ends; None without one."""
    for opening, closing in _BEFORE_HTML:
        if start.startswith(opening):
            end = start.find(closing, len(opening))
            return None if end < 0 else end + len(closing)
    return None


def _is_binary(start: bytes, content_type: str) -> bool:
    if start.startswith(_BYTE_ORDER_MARKS) or "utf-16" in content_type.lower():
        return False
    if unmarked_utf_16(start) is not None:
        return False
    controls = len(start) - len(start.translate(None, _CONTROL_BYTES))
    return controls > _BINARY_SHARE * len(start)


def _type_name(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()
