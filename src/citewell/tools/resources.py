"""List and read resources: pages, websites, passages and receipts."""

from __future__ import annotations

import heapq
import re
from typing import TYPE_CHECKING

from citewell.app.content_watch import Subject
from citewell.app.scratch import parse_scratch_uri
from citewell.core.boundary import SUPPLIED, Boundary, label, mark
from citewell.core.errors import InvalidArgument, NotFound, ScopeViolation
from citewell.core.frozen import frozen
from citewell.core.library import WebsiteQuery
from citewell.core.records import SearchFilter
from citewell.core.text import counted
from citewell.core.tokens import truncate_to_tokens
from citewell.store.page_scan import scan_pages
from citewell.tools.kb.passages import open_passage
from citewell.tools.receipts import RECEIPT_SCHEME, receipt_for
from citewell.tools.resource_links import (
    PASSAGES,
    Resource,
    ResourceTemplate,
    describe_page,
    note_supplied,
)
from citewell.tools.scope import check_scope

if TYPE_CHECKING:
    from citewell.app.parts import PartName
    from citewell.core.records import PageInfo, PageOrigin
    from citewell.tools.scope import Scope
    from citewell.tools.tool import Call

MAX_LISTED_PAGES = 50
MAX_URI_CHARACTERS = 200
MAX_SCANNED_PAGES = 20_000
_MAX_LISTED_SITES = 20
_MAX_LISTED_MEMBERS = 500

PAGE_SCHEME = "citewell://page/"
PAGE_TEMPLATE = f"{PAGE_SCHEME}{{source_id}}"
WEBSITE_SCHEME = "citewell://website/"

# Few tokens are longer; cutting here first saves counting the tokens of a long page.
_CHARACTERS_PER_TOKEN = 12

_MAX_RECEIPT_URI_CHARACTERS = 1_000

RESOURCE_NEEDS: tuple[PartName, ...] = ("store", "scratch", "secret")
_STORED_URI = re.compile(r"citewell://(page|website)/([1-9][0-9]{0,14})")


@frozen
class ResourceText:
    """The text of a resource, within the server's limit of one answer."""

    text: str
    mime_type: str


@frozen
class ResourceFile:
    """The bytes of a resource that is not text."""

    data: bytes
    mime_type: str


PAGES = ResourceTemplate(
    name="page",
    title="An indexed page",
    uri_template=PAGE_TEMPLATE,
    description="The Markdown of an indexed page, by the source_id that status and search give.",
    mime_type="text/markdown",
    priority=0.5,
)
WEBSITES = ResourceTemplate(
    name="website",
    title="A website of the library",
    uri_template=f"{WEBSITE_SCHEME}{{source_id}}",
    description="The pages of an added page or site, by the source_id that its tools give.",
    mime_type="text/markdown",
    priority=0.3,
)
RECEIPTS = ResourceTemplate(
    name="receipt",
    title="A receipt of quotes",
    uri_template=f"{RECEIPT_SCHEME}{{citations}}",
    description="A signed WACZ file that proves quotes, by citation ids with commas between them.",
    mime_type="application/wacz",
    priority=0.1,
)
TEMPLATES = (PAGES, WEBSITES, PASSAGES, RECEIPTS)


async def list_resources(call: Call) -> list[Resource]:
    """Return the sites and the most recently fetched pages, newest first."""
    newest = heapq.nlargest(
        MAX_LISTED_PAGES,
        await visible_pages(call),
        key=lambda page: (page.fetched_at, page.source_id),
    )
    return [*await _list_sites(call), *(_page_resource(page) for page in newest)]


async def _list_sites(call: Call) -> list[Resource]:
    scope = check_scope(None, call)
    listed = await call.parts.store.library.list_websites(WebsiteQuery(project=scope.project))
    return [
        Resource(
            uri=f"{WEBSITE_SCHEME}{website.source_id}",
            name=f"website {website.source_id}",
            description=f"{describe_page(website.title, website.url)} "
            f"({counted(website.pages, 'page')})",
            template=WEBSITES,
            last_modified=website.fetched_at or website.updated_at,
        )
        for website in listed.websites
        if website.kind == "site" and scope.holds(website.url, website.tags)
    ][:_MAX_LISTED_SITES]


async def read_resource(uri: str, call: Call) -> ResourceText | ResourceFile:
    """Return the content of a resource; text is cut to the server's limit of one answer.

    Raises:
        NotFound: it is not a URI of Citewell, or names nothing that the caller can see.
    """
    if (stored := _parse_stored(uri)) is not None:
        return await _read_stored(stored, call)
    if uri.startswith(RECEIPT_SCHEME) and len(uri) <= _MAX_RECEIPT_URI_CHARACTERS:
        return await _read_receipt(uri, call)
    if len(uri) > MAX_URI_CHARACTERS or parse_scratch_uri(uri) is None:
        raise _not_found(uri)
    try:
        passage = await open_passage(uri, scope=check_scope(None, call), call=call)
    except ScopeViolation as error:
        raise _not_found(uri) from error
    return ResourceText(
        text=_quoted(passage.text, call, origin=passage.place.origin),
        mime_type=PASSAGES.mime_type,
    )


async def _read_receipt(uri: str, call: Call) -> ResourceFile:
    try:
        receipt = await receipt_for(uri.removeprefix(RECEIPT_SCHEME).split(","), call)
    except InvalidArgument as error:
        raise _not_found(uri) from error
    return ResourceFile(data=receipt.data, mime_type=RECEIPTS.mime_type)


async def visible_pages(call: Call, *, url_prefix: str | None = None) -> list[PageInfo]:
    """Return the pages that the caller can see by rising source_id, MAX_SCANNED_PAGES at most."""
    scope = check_scope(None, call)
    where = SearchFilter(project=scope.project, tags=scope.tags, url_prefix=url_prefix)
    pages: list[PageInfo] = []
    async for page in scan_pages(call.parts.store, where):
        if len(pages) == MAX_SCANNED_PAGES:
            break
        pages.append(page)
    return pages


async def find_subject(uri: str, call: Call) -> Subject:
    """Return the page or website behind a resource, to watch it for changes.

    Raises:
        NotFound: it is not a page or website that the caller can see; no others change.
    """
    subject = _parse_stored(uri)
    if subject is None:
        raise _not_found(uri)
    # Whatever can be read can be watched.
    await _read_stored(subject, call)
    return subject


def _parse_stored(uri: str) -> Subject | None:
    match = _STORED_URI.fullmatch(uri)
    if match is None:
        return None
    return Subject("page" if match[1] == "page" else "website", int(match[2]))


async def _read_stored(subject: Subject, call: Call) -> ResourceText:
    kind, source_id = subject
    scope = check_scope(None, call)
    origin: PageOrigin = "fetched"
    if kind == "website":
        text = await _list_members(source_id, scope, call)
    else:
        page = await call.parts.store.get_page(source_id)
        text = page.text if page is not None and scope.holds_page(page.info) else None
        origin = page.info.origin if page is not None else origin
    if text is None:
        raise _not_found(f"citewell://{kind}/{source_id}")
    return ResourceText(text=_quoted(text, call, origin=origin), mime_type=PAGES.mime_type)


async def _list_members(website_id: int, scope: Scope, call: Call) -> str | None:
    """Return a website with the list of its pages; None if the caller cannot see it."""
    library = call.parts.store.library
    website = await library.get_website(website_id, project=scope.project)
    if website is None or not website.is_entry or not scope.holds(website.url, website.tags):
        return None
    members = await library.list_members(website_id, limit=_MAX_LISTED_MEMBERS)
    lines = [
        f"# {label(website.title) or website.url}",
        f"{website.url} ({website.status}, {counted(website.pages, 'page')}"
        f"{note_supplied(website.origin)})",
        *(
            f"- {label(page.title) or 'Untitled'} — {page.url} ({PAGE_SCHEME}{page.source_id}, "
            f"{_moment_verb(page.origin)} {page.fetched_at.isoformat(timespec='seconds')})"
            for page in members
        ),
    ]
    if website.pages > len(members):
        lines.append(f"and {website.pages - len(members)} more")
    return "\n".join(lines)


def _quoted(text: str, call: Call, *, origin: PageOrigin = "fetched") -> str:
    """Return page text inside the boundary, cut to the server's limit of one answer."""
    head = f"This text was {SUPPLIED}.\n" if origin == "supplied" else ""
    limit = call.settings.mcp_response_token_budget
    cut = truncate_to_tokens(text[: limit * _CHARACTERS_PER_TOKEN], limit)
    if len(cut) >= len(text.rstrip()):
        return Boundary().draw(head + mark(text))
    rest = f"(cut here after {limit:,} tokens: ask search for what is in the rest)"
    return Boundary().draw(f"{head}{mark(cut)}\n\n{rest}")


def _not_found(uri: str) -> NotFound:
    return NotFound(
        f"There is no resource {uri[:MAX_URI_CHARACTERS]!r}.",
        suggestion="Use a URI of resources/list, or one that a kb tool gave in this session.",
    )


def _page_resource(page: PageInfo) -> Resource:
    return Resource(
        uri=f"{PAGE_SCHEME}{page.source_id}",
        name=f"page {page.source_id}",
        description=(
            f"{describe_page(page.title, page.url)} "
            f"({counted(page.tokens, 'token')}{note_supplied(page.origin)})"
        ),
        template=PAGES,
        last_modified=page.fetched_at,
    )


def _moment_verb(origin: PageOrigin) -> str:
    return SUPPLIED if origin == "supplied" else "fetched"
