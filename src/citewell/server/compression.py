"""Responses in gzip for clients that take it; streams stay as they are."""

from __future__ import annotations

import gzip
import re
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_TYPES = re.compile(
    r"text/(?!event-stream)|application/(?:[\w.-]+\+)?(?:json|xml)\b|image/svg\+xml"
)
# A smaller body fits one packet either way.
_MIN_BYTES = 1_000
# Longer ones would hold up the requests of others.
_MAX_BYTES_ON_LOOP = 100_000
_MAX_KEPT_BYTES = 32_000_000
# Of what is kept, and of what is sent once: a page of 63 kB is 3 % larger by the second, in half
# of the 1.6 ms.
_KEPT_LEVEL, _ONCE_LEVEL = 9, 5
_MARK = '-gzip"'


class PackedBodies:
    """Bodies in gzip by their ETags, each made once; those not asked for lately are dropped."""

    def __init__(self, *, max_bytes: int = _MAX_KEPT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def recall(self, etag: str) -> bytes | None:
        """Return the packed body of an ETag, if it was made."""
        with self._lock:
            packed = self._kept.get(etag)
            if packed is not None:
                self._kept.move_to_end(etag)
            return packed

    def pack(self, etag: str, body: bytes) -> bytes:
        """Return a body in gzip, and keep it."""
        packed = gzip.compress(body, _KEPT_LEVEL, mtime=0)
        self.keep(etag, packed)
        return packed

    def keep(self, etag: str, packed: bytes) -> None:
        """Keep a body that is packed already."""
        with self._lock:
            if etag not in self._kept:
                self._kept[etag] = packed
                self._bytes += len(packed)
            while self._bytes > self._max_bytes:
                _, dropped = self._kept.popitem(last=False)
                self._bytes -= len(dropped)


class Compressed:
    """An application whose text is sent in gzip where the client takes it.

    An ETag says which encoding it is of, and the application behind sees its own again.
    """

    def __init__(self, app: ASGIApp, kept: PackedBodies) -> None:
        self._app = app
        self._kept = kept

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        takes_gzip = accepts_gzip(Headers(scope=scope).get("accept-encoding", ""))
        response = _Response(send, self._kept, takes_gzip=takes_gzip)
        await self._app(_without_marks(scope), receive, response.send)


class _Response:
    """Holds the start of a response back until it is clear whether its body comes in one piece."""

    def __init__(self, send: Send, kept: PackedBodies, *, takes_gzip: bool) -> None:
        self._send = send
        self._kept = kept
        self._takes_gzip = takes_gzip
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = Headers(raw=message["headers"])
            if message["status"] == 304 or _TYPES.match(headers.get("content-type", "")):
                self._start = message
                return
        if self._start is not None:
            start, self._start = self._start, None
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                message = await self._packed(start, message)
            await self._send(start)
        await self._send(message)

    async def _packed(self, start: Message, message: Message) -> Message:
        headers = MutableHeaders(raw=start["headers"])
        etag = headers.get("etag", "")
        if start["status"] == 304:
            headers.add_vary_header("Accept-Encoding")
            if self._takes_gzip and self._kept.recall(etag) is not None:
                headers["etag"] = _marked(etag)
            return message
        body: bytes = message.get("body", b"")
        if len(body) < _MIN_BYTES or "content-encoding" in headers:
            return message
        headers.add_vary_header("Accept-Encoding")
        if not self._takes_gzip:
            return message
        packed = await self._pack(etag, body)
        headers["content-encoding"] = "gzip"
        headers["content-length"] = str(len(packed))
        if etag:
            headers["etag"] = _marked(etag)
        return {**message, "body": packed}

    async def _pack(self, etag: str, body: bytes) -> bytes:
        if etag:
            packed = self._kept.recall(etag)
            if packed is None:
                packed = await to_thread.run_sync(self._kept.pack, etag, body)
            return packed
        if len(body) <= _MAX_BYTES_ON_LOOP:
            return gzip.compress(body, _ONCE_LEVEL, mtime=0)
        return await to_thread.run_sync(lambda: gzip.compress(body, _ONCE_LEVEL, mtime=0))


def accepts_gzip(accept_encoding: str) -> bool:
    """Return whether an Accept-Encoding header takes gzip."""
    weights = {}
    for part in accept_encoding.lower().split(","):
        name, _, parameter = part.partition(";")
        weights[name.strip()] = parameter.replace(" ", "").removeprefix("q=")
    weight = weights.get("gzip", weights.get("*"))
    return weight is not None and (not weight or weight.strip("0.") != "")


def _marked(etag: str) -> str:
    return etag[:-1] + _MARK


def _without_marks(scope: Scope) -> Scope:
    """Return the request with the ETags that the application behind has given."""
    mark = _MARK.encode()
    headers = [
        (name, value.replace(mark, b'"') if name == b"if-none-match" else value)
        for name, value in scope["headers"]
    ]
    return {**scope, "headers": headers}
