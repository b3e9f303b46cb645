"""A model endpoint on loopback: answers POSTs with what a test scripted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any

from tests.loopback import QuietHandler, serving


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

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = json.loads(self.body())
            headers = dict(self.headers.items())
            answer = model.answer(Call(path=self.path, headers=headers, body=body))
            raw = (
                answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            )
            self.reply(answer.status, raw, answer.headers)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    with serving(server):
        yield model
