"""From a fetched page to the response kept beside it, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.records import FetchedPage
from citewell.core.storage import PageResponse
from citewell.web.content import type_of_kind

if TYPE_CHECKING:
    from citewell.core.records import PageInfo
    from citewell.web.body import OpenedBody

_RENDERED = ("citewell-rendered", "true")
_PRIVATE_HEADERS = frozenset({"set-cookie", "set-cookie2"})
_BROWSER_TYPE = "text/html; charset=utf-8"


def response_of(fetched: FetchedPage) -> PageResponse:
    """Return what to keep of a page that was fetched; cookies are not kept."""
    headers = tuple(
        (name, value)
        for name, value in fetched.headers
        if name.lower() not in _PRIVATE_HEADERS and name.lower() != _RENDERED[0]
    )
    # A page made from files has no header that says how it is to be read again.
    sent_type = dict(headers).get("content-type") or type_of_kind(fetched.kind)
    return PageResponse(
        status=fetched.status,
        final_url=fetched.final_url,
        content_type=_BROWSER_TYPE if fetched.rendered else sent_type,
        headers=(_RENDERED,) if fetched.rendered else headers,
        body=fetched.body,
        fetched_at=fetched.fetched_at,
    )


def fetched_from(response: PageResponse, opened: OpenedBody, page: PageInfo) -> FetchedPage:
    """Return a stored page as it was fetched; `opened` is the response's body."""
    return FetchedPage(
        url=page.url,
        final_url=response.final_url,
        status=response.status,
        kind=opened.kind,
        body=response.body,
        text=opened.text,
        encoding=opened.encoding,
        # The site may have said since then that the page has not changed.
        fetched_at=page.fetched_at,
        etag=page.etag,
        last_modified=page.last_modified,
        rendered=_RENDERED in response.headers,
        robots_tag=dict(response.headers).get("x-robots-tag", ""),
        origin=page.origin,
        incomplete=page.incomplete,
        headers=response.headers,
    )
