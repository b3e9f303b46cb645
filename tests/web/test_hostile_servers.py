"""Servers and addresses made to stall a fetch, to fill the memory, or to lead it inside."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Collection

import anyio
import pytest
from tests.hostile.little_cpu import short_steps
from tests.site import Response, running_site
from tests.web.test_fetched_bodies import fetch, fetch_body, raw_server

from citewell.core.errors import (
    AddressRefused,
    FetchError,
    HostUnreachable,
    HttpStatusError,
    NotAUrl,
    UnsupportedContent,
)
from citewell.web.fetcher import Fetcher
from citewell.web.urls import canonical_url

pytestmark = pytest.mark.anyio

Speak = Callable[[socket.socket, threading.Event], None]

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def flood(start: bytes, piece: bytes) -> Speak:
    """Return a server that says `start` once, and then `piece` without end."""

    def speak(connection: socket.socket, stopping: threading.Event) -> None:
        connection.sendall(start)
        while not stopping.is_set():
            connection.sendall(piece)

    return speak


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 2_000),
        (CHUNKED, b"1\r\na\r\n" * 20_000),
    ],
    ids=["early hints", "chunks of one byte"],
)
async def test_many_small_parts_of_an_answer_are_read_in_turns_with_others(
    start: bytes, piece: bytes
) -> None:
    with raw_server(flood(start, piece)) as port:
        async with short_steps():
            with pytest.raises(HostUnreachable):
                await fetch(port, timeout_seconds=120)


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"".join(b"X-%d: heron\r\n" % number for number in range(10_000)) + b"\r\nheron",
        OK + b"X: " + b"a" * 1_000_000 + b"\r\n\r\nheron",
        b"HTTP/1.1 200 " + b"a" * 1_000_000 + b"\r\n\r\nheron",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\nheron",
        OK + b"Content-Length: -5\r\n\r\nheron",
        OK + b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\nheron",
        OK + b"Content-Length: \xb2\r\n\r\nheron",
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nheron\r\n0\r\n\r\n",
        CHUNKED + b"f" * 30 + b"\r\nheron",
        b"<html>heron</html>",
        b"\0\0\x12\x04\0\0\0\0\0\0",
        b"HTTP/1.1 000 No\r\n\r\nheron",
        OK + b"X: a\0b\r\n\r\nheron",
        OK + b"heron\r\n\r\nheron",
    ],
    ids=["10000-headers", "header-of-1-MB", "status-line-of-1-MB", "another-protocol",
         "negative-length", "length-of-5000-digits", "length-in-other-digits",
         "other-transfer-coding", "chunk-of-a-yottabyte", "http-0.9", "http-2", "status-0",
         "nul-in-header", "header-without-colon"],
)  # fmt: skip
async def test_an_answer_that_is_no_http_ends_at_once(answer: bytes) -> None:
    def speak(connection: socket.socket, stopping: threading.Event) -> None:
        connection.sendall(answer)

    with raw_server(speak) as port, anyio.fail_after(60), pytest.raises(HostUnreachable):
        await fetch(port)


@pytest.mark.parametrize(
    ("speak", "error"),
    [
        (flood(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100), FetchError),
        (flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100), FetchError),
        # By its time or by its pieces, whichever comes first.
        (flood(CHUNKED, b"1\r\na\r\n" * 100), FetchError),
        (flood(CHUNKED + b"5\r\nheron\r\n0\r\n", b"X-A: b\r\n" * 100), HostUnreachable),
        (flood(CHUNKED + b"5\r\nheron\r\n0\r\nX: ", b"a" * 10_000), HostUnreachable),
        (flood(CHUNKED + b"5;", b"a" * 10_000), HostUnreachable),
    ],
    ids=["hints", "continues", "tiny-chunks", "trailers", "trailer-line", "chunk-extension"],
)
async def test_a_flood_ends_at_the_limits(speak: Speak, error: type[FetchError]) -> None:
    with raw_server(speak) as port, anyio.fail_after(60), pytest.raises(error):
        await fetch(port, timeout_seconds=0.4)


async def test_a_body_beyond_its_announced_length_is_not_read() -> None:
    assert (await fetch_body(b"heron", Content_Length="2")).body == b"he"


@pytest.mark.parametrize("times", [2, 100])
async def test_a_compression_of_compressions_is_refused(times: int) -> None:
    with pytest.raises(UnsupportedContent, match="gzip, gzip") as refusal:
        await fetch_body(b"heron", Content_Encoding=", ".join(["gzip"] * times))

    assert len(refusal.value.message) < 300


@pytest.mark.parametrize(
    "charset",
    [
        "utf-7",
        "rot13",
        "zlib_codec",
        "idna",
        "punycode",
        "unicode_escape",
        "undefined",
        "a" * 9_999,
    ],
    ids=lambda charset: charset[:20],
)
async def test_a_charset_that_browsers_do_not_know_decodes_nothing(charset: str) -> None:
    body = b"+ADw-script+AD4- \\u003cscript\\u003e"

    page = await fetch_body(body, Content_Type=f"text/html; charset={charset}")

    assert (page.text, page.encoding) == (body.decode(), "utf-8")


@pytest.mark.parametrize("wait", ["9" * 5_000, "Mon, 99 Foo 99999 99:99:99 GMT", "-1", "²"])
async def test_a_pause_that_cannot_be_read_is_not_waited_for(wait: str) -> None:
    busy = Response(status=503, headers={"Retry-After": wait})
    with (
        running_site({"/a": busy}) as site,
        anyio.fail_after(60),
        pytest.raises(HttpStatusError, match="status 503"),
    ):
        await fetch(site.port)


@pytest.mark.parametrize(
    "host",
    ["127.1", "0177.0.0.1", "017700000001", "0x7f000001", "0x7f.0x0.0x1", "127.0.0.1.",
     "１２７.0.0.1", "①②⑦.⓪.⓪.①", "127。0。0。1", "127.0.0.1%2E", "0", "[::]", "[::127.0.0.1]",
     "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[64:ff9b::7f00:1]",
     "[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "localhost.",
     "LOCALHOST", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "heron.localhost", "loc\u00adalhost", "ex\u0430mple.com",
     "xn--exmple-4nf.com"],
)  # fmt: skip
async def test_no_spelling_of_a_host_leads_inside(host: str) -> None:
    async def resolve(name: str, port: int) -> Collection[str]:
        return ["127.0.0.1", "::1", "::ffff:127.0.0.1"]

    with running_site({"/": "heron"}) as site:
        async with Fetcher(resolve=resolve) as fetcher:
            with pytest.raises(AddressRefused, match="private or reserved"):
                await fetcher.fetch(f"http://{host}:{site.port}/")

    assert site.requests == []


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1%00.example.com", "127.0.0.1 .example.com", "[::1%25lo]", "[::ffff:127.0.0.1",
     "1.2.3.256", "0x7f.1.1.1.1", "xn--a", "xn--\u0430", "a..b", "exa<mple.com"],
)  # fmt: skip
async def test_what_is_no_host_is_refused_before_it_is_looked_up(host: str) -> None:
    async with Fetcher() as fetcher:
        with anyio.fail_after(60), pytest.raises((NotAUrl, HostUnreachable)):
            await fetcher.fetch(f"http://{host}/")


def test_a_letter_that_looks_like_another_is_shown_as_what_it_is() -> None:
    assert canonical_url("http://ex\u0430mple.com/") == "http://xn--exmple-4nf.com/"


def test_port_0_is_not_taken_for_the_usual_one() -> None:
    with pytest.raises(NotAUrl, match="port"):
        canonical_url("http://example.com:0/")


@pytest.mark.parametrize("port", [22, 25, 110, 6379, 11211])
async def test_a_port_of_another_service_is_refused_on_a_public_host(port: int) -> None:
    async with Fetcher() as fetcher:
        with anyio.fail_after(60), pytest.raises(AddressRefused, match=f"port {port} "):
            await fetcher.fetch(f"http://93.184.215.14:{port}/")


@pytest.mark.parametrize(
    "location",
    ["https://ann:secret@example.com/", "ftp://ann:secret@example.com/", "//ann:secret@10.0.0.1/",
     "gopher://ann:secret@127.0.0.1:25/_EHLO", "https:ann:secret@example.com",
     "\\\\ann:secret@example.com\\", "ldap://ann:secret@10.0.0.1/"],
)  # fmt: skip
async def test_a_redirect_with_credentials_is_refused_and_not_repeated(location: str) -> None:
    answer = Response(status=302, headers={"Location": location})
    with running_site({"/a": answer}) as site, pytest.raises(AddressRefused) as refusal:
        await fetch(site.port)

    assert "secret" not in refusal.value.message


@pytest.mark.parametrize(
    "piece",
    ["<div>", "<DIV x>", "<div></p>", "<b>", "<div><table></div></table>", "<x-y></x>"],
)
async def test_a_page_nested_without_end_is_refused_before_it_is_parsed(piece: str) -> None:
    body = (piece * 100_000).encode()[:900_000]
    with anyio.fail_after(60), pytest.raises(UnsupportedContent, match="inside one another"):
        await fetch_body(body, Content_Type="text/html")


@pytest.mark.parametrize(
    "piece",
    ["<div><p>heron</div>", "<br><img><p>", "<table><tr><td>a<td>b</table>", "<a name=x>heron",
     "<div><b><i>heron</div>", "<ul><li><p>a<li>b</ul>"],
)  # fmt: skip
async def test_a_page_of_many_elements_side_by_side_is_read(piece: str) -> None:
    page = await fetch_body((piece * 12_000).encode(), Content_Type="text/html")

    assert page.text == piece * 12_000
