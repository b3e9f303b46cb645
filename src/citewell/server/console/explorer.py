"""`/library`: what is indexed; the jobs and the usage."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import anyio
from starlette.responses import Response
from starlette.routing import Route

from citewell.app.usage import shown_key, usage_csv
from citewell.core.errors import ToolTimeout
from citewell.server.console.door import refuse_json
from citewell.server.console.pages import guard_headers
from citewell.server.console.reader import read_number
from citewell.tools import explorer
from citewell.tools.webapp.ask import count_corpus

if TYPE_CHECKING:
    from starlette.requests import Request

    from citewell.server.console.door import Door
    from citewell.server.console.screen import Screen
    from citewell.tools.registry import Call

JOBS = "/mcp/console/jobs"
USAGE = "/mcp/console/usage"


def explorer_routes(door: Door, screen: Screen) -> list[Route]:
    """Return the routes of the explorer."""
    pages = ExplorerPages(screen)
    return [
        Route("/library", door.guard(pages.show_corpus, refuse=screen.refuse), methods=["GET"]),
        Route(JOBS, door.guard(pages.show_jobs, refuse=screen.refuse), methods=["GET"]),
        Route(USAGE, door.guard(pages.show_usage, refuse=screen.refuse), methods=["GET"]),
        Route(f"{USAGE}.csv", door.guard(send_usage, refuse=refuse_json), methods=["GET"]),
    ]


class ExplorerPages:
    """The pages of the explorer."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    async def show_corpus(self, request: Request, call: Call) -> Response:
        """Show what is indexed."""
        after = read_number(request.query_params.get("after", "")) or 0
        seconds = call.settings.mcp_tool_timeout
        with anyio.move_on_after(seconds) as limit:
            stats = await count_corpus(call)
            values = {
                "stats": stats,
                "pages": await explorer.list_pages(call, after_source_id=after),
                "after": after,
                "pages_at_once": explorer.PAGES_AT_ONCE,
                "jobs": await explorer.list_jobs(call),
                "usage": await explorer.list_usage(call),
            }
        if limit.cancelled_caught:
            raise ToolTimeout(f"The search took more than {seconds:g} seconds.")
        return self._screen.show(request, "explorer.html", values)

    async def show_jobs(self, request: Request, call: Call) -> Response:
        """Show the background work; the explorer's script asks for it again and again."""
        return self._screen.show(request, "jobs.html", {"jobs": await explorer.list_jobs(call)})

    async def show_usage(self, request: Request, call: Call) -> Response:
        """Show what keys have used in a month."""
        month = request.query_params.get("month") or None
        values = {
            "usage": await explorer.list_usage(call, month=month),
            "month": month or f"{datetime.now(UTC):%Y-%m}",
            "shown_key": shown_key,
        }
        return self._screen.show(request, "usage.html", values)


async def send_usage(request: Request, call: Call) -> Response:
    """Send what keys have used in a month as CSV."""
    month = request.query_params.get("month") or None
    totals = await explorer.list_usage(call, month=month)
    headers = {**guard_headers(), "Content-Disposition": 'attachment; filename="usage.csv"'}
    return Response(usage_csv(totals), media_type="text/csv", headers=headers)
