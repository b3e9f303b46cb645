"""A limit on what the web app is sent, which holds back nobody's refusal.

Nothing is gathered: who may not send anything is refused before the body is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from citewell.core.errors import BudgetExceeded
from citewell.server.console.door import is_form

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class BodyLimit:
    """ASGI middleware: whoever reads more than a route takes gets BudgetExceeded."""

    def __init__(self, asgi_app: ASGIApp, *, max_bytes: int, max_form_bytes: int) -> None:
        self._asgi_app = asgi_app
        self._max_bytes = max_bytes
        # A form is held in memory.
        self._max_form_bytes = max_form_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse what announces too much."""
        headers = Headers(scope=scope)
        most = self._max_form_bytes if is_form(headers) else self._max_bytes
        declared = headers.get("content-length", "")
        text = f"The request is larger than {most:,} bytes."
        if declared.isdigit() and int(declared) > most:
            await PlainTextResponse(text, status_code=413)(scope, receive, send)
            return
        received = 0

        async def receive_bounded() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > most:
                raise BudgetExceeded(text, suggestion="Send less.")
            return message

        await self._asgi_app(scope, receive_bounded, send)
