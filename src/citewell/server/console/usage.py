"""`/mcp/console/usage`: what keys have used."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from citewell.app.usage import shown_key, usage_csv
from citewell.server.console.door import refuse_json
from citewell.server.console.pages import guard_headers
from citewell.tools.webapp.usage import list_usage

if TYPE_CHECKING:
    from starlette.requests import Request

    from citewell.server.console.door import Door
    from citewell.server.console.screen import Screen
    from citewell.tools.registry import Call

USAGE = "/mcp/console/usage"


def usage_routes(door: Door, screen: Screen) -> list[Route]:
    """Return the routes of the usage."""
    pages = UsagePages(screen)
    return [
        Route(USAGE, door.guard(pages.show_usage, refuse=screen.refuse), methods=["GET"]),
        Route(f"{USAGE}.csv", door.guard(send_usage, refuse=refuse_json), methods=["GET"]),
    ]


class UsagePages:
    """The page of the usage."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    async def show_usage(self, request: Request, call: Call) -> Response:
        """Show what keys have used in a month."""
        month = request.query_params.get("month") or None
        values = {
            "usage": await list_usage(call, month=month),
            "month": month or f"{datetime.now(UTC):%Y-%m}",
            "shown_key": shown_key,
        }
        return self._screen.show(request, "usage.html", values)


async def send_usage(request: Request, call: Call) -> Response:
    """Send what keys have used in a month as CSV."""
    month = request.query_params.get("month") or None
    totals = await list_usage(call, month=month)
    headers = {**guard_headers(), "Content-Disposition": 'attachment; filename="usage.csv"'}
    return Response(usage_csv(totals), media_type="text/csv", headers=headers)
