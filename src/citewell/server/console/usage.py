"""`/mcp/console/usage`, `…/calls` and `…/keys`: what keys have used, the log, and the keys."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, get_args

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from citewell.app.usage import shown_key, usage_csv
from citewell.core.errors import InvalidArgument
from citewell.core.identity import AccessScope, CallQuery
from citewell.server.console.door import read_form, refuse_json, status_of
from citewell.server.console.pages import guard_headers
from citewell.server.console.reader import parse_number
from citewell.tools.toolsets import Toolset
from citewell.tools.webapp import keys
from citewell.tools.webapp.usage import (
    CALLS_AT_ONCE,
    list_calls,
    list_months,
    list_usage,
    view_usage,
)

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request

    from citewell.server.console.door import Door, Handler
    from citewell.server.console.screen import Screen
    from citewell.tools.tool import Call

USAGE = "/mcp/console/usage"
CALLS = "/mcp/console/calls"
KEYS = "/mcp/console/keys"

# A hundred years.
_MOST_DAYS = 36_500
_MOST_HOURS = 24 * 90
_TOOLSETS = frozenset(get_args(Toolset))


def usage_routes(door: Door, screen: Screen) -> list[Route]:
    """Return the routes of the usage, the log of calls and the keys."""
    pages = UsagePages(screen)

    def page(path: str, handler: Handler, method: str = "GET") -> Route:
        return Route(path, door.guard(handler, refuse=screen.refuse), methods=[method])

    return [
        page(USAGE, pages.show_usage),
        Route(f"{USAGE}.csv", door.guard(send_usage, refuse=refuse_json), methods=["GET"]),
        page(CALLS, pages.show_calls),
        page(KEYS, pages.show_keys),
        page(KEYS, pages.make_key, "POST"),
        page(f"{KEYS}/{{name:path}}/rotate", pages.rotate_key, "POST"),
        page(f"{KEYS}/{{name:path}}/rotate", pages.return_to_keys),
        page(f"{KEYS}/{{name:path}}/revoke", pages.revoke_key, "POST"),
    ]


class UsagePages:
    """The pages of the usage and of the keys."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    async def show_usage(self, request: Request, call: Call) -> Response:
        """Show what keys have used in a month, by day, key, user and tool."""
        month = request.query_params.get("month") or f"{datetime.now(UTC):%Y-%m}"
        values = {
            "usage": await list_usage(call, month=month),
            "view": await view_usage(call, month=month),
            "month": month,
            "months": await list_months(call, shown=month),
            "shown_key": shown_key,
        }
        return self._screen.show(request, "usage.html", values)

    async def show_calls(self, request: Request, call: Call) -> Response:
        """Show the log of calls, newest first."""
        asked = request.query_params
        query = CallQuery(
            month="all",
            before=parse_number(asked.get("before", "")),
            only_failed=asked.get("failed") == "1",
        )
        values = {
            "calls": await list_calls(call, query),
            "query": query,
            "at_once": CALLS_AT_ONCE,
        }
        return self._screen.show(request, "calls.html", values)

    async def show_keys(self, request: Request, call: Call) -> Response:
        """Show the keys and the form for a new one."""
        return await self._show_keys(request, call, None)

    async def make_key(self, request: Request, call: Call) -> Response:
        """Make the key of the form and show it, this once; a form that cannot be taken stays."""
        form = await read_form(request)
        scope = str(form.get("scope", ""))
        try:
            made = await keys.make_key(
                call,
                str(form.get("name", "")),
                scope=next((known for known in get_args(AccessScope) if known == scope), "read"),
                monthly_units=_number(form, "monthly_units", most=10**12),
                days=_number(form, "days", most=_MOST_DAYS),
                project=str(form.get("project", "")).strip() or None,
                toolsets=frozenset(map(str, form.getlist("toolsets"))) & _TOOLSETS or None,
            )
        except InvalidArgument as error:
            return await self._show_keys(request, call, None, refused=form, error=error)
        return await self._show_keys(request, call, made)

    async def rotate_key(self, request: Request, call: Call) -> Response:
        """Replace a key by a new one and show it, this once."""
        form = await read_form(request)
        hours = _number(form, "keep_old_hours", most=_MOST_HOURS) or 0
        made = await keys.replace_token(call, request.path_params["name"], keep_old_hours=hours)
        return await self._show_keys(request, call, made)

    async def return_to_keys(self, request: Request, call: Call) -> Response:
        """Lead a reload of the page that showed a new key to the keys."""
        return RedirectResponse(KEYS, status_code=303, headers=guard_headers())

    async def revoke_key(self, request: Request, call: Call) -> Response:
        """End a key."""
        await keys.end_key(call, request.path_params["name"])
        return RedirectResponse(KEYS, status_code=303, headers=guard_headers())

    async def _show_keys(
        self,
        request: Request,
        call: Call,
        made: keys.NewKey | None,
        *,
        refused: FormData | None = None,
        error: InvalidArgument | None = None,
    ) -> Response:
        values: dict[str, object] = {
            "keys": await keys.list_keys(call),
            "made": made,
            # Once the first key exists, its maker is locked out until the browser uses it.
            "is_shut_out": made is not None and call.caller.key_hash is None,
            "filled": refused or {},
            "error": error,
            "scopes": get_args(AccessScope),
            "toolsets": sorted(_TOOLSETS),
        }
        status = 200 if error is None else status_of(error)
        return self._screen.show(request, "keys.html", values, status=status)


async def send_usage(request: Request, call: Call) -> Response:
    """Send what keys have used in a month as CSV."""
    month = request.query_params.get("month") or None
    totals = await list_usage(call, month=month)
    headers = {**guard_headers(), "Content-Disposition": 'attachment; filename="usage.csv"'}
    return Response(usage_csv(totals), media_type="text/csv", headers=headers)


def _number(form: FormData, name: str, *, most: int) -> int | None:
    """Return the number of a field; None when it is empty."""
    text = str(form.get(name, "")).strip()
    if not text:
        return None
    number = parse_number(text)
    if number is None or number > most:
        raise InvalidArgument(f"{name} must be a number up to {most:,}")
    return number
