"""A model endpoint on loopback: answers POSTs with what a test scripted."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from typing_extensions import override


@dataclass(kw_only=True)
class Call:
    """What the endpoint was asked."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass(kw_only=True)
class Answer:
    """What the endpoint answers."""

    body: object
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


Answering = Callable[[Call], Answer]


class ModelServer:
    """A running endpoint; `calls` are what it was asked."""

    def __init__(self, answers: Sequence[Answering]) -> None:
        self.calls: list[Call] = []
        self.url = ""
        self._answers = answers

    def answer(self, call: Call) -> Answer:
        self.calls.append(call)
        # The last answer serves all calls that follow.
        return self._answers[min(len(self.calls), len(self._answers)) - 1](call)


@contextmanager
def running_model_server(*answers: Answering) -> Iterator[ModelServer]:
    """Serve `answers`, one per call, on a free loopback port."""
    model = ModelServer(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = dict(self.headers.items())
            answer = model.answer(Call(path=self.path, headers=headers, body=json.loads(body)))
            raw = (
                answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            )
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        @override
        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
