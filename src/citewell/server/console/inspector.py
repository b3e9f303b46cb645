"""`/mcp/debug`: a page that speaks MCP to a server, to list its tools and call them by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from citewell.server.console.screen import Screen

OWN_ENDPOINT = "/mcp"


def inspector_routes(screen: Screen) -> list[Route]:
    """Return the route of the inspector; the page holds no data, so anyone may open it."""

    async def show(request: Request) -> Response:
        asked = request.query_params.get("endpoint", "").strip()
        foreign = asked if is_http_url(asked) else None
        values = {"endpoint": foreign or OWN_ENDPOINT}
        return screen.show(request, "inspector.html", values, connect_to=foreign)

    return [Route("/mcp/debug", show, methods=["GET", "HEAD"])]


def is_http_url(text: str) -> bool:
    """Tell whether scripts can call `text`, and a policy can name its origin in one word."""
    if any(character.isspace() or character in ";,'\"\\" for character in text):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
