"""Connections of clients that send the smallest pieces, or nothing, or read nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest
from tests.hostile.little_cpu import short_steps
from tests.server.tiny import Aviary, serving
from typing_extensions import override

from citewell.server.paced_connections import PacedHttp
from citewell.server.paced_web_socket import PacedWebSocket

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from anyio.abc import SocketStream

pytestmark = pytest.mark.anyio

_EMPTY_PING = b"\x89\x80\0\0\0\0"
_FULL_PING = b"\x89\xfd\0\0\0\0" + b"x" * 125
_EMPTY_FRAGMENT = b"\x00\x80\0\0\0\0"
_FIRST_FRAGMENT = b"\x01\x80\0\0\0\0"
_UPGRADE = (
    b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: mcp\r\n\r\n"
)
_CHUNKED = (
    b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Accept: application/json, text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)


@pytest.fixture
def steps() -> list[int]:
    """How many bytes each step of a connection was given."""
    return []


@pytest.fixture
async def stream(steps: list[int]) -> AsyncIterator[SocketStream]:
    class NotingHttp(PacedHttp):
        @override
        def data_received(self, data: bytes) -> None:
            steps.append(len(data))
            super().data_received(data)

    class NotingWebSocket(PacedWebSocket):
        @override
        def data_received(self, data: bytes) -> None:
            steps.append(len(data))
            super().data_received(data)

    async with serving(Aviary(), http=NotingHttp, ws=NotingWebSocket) as base:
        port = int(base.rpartition(":")[2])
        async with await anyio.connect_tcp("127.0.0.1", port) as connected:
            yield connected


class HastyHttp(PacedHttp):
    """A connection that must name its request at once."""

    head_seconds = 0.05


async def read_to_end(stream: SocketStream) -> bytes:
    received = b""
    with anyio.fail_after(60):
        try:
            while True:
                received += await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return received


async def send_for_ever(stream: SocketStream, data: bytes) -> None:
    while True:
        await stream.send(data)


async def test_a_body_of_chunks_of_one_byte_is_given_up(
    steps: list[int], stream: SocketStream
) -> None:
    await stream.send(_CHUNKED)

    await stream.send(b"1\r\n[\r\n" * 2_000)
    answer = await stream.receive()

    assert b"chunks of the body are too small" in answer
    assert sum(steps) < 20_000
    assert max(steps) <= 8_192


async def test_the_smallest_frames_are_read_in_short_steps(
    steps: list[int], stream: SocketStream
) -> None:
    await stream.send(_UPGRADE)
    await stream.receive()

    async with short_steps(0.25):
        await stream.send(_EMPTY_PING * 40_000 + b"\x88\x80\0\0\0\0")
        answers = await read_to_end(stream)

    assert answers.startswith(b"\x8a\x00\x8a\x00")
    assert sum(steps) > 200_000
    assert max(steps) <= 8_192


async def test_a_message_of_endless_fragments_ends_the_connection(stream: SocketStream) -> None:
    await stream.send(_UPGRADE)
    await stream.receive()

    async with short_steps(0.25):
        await stream.send(_FIRST_FRAGMENT + _EMPTY_FRAGMENT * 6_000)
        answer = await read_to_end(stream)

    assert int.from_bytes(answer[2:4], "big") == 1009


async def test_who_sends_pings_and_reads_nothing_is_cut_off(stream: SocketStream) -> None:
    await stream.send(_UPGRADE)
    await stream.receive()

    with anyio.fail_after(60), pytest.raises(anyio.BrokenResourceError):
        await send_for_ever(stream, _FULL_PING * 1_000)


async def test_a_connection_that_asks_for_nothing_is_closed() -> None:
    async with serving(Aviary(), http=HastyHttp) as base:
        port = int(base.rpartition(":")[2])
        for said in (b"", b"POST /mcp HTTP/1.1\r\nHost: x\r\n"):
            async with await anyio.connect_tcp("127.0.0.1", port) as silent:
                if said:
                    await silent.send(said)

                assert await read_to_end(silent) == b""
