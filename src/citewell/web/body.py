"""From the bytes of an answer to the text of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from citewell.core.errors import EmptyPage
from citewell.web.charset import decode_body
from citewell.web.content import page_kind
from citewell.web.meta_refresh import refresh_of_page
from citewell.web.nesting import refuse_deep_nesting
from citewell.web.urls import shown_url

if TYPE_CHECKING:
    from citewell.core.records import PageKind


class OpenedBody(NamedTuple):
    """What the bytes of a page are."""

    kind: PageKind
    text: str
    """Empty for PDF."""
    encoding: str
    onward: str | None
    """Where the page sends its reader on to, as it is written."""


def open_body(body: bytes, content_type: str, url: str) -> OpenedBody:
    """Return the kind and the text of a body; takes a second for the largest.

    Raises:
        EmptyPage: it holds nothing but space.
        UnsupportedContent: it is binary, or nested too deeply.
    """
    if not body.strip():
        raise EmptyPage(f"{shown_url(url)} answers with an empty body")
    kind = page_kind(body, content_type=content_type, url=url)
    if kind == "pdf":
        return OpenedBody(kind, "", "utf-8", None)
    decoded = decode_body(body, content_type=content_type, kind=kind)
    onward = None
    if kind == "html":
        refuse_deep_nesting(decoded.text, url=url)
        onward = refresh_of_page(decoded.text, url=url)
    return OpenedBody(kind, decoded.text, decoded.encoding, onward)
