"""An id for every request, in its response and in each log line that it causes."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, cast

from citewell.core.request_id import request_id

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADER = b"x-request-id"
# The id that a client or a proxy sends is used only if it is safe to log.
_GOOD_NAME = re.compile(rb"[A-Za-z0-9._:-]{1,64}")


class RequestIds:
    """ASGI middleware: takes the X-Request-Id of a request, or makes one, and sends it back."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request under its name."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        name = _name_of(scope)

        async def send_with_name(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                message["headers"] = [*message.get("headers", ()), (_HEADER, name)]
            await send(message)

        token = request_id.set(name.decode())
        try:
            await self._app(scope, receive, send_with_name)
        finally:
            request_id.reset(token)


def _name_of(scope: Scope) -> bytes:
    for header, value in scope["headers"]:
        if header == _HEADER and _GOOD_NAME.fullmatch(value):
            return cast("bytes", value)
    return secrets.token_hex(8).encode()
