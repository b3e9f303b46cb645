"""`/mcp/debug`: a page that speaks MCP to a server, to list its tools and call them by hand."""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.routing import Route

from citewell.tools.catalog import ALL_TOOLS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from citewell.server.console.screen import Screen

OWN_ENDPOINT = "/mcp"

# What a policy can name: no wildcard, no quote, nothing that ends the directive.
_HOST_NAME = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*")


# Of the tools of this server; those of another one are listed as they come.
_TOOLSETS = {tool.name: tool.toolset for tool in ALL_TOOLS}


def inspector_routes(screen: Screen) -> list[Route]:
    """Return the route of the inspector; the page holds no data, so anyone may open it."""

    async def show(request: Request) -> Response:
        asked = request.query_params.get("endpoint", "").strip()
        origin = origin_of(asked)
        is_own = asked in ("", OWN_ENDPOINT)
        values = {
            "endpoint": OWN_ENDPOINT if origin is None else asked,
            "toolsets": _TOOLSETS,
            "not_taken": origin is None and not is_own,
        }
        return screen.show(request, "inspector.html", values, connect_to=origin)

    return [Route("/mcp/debug", show, methods=["GET", "HEAD"])]


def origin_of(url: str) -> str | None:
    """Return the one origin that scripts call with `url`; None if it names none, or more."""
    if any(character.isspace() for character in url):
        return None
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        if ":" in host:
            # A link-local address with a zone (`%eth0`) cannot be an origin.
            name = f"[{IPv6Address(host)}]" if "%" not in host else ""
        else:
            name = host.encode("idna").decode("ascii")
    except ValueError:
        return None
    is_name = name.startswith("[") or _HOST_NAME.fullmatch(name) is not None
    if parts.scheme not in ("http", "https") or not is_name or "@" in parts.netloc or port == 0:
        return None
    return f"{parts.scheme}://{name}" + ("" if port is None else f":{port}")
