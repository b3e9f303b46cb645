"""A JSON-RPC fault as the response to an HTTP request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response

if TYPE_CHECKING:
    from citewell.server.jsonrpc import Fault


def fault_response(fault: Fault) -> Response:
    """Return the response that carries a fault, with its status and headers."""
    return Response(
        fault.encode(),
        status_code=fault.status,
        headers=dict(fault.headers),
        media_type="application/json",
    )
