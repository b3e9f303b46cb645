"""What the addresses and forms of the library say: lists in an order, drafts, chosen entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args
from urllib.parse import urlencode, urlsplit, urlunsplit

from citewell.core.errors import InvalidArgument
from citewell.core.library import (
    CrawlOptions,
    CrawlScope,
    PageOrder,
    PageQuery,
    WebsiteDraft,
    WebsiteOrder,
    WebsiteQuery,
    WebsiteStatus,
)
from citewell.server.console.door import complete_url, read_form
from citewell.server.console.reader import parse_number
from citewell.tools.webapp import library

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request

LIBRARY = "/library"
MOST_LISTED = 200
"""The pages of a preview that can be left out of the crawl one by one."""

# One that begins with a minus is descending.
WEBSITE_ORDERS = ("-fetch_timestamp", "fetch_timestamp", "url", "-url", "status")
PAGE_ORDERS = ("title", "-title", "url", "-url", "-fetched", "fetched", "-size", "size")

_DAY_SECONDS = 86_400.0
SCHEDULES: dict[str, float | None] = {
    "never": None,
    "day": _DAY_SECONDS,
    "week": 7 * _DAY_SECONDS,
    "month": 30 * _DAY_SECONDS,
}


def read_website_query(request: Request) -> WebsiteQuery:
    """Return which websites the address asks for."""
    asked = request.query_params
    status, order = asked.get("status", ""), asked.get("order", WEBSITE_ORDERS[0])
    page = parse_number(asked.get("page", "")) or 1
    name = order.removeprefix("-")
    return WebsiteQuery(
        status=next((known for known in get_args(WebsiteStatus) if known == status), None),
        matching=asked.get("filter", "").strip()[:200] or None,
        order_by=next(
            (known for known in get_args(WebsiteOrder) if known == name), "fetch_timestamp"
        ),
        descending=order.startswith("-"),
        limit=library.WEBSITES_AT_ONCE,
        offset=(max(page, 1) - 1) * library.WEBSITES_AT_ONCE,
    )


def read_page_query(request: Request) -> PageQuery:
    """Return which pages the address asks for."""
    asked = request.query_params
    order, page = asked.get("order", ""), parse_number(asked.get("page", "")) or 1
    name = order.removeprefix("-")
    return PageQuery(
        matching=asked.get("filter", "").strip()[:200] or None,
        order_by=next((known for known in get_args(PageOrder) if known == name), "title"),
        descending=order.startswith("-"),
        limit=library.PAGES_AT_ONCE,
        offset=(max(page, 1) - 1) * library.PAGES_AT_ONCE,
    )


def shown_order(query: WebsiteQuery | PageQuery) -> str:
    """Return the order of a list as its address names it."""
    return f"-{query.order_by}" if query.descending else query.order_by


def address_of(query: WebsiteQuery, *, page: int) -> str:
    """Return the address of another screen of the same list."""
    values = {
        "filter": query.matching or "",
        "status": query.status or "",
        "order": shown_order(query),
        "page": str(page),
    }
    return f"{LIBRARY}?{urlencode({name: value for name, value in values.items() if value})}"


def read_draft(form: FormData) -> WebsiteDraft:
    """Return the page or site that a form adds.

    Raises:
        InvalidArgument: it names no address.
    """
    url = str(form.get("url", "")).strip()
    if not url:
        raise InvalidArgument("Write the address of a page first.")
    plain = CrawlOptions()
    scope = str(form.get("scope", ""))
    pages = parse_number(str(form.get("max_pages", ""))) or plain.max_pages
    options = CrawlOptions(
        scope=next((known for known in get_args(CrawlScope) if known == scope), plain.scope),
        max_pages=min(max(pages, 1), library.MOST_PAGES),
        include=read_words(form, "include"),
        exclude=(*read_words(form, "exclude"), *_unticked(form)),
    )
    return WebsiteDraft(
        url=complete_url(url),
        kind="site" if form.get("kind") == "site" else "page",
        tags=read_words(form, "tags"),
        options=options,
        refresh_seconds=SCHEDULES.get(str(form.get("schedule", ""))),
    )


def _unticked(form: FormData) -> tuple[str, ...]:
    """Return patterns of the pages of a preview that are not to be read."""
    kept = set(form.getlist("keep"))
    targets = [target for target in str(form.get("listed", "")).split() if target not in kept]
    # A comma would end the pattern when the form is shown again.
    return tuple(target.replace(",", "*") for target in targets)


def target_of(url: str) -> str:
    """Return the path and query of a URL."""
    return urlunsplit(urlsplit(url)._replace(scheme="", netloc="", fragment="")) or "/"


async def read_chosen(request: Request) -> list[int]:
    """Return the ids of the entries that are ticked in a list."""
    form = await read_form(request)
    numbers = (parse_number(str(value)) for value in form.getlist("chosen"))
    chosen = [number for number in numbers if number is not None]
    if not chosen:
        raise InvalidArgument("Tick an entry first.")
    return chosen


def read_words(form: FormData, name: str) -> tuple[str, ...]:
    """Return the words of a field, which spaces or commas part."""
    return tuple(str(form.get(name, "")).replace(",", " ").split())
