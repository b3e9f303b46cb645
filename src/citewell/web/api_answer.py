"""Asking an API for one answer of bounded size, however well it is compressed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.bounded_json import parse_bounded_json
from citewell.core.errors import PageTooLarge
from citewell.core.frozen import frozen
from citewell.web.decompress import ACCEPT_ENCODING, Decompressor

if TYPE_CHECKING:
    import httpx2

# Fifty results of a search engine, each with dozens of fields, have a tenth.
_MOST_VALUES = 50_000


@frozen
class ApiAnswer:
    """What an API answered."""

    status: int
    body: bytes

    def parse_json(self) -> object:
        """Return the body as JSON.

        Raises:
            ValueError: it is none, nested too deeply to be read, or of too many values.
        """
        return parse_bounded_json(self.body, max_values=_MOST_VALUES)


async def ask_api(
    client: httpx2.AsyncClient, request: httpx2.Request, *, max_bytes: int
) -> ApiAnswer:
    """Send a request and return the whole answer.

    Raises:
        FetchError: the answer is larger than `max_bytes`, or its compression cannot be read.
        httpx2.HTTPError: the API cannot be reached, or its answer breaks off.
    """
    # The client's own decompression makes all that a piece holds at once, a bomb as well.
    request.headers["Accept-Encoding"] = ACCEPT_ENCODING
    response = await client.send(request, stream=True)
    try:
        # Errors name the host alone: the rest of the address may hold a key.
        host = request.url.host
        decompressor = Decompressor(response.headers.get("content-encoding", ""), url=host)
        body = bytearray()
        async for data in response.aiter_raw():
            for piece in decompressor.feed(data):
                body += piece
                if len(body) > max_bytes:
                    raise PageTooLarge(
                        f"{host} answers with more than {max_bytes:,} bytes", max_bytes=max_bytes
                    )
        decompressor.finish()
    finally:
        await response.aclose()
    return ApiAnswer(status=response.status_code, body=bytes(body))
