"""A connection that a site cannot make the event loop parse for long without a pause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpcore2
from typing_extensions import override

if TYPE_CHECKING:
    import ssl

# A piece of headers or of interim answers takes the parser some 10 ms at most.
_HEAD_PIECE_BYTES = 4_096
# As large as the headers of any site that is to be read, with what comes before them.
_MAX_HEAD_BYTES = 256 * 1024


class PacedStream(httpcore2.AsyncNetworkStream):
    """Gives what comes before a body in small pieces, and no more than a quarter of a megabyte.

    The parser goes through all that it was given before any other task has a turn: 64 kB are
    thousands of interim answers.
    """

    NAME = "paced stream"
    """What `get_extra_info` is asked for to have the stream itself."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream
        self._head_bytes: int | None = 0
        """None while a body is read."""

    def begin_body(self) -> None:
        """Give larger pieces: the headers of the answer are complete."""
        self._head_bytes = None

    @override
    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._head_bytes is None:
            return await self._stream.read(max_bytes, timeout)
        data = await self._stream.read(min(max_bytes, _HEAD_PIECE_BYTES), timeout)
        self._head_bytes += len(data)
        if self._head_bytes > _MAX_HEAD_BYTES:
            raise httpcore2.RemoteProtocolError("the headers of the answer do not end")
        return data

    @override
    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._head_bytes = 0
        await self._stream.write(buffer, timeout)

    @override
    async def aclose(self) -> None:
        await self._stream.aclose()

    @override
    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        return PacedStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    @override
    def get_extra_info(self, info: str) -> Any:
        return self if info == self.NAME else self._stream.get_extra_info(info)
