"""`/citations`: the quotes that were handed out, and whether their pages still say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from citewell.core.citations import VERDICTS
from citewell.server.console.pages import html_of
from citewell.server.console.reader import parse_number
from citewell.tools.webapp.handed_out import list_handed_out

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from citewell.server.console.door import Door
    from citewell.server.console.screen import Screen
    from citewell.tools.tool import Call

CITATIONS = "/citations"
_MOST_SCREENS = 1_000


def citation_routes(door: Door, screen: Screen) -> list[Route]:
    """Return the route of the list."""

    async def show_citations(request: Request, call: Call) -> Response:
        asked = request.query_params.get("verdict")
        matching = request.query_params.get("q", "").strip()[:200]
        number = parse_number(request.query_params.get("page", "")) or 1
        view = await list_handed_out(
            call,
            verdict=next((verdict for verdict in VERDICTS if verdict == asked), None),
            screen=min(max(number, 1), _MOST_SCREENS) - 1,
            matching=matching or None,
        )
        values = {"view": view, "matching": matching, "verdicts": VERDICTS, "html_of": html_of}
        return screen.show(request, "citations.html", values)

    return [
        Route(CITATIONS, door.guard(show_citations, refuse=screen.refuse), methods=["GET"]),
    ]
