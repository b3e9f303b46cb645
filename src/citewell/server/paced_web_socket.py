"""uvicorn's WebSocket, whose client can neither fill the memory nor keep the loop to itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

if TYPE_CHECKING:
    from websockets.frames import Frame

_MAX_FRAGMENTS = 5_000
# More than the largest result.
_MAX_UNREAD_BYTES = 1_000_000
# RFC 6455, 7.4.1.
_TOO_BIG = 1009


class PacedWebSocket(WebSocketsSansIOProtocol):
    """A WebSocket with bounds; taken over from `PacedHttp`, it is read in small steps already."""

    @override
    def handle_cont(self, event: Frame) -> None:
        if self.transport.is_closing():
            return
        # Empty ones count for nothing in the size of a message.
        if len(self.frames) < _MAX_FRAGMENTS:
            super().handle_cont(event)
            return
        self.conn.fail(_TOO_BIG, f"more than {_MAX_FRAGMENTS} fragments")
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.transport.close()

    @override
    def handle_ping(self) -> None:
        if self.transport.get_write_buffer_size() > _MAX_UNREAD_BYTES:
            # Whoever sends pings without reading the answers would have them all kept.
            self.transport.abort()
        elif not self.transport.is_closing():
            super().handle_ping()
