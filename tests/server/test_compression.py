"""Compression of what the servers send."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from tests.server.docs_serving import browsing_docs

from citewell.server.compression import Compressed, PackedBodies, accepts_gzip

pytestmark = pytest.mark.anyio

TEXT = "The heron stands. " * 200


def serving(answer: Callable[[], Response]) -> httpx2.AsyncClient:
    """Return a client of an application with one address, which is compressed."""

    async def endpoint(request: Request) -> Response:
        return answer()

    routes = [Route("/", endpoint, middleware=[Middleware(Compressed, PackedBodies())])]
    transport = httpx2.ASGITransport(app=Starlette(routes=routes))
    return httpx2.AsyncClient(transport=transport, base_url="http://birds.example")


@pytest.mark.parametrize(
    ("header", "takes"),
    [
        ("gzip, br", True),
        ("br;q=1.0, *;q=0.5", True),
        ("GZIP;q=0.2", True),
        ("gzip;q=0", False),
        ("gzip;q=0.00, *", False),
        ("identity", False),
        ("", False),
    ],
)
def test_gzip_is_sent_to_who_takes_it(header: str, takes: bool) -> None:
    assert accepts_gzip(header) is takes


@pytest.mark.parametrize(
    "media_type", ["text/html", "application/json", "text/javascript", "image/svg+xml"]
)
async def test_text_comes_packed_or_plain_as_the_client_asks(media_type: str) -> None:
    async with serving(lambda: Response(TEXT, media_type=media_type)) as client:
        packed = await client.get("/", headers={"Accept-Encoding": "gzip"})
        plain = await client.get("/", headers={"Accept-Encoding": "identity"})

    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < len(TEXT) / 10
    assert "content-encoding" not in plain.headers
    assert packed.text == plain.text == TEXT
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"


async def pieces() -> AsyncIterator[str]:
    yield TEXT
    yield TEXT


@pytest.mark.parametrize(
    "answer",
    [
        lambda: StreamingResponse(pieces(), media_type="text/html"),
        lambda: StreamingResponse(pieces(), media_type="text/event-stream"),
        lambda: Response(TEXT, media_type="text/event-stream"),
        lambda: Response(TEXT.encode(), media_type="image/png"),
        lambda: Response("short", media_type="text/html"),
        lambda: Response(
            gzip.compress(TEXT.encode()),
            media_type="text/html",
            headers={"Content-Encoding": "gzip", "Vary": "Accept-Encoding"},
        ),
    ],
    ids=["stream", "events", "one event", "picture", "short", "packed already"],
)
async def test_streams_pictures_and_what_is_short_stay_as_they_are(
    answer: Callable[[], Response],
) -> None:
    async with serving(answer) as client:
        plain = await client.get("/", headers={"Accept-Encoding": "identity"})
        asked = await client.get("/", headers={"Accept-Encoding": "gzip"})

    assert asked.content == plain.content
    assert dict(asked.headers) == dict(plain.headers)


def test_bodies_are_kept_up_to_a_limit_and_the_oldest_go_first() -> None:
    kept = PackedBodies(max_bytes=25)
    for name in "ab":
        kept.keep(name, b"0123456789")
    kept.recall("a")
    kept.keep("c", b"0123456789")

    assert [name for name in "abc" if kept.recall(name)] == ["a", "c"]


async def test_a_docs_page_is_packed_and_has_an_etag_of_its_own(tmp_path: Path) -> None:
    async with browsing_docs(tmp_path, {"a.md": f"# A\n\n{TEXT}\n"}, mcp_enabled=False) as client:
        packed = await client.get("/a.html", headers={"Accept-Encoding": "gzip"})
        plain = await client.get("/a.html", headers={"Accept-Encoding": "identity"})
        etag = packed.headers["etag"]
        known = {"Accept-Encoding": "gzip", "If-None-Match": etag}
        same = await client.get("/a.html", headers=known)
        found = await client.get("/api/search?q=heron", headers={"Accept-Encoding": "gzip"})

    assert packed.headers["content-encoding"] == "gzip"
    assert packed.text == plain.text
    assert etag != plain.headers["etag"]
    assert (same.status_code, same.headers["etag"]) == (304, etag)
    assert "Accept-Encoding" in same.headers["vary"]
    assert found.json()["results"]


async def test_files_of_the_theme_are_kept_for_a_year_at_the_address_of_their_version(
    tmp_path: Path,
) -> None:
    page = {"a.md": "# A\n\n```mermaid\na --> b\n```\n"}
    async with browsing_docs(tmp_path, page, mcp_enabled=False) as client:
        html = (await client.get("/a.html")).text
        start = html.index("assets/citewell/mermaid.js")
        address = "/" + html[start : html.index('"', start)]
        mermaid = await client.get(address, headers={"Accept-Encoding": "gzip"})
        unpacked = await client.get(address, headers={"Accept-Encoding": "identity"})
        older = await client.get(f"{address.partition('?')[0]}?v=1234")

    assert "immutable" in mermaid.headers["cache-control"]
    assert int(mermaid.headers["content-length"]) < 1_000_000 < len(unpacked.content)
    assert mermaid.content == unpacked.content
    assert older.headers["cache-control"] == "no-cache"
