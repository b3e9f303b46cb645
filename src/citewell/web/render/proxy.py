"""The only way out of a rendered page: a proxy that checks each address before it connects.

SOCKS5 carries every kind of connection a page can open (documents, scripts, WebSockets) with the
name still unresolved, so the address that is checked is the one connected to.
"""

from __future__ import annotations

import logging
import re
from ipaddress import ip_address
from typing import TYPE_CHECKING

import anyio
import httpcore2
from anyio.streams.buffered import BufferedByteReceiveStream

from citewell.core.errors import AddressRefused, HostUnreachable
from citewell.web.render.web_sockets import opens_web_socket

if TYPE_CHECKING:
    from anyio.abc import SocketStream, TaskStatus

    from citewell.web.address_guard import GuardedNetwork

logger = logging.getLogger(__name__)

_CONNECT_SECONDS = 10.0
# Browsers send names in ASCII; whatever else is sent comes from elsewhere.
_HOST = re.compile(r"[\w.:-]{1,255}", re.ASCII)
_READ_BYTES = 65_536
# As a request begins in plain HTTP: reading requests have no body, so each comes by itself. TLS
# begins its records with other bytes.
_OTHER_METHOD = re.compile(rb"(?!GET |HEAD )[A-Z]{3,20} ")

# RFC 1928.
_VERSION = 5
_NO_AUTHENTICATION = bytes((_VERSION, 0))
_CONNECT = 1
_IPV4, _NAME, _IPV6 = 1, 3, 4
_GRANTED, _NOT_ALLOWED, _UNREACHABLE = 0, 2, 4

_BROKEN_CONNECTION = (
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
    anyio.IncompleteRead,
    httpcore2.NetworkError,
    OSError,
)


class PageProxy:
    """A proxy on loopback for one page; it ends with the page, and so do its connections."""

    def __init__(self, network: GuardedNetwork, *, max_bytes: int) -> None:
        self._network = network
        self._bytes_left = max_bytes
        self._scope = anyio.CancelScope()
        self._refused: dict[str, AddressRefused] = {}
        self.port = 0
        """Known once it runs."""

    @property
    def is_exhausted(self) -> bool:
        """Whether the page has received more bytes than it may."""
        return self._bytes_left < 0

    def refusal_of(self, host: str) -> AddressRefused | None:
        """Return why `host` was not connected to, if it was refused."""
        return self._refused.get(host.strip("[]").lower())

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Serve until `stop`.

        Raises:
            OSError: the system gives no port.
        """
        with self._scope:
            listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
            async with listener:
                self.port = listener.extra(anyio.abc.SocketAttribute.local_port)
                task_status.started()
                await listener.serve(self._serve)

    def stop(self) -> None:
        """End every connection and take no more."""
        self._scope.cancel()

    async def _serve(self, client: SocketStream) -> None:
        async with client:
            try:
                destination = await _read_destination(client)
                if destination is not None:
                    await self._connect(client, *destination)
            except _BROKEN_CONNECTION as error:
                logger.debug("a connection of a rendered page broke: %r", error)

    async def _connect(self, client: SocketStream, host: str, port: int) -> None:
        try:
            site = await self._network.connect_tcp(host, port, _CONNECT_SECONDS)
        except AddressRefused as error:
            logger.info("a rendered page may not reach %s:%d", host[:100], port)
            self._refused[host.lower()] = error
            await client.send(_reply(_NOT_ALLOWED))
            return
        except (HostUnreachable, httpcore2.ConnectError, httpcore2.TimeoutException):
            await client.send(_reply(_UNREACHABLE))
            return
        try:
            await client.send(_reply(_GRANTED))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._send_on, client, site, tasks.cancel_scope)
                tasks.start_soon(self._bring_back, site, client, tasks.cancel_scope)
        finally:
            with anyio.CancelScope(shield=True):
                await site.aclose()

    async def _send_on(
        self, client: SocketStream, site: httpcore2.AsyncNetworkStream, both: anyio.CancelScope
    ) -> None:
        start: bytes | None = b""
        try:
            async for data in client:
                # Routes of the browser refuse other methods, but not while a page is being left.
                if _OTHER_METHOD.match(data):
                    logger.info("a rendered page may only read")
                    break
                if start is not None:
                    start += data
                    is_web_socket = opens_web_socket(start)
                    if is_web_socket:
                        logger.info("a rendered page may not open a WebSocket")
                        break
                    if is_web_socket is None:
                        continue
                    data, start = start, None
                await site.write(data)
        except _BROKEN_CONNECTION as error:
            logger.debug("a rendered page's request broke off: %r", error)
        both.cancel()

    async def _bring_back(
        self, site: httpcore2.AsyncNetworkStream, client: SocketStream, both: anyio.CancelScope
    ) -> None:
        try:
            while data := await site.read(_READ_BYTES):
                self._bytes_left -= len(data)
                if self.is_exhausted:
                    self.stop()
                await client.send(data)
        except _BROKEN_CONNECTION as error:
            logger.debug("an answer to a rendered page broke off: %r", error)
        both.cancel()


async def _read_destination(client: SocketStream) -> tuple[str, int] | None:
    """Return host and port that the browser asks for; None when it speaks something else."""
    stream = BufferedByteReceiveStream(client)
    version, methods = await stream.receive_exactly(2)
    if version != _VERSION:
        return None
    await stream.receive_exactly(methods)
    await client.send(_NO_AUTHENTICATION)
    _, command, _, kind = await stream.receive_exactly(4)
    if kind == _NAME:
        (length,) = await stream.receive_exactly(1)
        host = (await stream.receive_exactly(length)).decode("latin-1")
    elif kind in (_IPV4, _IPV6):
        host = str(ip_address(await stream.receive_exactly(4 if kind == _IPV4 else 16)))
    else:
        return None
    port = int.from_bytes(await stream.receive_exactly(2), "big")
    return (host, port) if command == _CONNECT and _HOST.fullmatch(host) else None


def _reply(answer: int) -> bytes:
    """Return an answer; the address it was bound to means nothing to a browser."""
    return bytes((_VERSION, answer, 0, _IPV4, 0, 0, 0, 0, 0, 0))
