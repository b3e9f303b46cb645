"""One GET at a time over guarded connections, with foreign errors turned into ours."""

from __future__ import annotations

import ssl
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import httpcore2

from citewell.core.errors import FetchTimeout, HostUnreachable, PageTooLarge
from citewell.core.frozen import frozen
from citewell.web.content import is_gzipped_text
from citewell.web.decompress import ACCEPT_ENCODING, Decompressor
from citewell.web.paced_stream import PacedStream
from citewell.web.urls import shown_url, split_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from citewell.web.address_guard import GuardedNetwork

_MAX_CONNECTIONS = 64
_KEEP_ALIVE_SECONDS = 5.0
# Each piece takes the parser a tenth of a millisecond, however small it is.
_MOST_SMALL_PIECES = 20_000
_SMALL_PIECE_BYTES = 16


@frozen
class OpenAnswer:
    """A site's answer whose body is still on its way."""

    url: str
    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    response: httpcore2.Response

    async def read(self, *, max_bytes: int) -> bytes:
        """Return the whole body, decompressed.

        Raises:
            PageTooLarge: it has more than `max_bytes`, counted after decompression.
            HostUnreachable: it breaks off or is damaged.
            UnsupportedContent: it is compressed in a way that was not asked for.
        """
        announced = self.headers.get("content-length", "")
        is_too_large = announced.isdigit() and int(announced) > max_bytes
        body = b"" if is_too_large else await self.read_start(max_bytes=max_bytes + 1)
        if is_too_large or len(body) > max_bytes:
            raise PageTooLarge(
                f"{shown_url(self.url)} is larger than {max_bytes} bytes", max_bytes=max_bytes
            )
        return body

    async def read_start(self, *, max_bytes: int) -> bytes:
        """Return the body, decompressed and cut after `max_bytes`; raises as `read` does."""
        encoding = self.headers.get("content-encoding", "")
        is_file = not encoding and is_gzipped_text(self.url) and 200 <= self.status < 300
        decompressor = Decompressor("gzip" if is_file else encoding, url=self.url)
        body = bytearray()
        pieces = received = 0
        async for data in self.response.aiter_stream():
            pieces, received = pieces + 1, received + len(data)
            if pieces > _MOST_SMALL_PIECES and received < pieces * _SMALL_PIECE_BYTES:
                raise HostUnreachable(f"{shown_url(self.url)} comes in pieces of a few bytes")
            # All pieces that one read of the socket brought come without a pause.
            await anyio.lowlevel.checkpoint()
            for piece in decompressor.feed(data):
                body += piece
                if len(body) >= max_bytes:
                    return bytes(body[:max_bytes])
        decompressor.finish()
        return bytes(body)


class HttpClient:
    """Sends GET requests; follows nothing, keeps no cookies, sends no credentials."""

    def __init__(self, network: GuardedNetwork, *, user_agent: str) -> None:
        self._network = network
        self._headers = {
            "User-Agent": user_agent,
            "Accept-Encoding": ACCEPT_ENCODING,
        }
        self._plain_pool = self._new_pool(None)
        self._tls_pool: httpcore2.AsyncConnectionPool | None = None
        self._tls_lock = anyio.Lock()

    @asynccontextmanager
    async def get(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[OpenAnswer]:
        """Ask for a canonical URL; the connection is freed when the context ends.

        Raises:
            AddressRefused: the host is private or its port is not allowed.
            HostUnreachable: the host has no address or the connection fails.
        """
        parts = split_url(url)
        # Built from our own parts, so that no second URL parser can see another host.
        target = httpcore2.URL(
            scheme=parts.scheme.encode(),
            host=parts.host.encode(),
            port=parts.port,
            target=parts.target.encode(),
        )
        sent = [
            (name.encode("latin-1"), value.encode("latin-1", "replace"))
            for name, value in (self._headers | dict(headers)).items()
        ]
        await self._network.check_led_to(parts.host, parts.port)
        with _our_errors(url):
            pool = self._plain_pool if parts.scheme == "http" else await self._open_tls_pool()
            async with pool.stream("GET", target, headers=sent) as response:
                # httpcore2 wraps the stream, but passes on what is asked of it.
                response.extensions["network_stream"].get_extra_info(PacedStream.NAME).begin_body()
                yield OpenAnswer(
                    url=url,
                    status=response.status,
                    headers=_lower_case(response.headers),
                    response=response,
                )

    async def aclose(self) -> None:
        """Close every connection."""
        await self._plain_pool.aclose()
        if self._tls_pool is not None:
            await self._tls_pool.aclose()

    async def _open_tls_pool(self) -> httpcore2.AsyncConnectionPool:
        async with self._tls_lock:
            if self._tls_pool is None:
                # Reading the system's certificates takes some 50 ms: once, and off the loop.
                context = await anyio.to_thread.run_sync(httpcore2.default_ssl_context)
                self._tls_pool = self._new_pool(context)
            return self._tls_pool

    def _new_pool(self, ssl_context: ssl.SSLContext | None) -> httpcore2.AsyncConnectionPool:
        return httpcore2.AsyncConnectionPool(
            ssl_context=ssl_context,
            max_connections=_MAX_CONNECTIONS,
            keepalive_expiry=_KEEP_ALIVE_SECONDS,
            network_backend=self._network,
        )


def may_pass(error: HostUnreachable) -> bool:
    """Return whether a failed connection may work when tried again."""
    cause = error.__cause__
    if isinstance(cause, httpcore2.ConnectError):
        return _tls_fault(cause) is None
    return isinstance(cause, httpcore2.NetworkError | httpcore2.RemoteProtocolError)


@contextmanager
def _our_errors(url: str) -> Iterator[None]:
    where = shown_url(url)
    parts = split_url(url)
    host = parts.host
    try:
        yield
    except httpcore2.TimeoutException as error:
        raise FetchTimeout(f"{where} did not answer in time") from error
    except httpcore2.ConnectError as error:
        fault = _tls_fault(error)
        if fault is None:
            place = host if parts.port in (80, 443) else f"{host}:{parts.port}"
            raise HostUnreachable(
                f"cannot connect to {place}",
                suggestion="Check the port. Else the site may be down, or this machine offline."
                if place != host
                else "The site may be down, or this machine offline; try again later.",
                host=host,
            ) from error
        raise HostUnreachable(
            f"no safe connection to {host}: "
            + ("its certificate is not valid" if fault else "it does not answer with TLS"),
            suggestion="Check the host name. Else only the site's operator can mend it."
            if fault
            else "If the site has no TLS, begin the address with http://; else check the port.",
            host=host,
        ) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
        message = f"the connection to {host} broke before {where} was complete"
        raise HostUnreachable(message, host=host) from error


def _tls_fault(error: httpcore2.ConnectError) -> bool | None:
    """Return None if TLS is not to blame, else whether the certificate is."""
    # httpcore2 drops the cause of its error, but keeps it as the argument.
    cause: object = error.args[0] if error.args else None
    while isinstance(cause, BaseException):
        if isinstance(cause, ssl.SSLError):
            return isinstance(cause, ssl.SSLCertVerificationError)
        cause = cause.__cause__
    return None


def _lower_case(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}
