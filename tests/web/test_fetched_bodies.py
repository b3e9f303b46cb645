from __future__ import annotations

import gzip
import socket
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio
import pytest
from tests.site import Response, running_site

from citewell.core.errors import (
    FetchTimeout,
    HostUnreachable,
    PageTooLarge,
    UnsupportedContent,
)
from citewell.core.records import FetchedPage, PageKind
from citewell.web.body import open_body
from citewell.web.fetcher import Fetcher

pytestmark = pytest.mark.anyio


async def fetch(port: int, path: str = "/a", *, timeout_seconds: float = 10.0) -> FetchedPage:
    async with Fetcher(
        allowed_private_hosts=("127.0.0.1",),
        timeout_seconds=timeout_seconds,
        max_retries=0,
        max_page_bytes=1_000_000,
        respect_robots=False,
    ) as fetcher:
        return await fetcher.fetch(f"http://127.0.0.1:{port}{path}")


async def fetch_body(body: bytes, path: str = "/a", **headers: str) -> FetchedPage:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with running_site({path: Response(body=body, headers=named)}) as site:
        return await fetch(site.port, path)


@contextmanager
def raw_server(speak: Callable[[socket.socket, threading.Event], None]) -> Iterator[int]:
    """Serve one connection at a time with bytes that no decent server would send."""
    listener = socket.create_server(("127.0.0.1", 0))
    stopping = threading.Event()

    def serve() -> None:
        while not stopping.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65_536)
                try:
                    speak(connection, stopping)
                except OSError:
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        stopping.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


@pytest.mark.parametrize(
    ("content_encoding", "compress"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda body: zlib.compress(body)[2:-4]),
        ("gzip", lambda body: gzip.compress(body[:5]) + gzip.compress(body[5:])),
        ("gzip", lambda body: gzip.compress(body) + b"\0\0\0"),
        ("identity", bytes),
    ],
)
async def test_compressed_bodies_are_read(
    content_encoding: str, compress: Callable[[bytes], bytes]
) -> None:
    body = b"<p>heron</p>" * 40_000

    page = await fetch_body(compress(body), Content_Encoding=content_encoding)

    assert page.body == body


@pytest.mark.parametrize(
    ("content_type", "path", "kind"),
    [
        ("application/x-gzip", "/2024-April.txt.gz", "text"),
        ("application/gzip", "/notes.md.gz?raw=1", "markdown"),
        ("text/html", "/page.html.gz", "html"),
    ],
)
async def test_a_text_that_a_site_keeps_compressed_is_unpacked(
    content_type: str, path: str, kind: PageKind
) -> None:
    body = b"<html><p>Herons are counted at dawn."

    page = await fetch_body(gzip.compress(body), path, Content_Type=content_type)

    assert (page.body, page.kind) == (body, "html")
    again = open_body(page.body, content_type, page.final_url)
    assert again.kind == "html"
    plain = await fetch_body(gzip.compress(b"Dawn."), path, Content_Type=content_type)
    assert (plain.text, plain.kind) == ("Dawn.", kind)


@pytest.mark.parametrize("path", ["/a.html.gz", "/a.HTM.gz", "/a.xhtml.gz?raw=1"])
async def test_compressed_html_without_a_doctype_is_html(path: str) -> None:
    packed = gzip.compress(b"<p>Herons wade.</p><p hidden>Egrets.</p>")

    page = await fetch_body(packed, path, Content_Type="application/gzip")

    assert page.kind == "html"


@pytest.mark.parametrize("path", ["/a.tar.gz", "/a.gz", "/a.txt.gz"])
async def test_what_is_packed_otherwise_is_refused(path: str) -> None:
    packed = gzip.compress(gzip.compress(b"heron", mtime=0), mtime=0)

    with pytest.raises(UnsupportedContent):
        await fetch_body(packed, path, Content_Type="application/x-gzip")


async def test_a_decompression_bomb_is_refused_without_filling_the_memory() -> None:
    compressor = zlib.compressobj(wbits=31)
    zeros = bytes(1_000_000)
    bomb = b"".join(compressor.compress(zeros) for _ in range(100)) + compressor.flush()

    with running_site({"/a": Response(body=bomb, headers={"Content-Encoding": "gzip"})}) as site:
        tracemalloc.start()
        try:
            with pytest.raises(PageTooLarge) as failure:
                await fetch(site.port)
            peak_bytes = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert failure.value.code == "BUDGET_EXCEEDED"
    assert peak_bytes < 10_000_000


async def test_a_page_that_says_it_is_too_large_is_not_read() -> None:
    with anyio.fail_after(60), pytest.raises(PageTooLarge):
        await fetch_body(b"heron", Content_Length="100000000")


async def test_an_endless_page_is_cut_off_at_the_limit() -> None:
    sent = 0

    def speak(connection: socket.socket, stopping: threading.Event) -> None:
        nonlocal sent
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        while not stopping.is_set():
            sent += connection.send(b"heron " * 10_000)

    with raw_server(speak) as port, pytest.raises(PageTooLarge):
        await fetch(port)

    assert sent < 50_000_000


@pytest.mark.parametrize(
    ("start", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", b"."),
        (b"HTTP/1.1 200 OK\r\n", b"X-Heron: 1\r\n"),
    ],
    ids=["body", "headers"],
)
async def test_an_answer_that_drips_is_a_timeout(start: bytes, drop: bytes) -> None:
    def speak(connection: socket.socket, stopping: threading.Event) -> None:
        connection.sendall(start)
        while not stopping.wait(0.02):
            connection.sendall(drop)

    with raw_server(speak) as port, anyio.fail_after(60), pytest.raises(FetchTimeout):
        await fetch(port, timeout_seconds=0.4)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nheron",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nheron\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
        + gzip.compress(b"heron" * 99, mtime=0)[:-9],
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nheron",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nheron",
        b"220 heron.test ESMTP\r\n",
        b"",
    ],
)
async def test_an_answer_that_breaks_off_or_is_damaged_is_an_error(answer: bytes) -> None:
    def speak(connection: socket.socket, stopping: threading.Event) -> None:
        connection.sendall(answer)

    with raw_server(speak) as port, pytest.raises(HostUnreachable) as failure:
        await fetch(port)

    assert f"127.0.0.1:{port}/a" in failure.value.message


@pytest.mark.parametrize("content_encoding", ["br", "zstd", "gzip, gzip"])
async def test_a_compression_that_was_not_asked_for_is_refused(content_encoding: str) -> None:
    with pytest.raises(UnsupportedContent, match="compressed"):
        await fetch_body(b"heron", Content_Encoding=content_encoding)


@pytest.mark.parametrize(
    ("content_type", "path", "body", "kind"),
    [
        ("text/html", "/a", b"<p>heron", "html"),
        ("application/xhtml+xml", "/a", b"<html/>", "html"),
        ("text/markdown", "/a", b"# Heron", "markdown"),
        ("text/plain", "/a.md?raw=1", b"# Heron", "markdown"),
        ("text/plain", "/a.txt", b"heron", "text"),
        ("text/plain", "/a.html", b"<!-- x --> <!DOCTYPE html><p>heron", "html"),
        ("text/csv", "/a", b"heron,1", "text"),
        ("application/json", "/a", b'{"heron": 1}', "json"),
        ("application/ld+json", "/a", b"{}", "json"),
        ("application/rss+xml", "/a", b"<rss/>", "xml"),
        ("text/xml", "/a", b"<?xml version='1.0'?><feed/>", "xml"),
        ("application/pdf", "/a", b"%PDF-1.7\n\0\0\0\0", "pdf"),
        ("application/octet-stream", "/a", b"%PDF-1.7\n\0\0\0\0", "pdf"),
        ("text/html", "/a", b"%PDF-1.7\n\0\0\0\0", "pdf"),
        ("application/octet-stream", "/a.md", b"# Heron", "markdown"),
        ("", "/a", b"<html><p>heron", "html"),
        ("", "/a", b'\xef\xbb\xbf{"heron": 1}', "json"),
        ("", "/a", b"heron", "text"),
        ("text/html", "/a", "<p>heron</p>".encode("utf-16-le"), "html"),
        ("nonsense", "/a", b"heron", "text"),
    ],
)
async def test_the_kind_of_a_page_is_told(
    content_type: str, path: str, body: bytes, kind: PageKind
) -> None:
    page = await fetch_body(body, path, Content_Type=content_type)

    assert page.kind == kind
    assert bool(page.text) == (kind != "pdf")


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/octet-stream", bytes(range(256)) * 8),
        ("text/html", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01"),
        ("", gzip.compress(b"heron", mtime=0)),
        ("text/html", b"\0\1"),
        ("text/plain", b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\0\x3e\0\x01\0\0\0"),
        ("text/plain", b"".join(n.to_bytes(2, "little") for n in range(400))),
        ("application/pdf", b"not a pdf"),
        ("video/mp4", b"heron"),
        ("application/zip", b"PK\x03\x04"),
    ],
)
async def test_binary_content_is_refused(content_type: str, body: bytes) -> None:
    with pytest.raises(UnsupportedContent) as failure:
        await fetch_body(body, Content_Type=content_type)

    assert failure.value.code == "INVALID_ARGUMENT"


@pytest.mark.parametrize("encoding", ["shift_jis", "euc-jp", "iso-2022-jp", "utf-16"])
async def test_a_page_in_an_old_encoding_is_read_by_its_header(encoding: str) -> None:
    text = "アオサギは水辺に立つ。"

    page = await fetch_body(text.encode(encoding), Content_Type=f"text/plain; charset={encoding}")

    assert page.text == text
