"""A billing service on loopback that speaks as OneAPI does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any

from tests.loopback import QuietHandler, serving


@dataclass
class BillingServer:
    """What the service knows, and what it was asked."""

    url: str = ""
    quotas: dict[str, int] = field(default_factory=dict)
    charges: list[tuple[str, int, str]] = field(default_factory=list)
    asked: int = 0
    reserves: bool = True
    """Whether it knows reservations; one that does not charges at once, whatever the phase."""
    held: dict[str, tuple[str, int, str]] = field(default_factory=dict)
    status: int | None = None
    """Answered to everything when set."""
    body: bytes = b"not json"

    def answer(self, method: str, path: str, token: str, sent: dict[str, Any]) -> tuple[int, bytes]:
        self.asked += 1
        if self.status is not None:
            return self.status, self.body
        if token not in self.quotas:
            return 401, _said(f"invalid token {token}")
        if (method, path) == ("GET", "/api/token/balance"):
            return 200, json.dumps({"success": True, "data": {}}).encode()
        if (method, path) != ("POST", "/api/token/consume"):
            return 404, _said("no such path")
        return self._consume(token, sent)

    def _consume(self, token: str, sent: dict[str, Any]) -> tuple[int, bytes]:
        phase = sent.get("phase", "single") if self.reserves else "single"
        if phase in ("post", "cancel"):
            token, units, reason = self.held.pop(sent["transaction_id"])
            charged = sent["final_used_quota"] if phase == "post" else 0
            self.quotas[token] += units - charged
            if phase == "post":
                self.charges.append((token, charged, reason))
            return 200, json.dumps({"success": True}).encode()
        units = sent["add_used_quota"]
        if units > self.quotas[token]:
            return 200, _said("insufficient quota")
        self.quotas[token] -= units
        bill = (token, units, sent["add_reason"])
        if phase == "single":
            self.charges.append(bill)
            return 200, json.dumps({"success": True}).encode()
        held = f"held-{self.asked}"
        self.held[held] = bill
        transaction = {"transaction_id": held, "status": "pending"}
        return 200, json.dumps({"success": True, "transaction": transaction}).encode()


def _said(message: str) -> bytes:
    return json.dumps({"success": False, "message": message}).encode()


@contextmanager
def billing_server() -> Iterator[BillingServer]:
    """Run a service on a free port until leaving."""
    service = BillingServer()

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self._answer("GET", {})

        def do_POST(self) -> None:
            self._answer("POST", json.loads(self.body()))

        def _answer(self, method: str, sent: dict[str, Any]) -> None:
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            self.reply(*service.answer(method, self.path, token, sent))

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_port}"
    with serving(server):
        yield service
