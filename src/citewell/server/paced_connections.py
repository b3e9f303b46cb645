"""uvicorn's HTTP connection, with bounds on what one client can hold or have done in one step.

asyncio hands over up to 256 kB at once. Of the smallest frames or chunks, that is 40,000, which
take most of a second in which nobody else is served.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import h11
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

if TYPE_CHECKING:
    import asyncio

# The smallest frames of so many bytes take 10 ms; twenty connections may be ready at once.
_STEP_BYTES = 8_192
# Chunks of a few bytes, which no client sends by the hundred, take longer than all that is in them.
_TINY_CHUNK = re.compile(rb"\r\n(?!0)[\da-fA-F]{1,2}\r\n")
_MAX_TINY_CHUNKS = 500


class PacedHttp(H11Protocol):
    """An HTTP connection that is read in small steps, and closed while nothing is asked on it."""

    head_seconds = 30.0
    """How long a request may take to name itself."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - as uvicorn's
        super().__init__(*args, **options)
        self._waiting: asyncio.TimerHandle | None = None
        self._tiny_chunks = 0

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as its base
        super().connection_made(transport)
        # What asyncio's own loop reads at once; another loop ignores it.
        transport.max_size = _STEP_BYTES  # type: ignore[attr-defined] # not in the stubs
        self._wait_for_head()

    @override
    def data_received(self, data: bytes) -> None:
        if self.conn.their_state is not h11.SEND_BODY:
            self._tiny_chunks = 0
        elif self._sends_tiny_chunks(data):
            self.send_400_response("The chunks of the body are too small.")
            return
        super().data_received(data)
        is_asked = self.conn.their_state is not h11.IDLE
        if is_asked and self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        elif not is_asked and self._waiting is None:
            self._wait_for_head()

    def _sends_tiny_chunks(self, data: bytes) -> bool:
        if all(name != b"transfer-encoding" for name, _ in self.headers):
            return False
        self._tiny_chunks += len(_TINY_CHUNK.findall(data))
        return self._tiny_chunks > _MAX_TINY_CHUNKS

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self._waiting = self.loop.call_later(self.head_seconds, self._give_up)

    def _give_up(self) -> None:
        cycle: RequestResponseCycle | None = self.cycle
        is_answering = cycle is not None and not cycle.response_complete
        # Else a WebSocket has taken the connection over.
        if self.transport.get_protocol() is self and not is_answering:
            self.transport.close()
