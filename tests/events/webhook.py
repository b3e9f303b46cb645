"""A webhook on loopback that keeps what it is sent, and may never answer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream

NO_CONTENT = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"


@dataclass
class Webhook:
    """What the webhook was sent."""

    url: str
    answer: bytes | None
    floods: bool
    flooded_bytes: int = 0
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    reached: anyio.Event = field(default_factory=anyio.Event)
    answered: anyio.Event = field(default_factory=anyio.Event)

    async def serve(self, stream: SocketStream) -> None:
        async with stream:
            received = b""
            while b"\r\n\r\n" not in received:
                received += await stream.receive()
            head, _, body = received.partition(b"\r\n\r\n")
            lines = [line.partition(": ") for line in head.decode().split("\r\n")[1:]]
            headers = {name.lower(): value for name, _, value in lines}
            while len(body) < int(headers["content-length"]):
                body += await stream.receive()
            self.bodies.append(json.loads(body))
            self.headers.append(headers)
            self.reached.set()
            answer = self.answer
            while answer is None:
                await anyio.sleep_forever()
            await stream.send(answer)
            with suppress(anyio.BrokenResourceError):
                while self.floods and self.flooded_bytes < 200_000_000:
                    await stream.send(bytes(1_000_000))
                    self.flooded_bytes += 1_000_000
            self.answered.set()


@asynccontextmanager
async def running_webhook(
    answer: bytes | None = NO_CONTENT, *, floods: bool = False
) -> AsyncIterator[Webhook]:
    """Serve the webhook on a free loopback port.

    Without an `answer` it never answers; one that floods goes on until the client leaves.
    """
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    port = listener.extra(SocketAttribute.local_port)
    webhook = Webhook(url=f"http://127.0.0.1:{port}/hook", answer=answer, floods=floods)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, webhook.serve)
        yield webhook
        tasks.cancel_scope.cancel()
    await listener.aclose()
