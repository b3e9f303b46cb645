"""Every route of the consoles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.middleware import Middleware
from starlette.routing import Route

from citewell.server.console.desk import desk_routes
from citewell.server.console.door import Door
from citewell.server.console.explorer import explorer_routes
from citewell.server.console.inspector import inspector_routes
from citewell.server.console.pages import STATIC, Pages
from citewell.server.console.screen import Screen

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from citewell.core.settings import Settings
    from citewell.server.draining import Draining
    from citewell.server.late_services import LateServices

# An answer of the greatest length, every character of it escaped in a form.
_MAX_BODY_BYTES = 200_000


def console_routes(
    services: LateServices, *, settings: Settings, draining: Draining
) -> list[Route]:
    """Return the routes of the explorer, the desk's two consoles and the inspector."""
    pages = Pages()
    door = Door(services, settings=settings)
    screen = Screen(pages, door)

    async def send_file(request: Request) -> Response:
        return pages.send_file(request.path_params["name"])

    routes = [
        *explorer_routes(door, screen),
        *desk_routes(door, screen, draining=draining),
        *inspector_routes(screen),
        Route(f"{STATIC}/{{name}}", send_file, methods=["GET"]),
    ]
    bounded = [Middleware(RequestBodyLimitMiddleware, max_body_size=_MAX_BODY_BYTES)]
    return [
        Route(route.path, route.endpoint, methods=list(route.methods or ()), middleware=bounded)
        for route in routes
    ]
