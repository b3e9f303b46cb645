"""Every route of the consoles, and what is shown where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from citewell.core.errors import InvalidArgument, NotFound
from citewell.core.frozen import frozen
from citewell.server.compression import Compressed, PackedBodies
from citewell.server.console.ask import ask_routes
from citewell.server.console.body_limit import BodyLimit
from citewell.server.console.citations import citation_routes
from citewell.server.console.desk import desk_routes
from citewell.server.console.door import Door, refuse_json
from citewell.server.console.inspector import inspector_routes
from citewell.server.console.library import IMPORT, MAX_IMPORT_BYTES, library_routes
from citewell.server.console.pages import STATIC, Pages
from citewell.server.console.reader import reader_routes
from citewell.server.console.screen import Screen
from citewell.server.console.sign_in import sign_in_routes
from citewell.server.console.usage import usage_routes

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from citewell.app.parts import OpensParts
    from citewell.core.settings import Settings
    from citewell.server.draining import Draining

# An answer of the greatest length, every character of it escaped in a form.
_MAX_BODY_BYTES = 200_000


class _Number(IntegerConvertor):
    """An id in a path, as `{id:number}`: a larger integer fits no column, so it is no path."""

    regex = "[0-9]{1,18}"


register_url_convertor("number", _Number())


@frozen
class Console:
    """What the application serves of the consoles."""

    routes: list[Route]
    refuse_unserved: Callable[[Request, Exception], Awaitable[Response]]
    """The answer where no route is, or none that takes the method."""


def build_console(app: OpensParts, *, settings: Settings, draining: Draining) -> Console:
    """Return every page of the web app."""
    pages = Pages()
    door = Door(app, settings=settings)
    screen = Screen(pages, can_sign_in=settings.oauth_client_id is not None)

    async def send_file(request: Request) -> Response:
        return pages.send_file(request.path_params["name"])

    async def refuse_unserved(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException), "registered for these alone"
        return _refuse_unserved(request, error, screen)

    routes = [
        *ask_routes(door, screen, app, draining=draining),
        *usage_routes(door, screen),
        *library_routes(door, screen),
        *reader_routes(door, screen),
        *citation_routes(door, screen),
        *desk_routes(door, screen, draining=draining),
        *inspector_routes(screen),
        *sign_in_routes(door, screen),
        Route(f"{STATIC}/{{name}}", send_file, methods=["GET"]),
    ]
    packed = PackedBodies()
    return Console(
        routes=[_bounded(route, packed) for route in routes], refuse_unserved=refuse_unserved
    )


def _bounded(route: Route, packed: PackedBodies) -> Route:
    """Return the route with a limit on what it is sent, and its answers compressed."""
    limit = MAX_IMPORT_BYTES if route.path == IMPORT else _MAX_BODY_BYTES
    bound = [
        Middleware(Compressed, packed),
        Middleware(BodyLimit, max_bytes=limit, max_form_bytes=_MAX_BODY_BYTES),
    ]
    return Route(route.path, route.endpoint, methods=list(route.methods or ()), middleware=bound)


def _refuse_unserved(request: Request, error: HTTPException, screen: Screen) -> Response:
    """Return the console's own page to a browser, JSON to everyone else."""
    known = (
        NotFound("There is no page at this URL.", suggestion="Check the URL.")
        if error.status_code == 404
        else InvalidArgument(f"This address does not take {request.method} requests.")
    )
    if "text/html" in request.headers.get("accept", ""):
        response = screen.refuse(request, known, is_unserved=True)
    else:
        response = refuse_json(request, known)
    response.status_code = error.status_code
    response.headers.update(error.headers or {})
    return response
