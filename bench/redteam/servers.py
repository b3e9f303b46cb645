"""Servers that stall, drip, flood or unpack into gigabytes: every fetch ends with an error."""

from __future__ import annotations

import gzip
import time
import zlib
from typing import TYPE_CHECKING

from bench.redteam.attempt import Attempt
from tests.web.test_fetched_bodies import fetch, raw_server

from citewell.core.errors import CitewellError

if TYPE_CHECKING:
    import socket
    import threading
    from collections.abc import AsyncIterator, Callable

    Speak = Callable[[socket.socket, threading.Event], None]

NAME = "servers"
_TIMEOUT_SECONDS = 3.0
# On a busy machine the end of the limit is noticed late.
_LATEST_SECONDS = 30.0
_OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_CHUNKED = _OK + b"Transfer-Encoding: chunked\r\n\r\n"
_BOMB = gzip.compress(bytes(200_000_000), 9)


async def attack() -> AsyncIterator[Attempt]:
    """Fetch a page from each server."""
    for what, speak in _SERVERS.items():
        started = time.monotonic()
        with raw_server(speak) as port:
            try:
                page = await fetch(port, timeout_seconds=_TIMEOUT_SECONDS)
                outcome, is_refused = f"read {len(page.body):,} bytes", False
            except CitewellError as error:
                outcome, is_refused = type(error).__name__, True
        seconds = time.monotonic() - started
        held = is_refused and seconds < _LATEST_SECONDS
        yield Attempt(what=what, held=held, outcome=f"{outcome} after {seconds:.1f} s")


def _drip(start: bytes, piece: bytes) -> Speak:
    def speak(connection: socket.socket, stopping: threading.Event) -> None:
        connection.sendall(start)
        while not stopping.wait(0.05):
            connection.sendall(piece)

    return speak


def _flood(start: bytes, piece: bytes) -> Speak:
    def speak(connection: socket.socket, stopping: threading.Event) -> None:
        connection.sendall(start)
        while not stopping.is_set():
            connection.sendall(piece)

    return speak


def _say(answer: bytes) -> Speak:
    def speak(connection: socket.socket, stopping: threading.Event) -> None:
        connection.sendall(answer)

    return speak


def _packed(encoding: str, body: bytes) -> bytes:
    length = f"Content-Encoding: {encoding}\r\nContent-Length: {len(body)}\r\n\r\n"
    return _OK + length.encode() + body


_SERVERS: dict[str, Speak] = {
    "says nothing": _drip(b"", b""),
    "drips its status line": _drip(b"HTTP/1.1 200 ", b"O"),
    "drips headers": _drip(_OK, b"X-A: b\r\n"),
    "drips a body": _drip(_OK + b"Content-Length: 1000000\r\n\r\n", b"a"),
    "drips chunks": _drip(_CHUNKED, b"1\r\na\r\n"),
    "drips the size of a chunk": _drip(_CHUNKED, b"0"),
    "floods headers": _flood(_OK, b"X-A: " + b"b" * 1_000 + b"\r\n"),
    "floods one header": _flood(_OK + b"X-A: ", b"b" * 10_000),
    "floods a body": _flood(_OK + b"\r\n", b"<p>heron" * 1_000),
    "floods chunks": _flood(_CHUNKED, b"3e8\r\n" + b"a" * 1_000 + b"\r\n"),
    "floods chunks of one byte": _flood(_CHUNKED, b"1\r\na\r\n" * 10_000),
    "floods early hints": _flood(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "promises more than it sends": _say(_OK + b"Content-Length: 99\r\n\r\nheron"),
    "a gzip bomb": _say(_packed("gzip", _BOMB)),
    "a gzip bomb in a gzip bomb": _say(_packed("gzip, gzip", gzip.compress(_BOMB, 9))),
    "a deflate bomb": _say(_packed("deflate", zlib.compress(bytes(200_000_000), 9))),
    "no gzip at all": _say(_packed("gzip", b"heron" * 100)),
}
