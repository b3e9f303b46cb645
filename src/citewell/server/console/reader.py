"""`/read/PAGE#QUOTE`: a stored page as a document, with the quote of the address marked."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse
from starlette.routing import Route

from citewell.core.errors import NotFound
from citewell.server.console.pages import html_of
from citewell.tools.webapp import reader
from citewell.tools.webapp.ask import Asked
from citewell.tools.webapp.fetches import compare_fetches
from citewell.tools.webapp.handed_out import citations_of_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from citewell.core.citations import Citation
    from citewell.server.console.door import Door
    from citewell.server.console.screen import Screen
    from citewell.tools.tool import Call

_DIGITS = 12


def reader_routes(door: Door, screen: Screen) -> list[Route]:
    """Return the routes of the reader."""

    async def show_page(request: Request, call: Call) -> Response:
        source_id = _page_number(request)
        part = parse_number(request.query_params.get("part", ""))
        view = await reader.view_page(
            source_id,
            call,
            part=None if part is None else part - 1,
            quote_id=request.query_params.get("quote"),
        )
        cited = await citations_of_page(source_id, call)
        values = {
            "view": view,
            "html": html_of(view.html),
            "cited": cited,
            "asked": _asked(request, cited),
        }
        return screen.show(request, "page.html", values)

    async def show_changes(request: Request, call: Call) -> Response:
        view = await compare_fetches(
            _page_number(request),
            call,
            one=_parse_moment(request.query_params.get("from", "")),
            other=_parse_moment(request.query_params.get("to", "")),
        )
        return screen.show(request, "fetches.html", {"view": view})

    async def show_under_old_address(request: Request) -> Response:
        return RedirectResponse(f"/read/{request.path_params['id']}", status_code=308)

    return [
        Route("/read/{id}", door.guard(show_page, refuse=screen.refuse), methods=["GET"]),
        Route(
            "/read/{id}/changes", door.guard(show_changes, refuse=screen.refuse), methods=["GET"]
        ),
        Route("/page/{id:number}", show_under_old_address, methods=["GET"]),
    ]


def _asked(request: Request, cited: Sequence[Citation]) -> Asked | None:
    """Return the question that led to the page: that of the address, or of the quote it names."""
    query = request.query_params
    if query.get("q"):
        urls = tuple(query.getlist("url"))
        return Asked(question=query["q"], urls=urls, site=query.get("site", ""))
    quote = query.get("quote")
    of_quote = (citation.question for citation in cited if citation.citation_id == quote)
    question = next(filter(None, of_quote), None)
    return Asked(question=question) if question else None


def _page_number(request: Request) -> int:
    source_id = parse_number(request.path_params["id"])
    if source_id is None:
        raise NotFound("There is no such page.", suggestion="Go back to the list of pages.")
    return source_id


def _parse_moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def parse_number(text: str) -> int | None:
    """Return the number that an address holds; None when it is not one."""
    is_number = text.isascii() and text.isdigit() and len(text) <= _DIGITS
    return int(text) if is_number else None
