"""A real HTTP site on loopback, made from a dict of pages."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer

from tests.loopback import QuietHandler, serving


@dataclass(kw_only=True)
class Request:
    """What the site was asked."""

    path: str
    headers: Mapping[str, str]
    method: str = "GET"


@dataclass(kw_only=True)
class Response:
    """What a page of the site answers."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    wait_seconds: float = 0.0
    """How long the site waits before it answers: a slow page, not a test that sleeps."""


Answer = str | Response | Callable[[Request], "Response"]


class Site:
    """A running site; `pages` may be changed while it runs, `requests` are what it was asked.

    `default` answers every path that has no page; without it, they are not found.
    """

    def __init__(self, pages: Mapping[str, Answer], port: int) -> None:
        self.pages = dict(pages)
        self.default: Answer | None = None
        self.requests: list[Request] = []
        self.port = port
        self.host = f"127.0.0.1:{port}"

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def answer(self, request: Request) -> Response:
        self.requests.append(request)
        page = self.pages.get(request.path) or self.pages.get(request.path.split("?")[0])
        page = self.default if page is None else page
        if page is None:
            return Response(status=404, body=b"not found")
        if isinstance(page, str):
            headers = {"Content-Type": "text/html; charset=utf-8"}
            return Response(body=page.encode(), headers=headers)
        return page if isinstance(page, Response) else page(request)

    def paths(self) -> list[str]:
        """The paths asked for, robots.txt left out."""
        return [request.path for request in self.requests if request.path != "/robots.txt"]


@contextmanager
def running_site(pages: Mapping[str, Answer]) -> Iterator[Site]:
    """Serve `pages` (path to HTML, Response or function) on a free loopback port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), QuietHandler)
    site = Site(pages, server.server_address[1])
    stopping = threading.Event()

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            headers = dict(self.headers.items())
            response = site.answer(Request(path=self.path, headers=headers, method=self.command))
            if response.wait_seconds:
                stopping.wait(response.wait_seconds)
            try:
                self._send(response)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _send(self, response: Response) -> None:
            self.send_response(response.status)
            names = {name.lower() for name in response.headers}
            for name, value in response.headers.items():
                self.send_header(name, value)
            if not names & {"content-length", "transfer-encoding"}:
                self.send_header("Content-Length", str(len(response.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(response.body)
            self.wfile.flush()

    for method in ("HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        setattr(Handler, f"do_{method}", Handler.do_GET)
    server.RequestHandlerClass = Handler
    with serving(server):
        try:
            yield site
        finally:
            stopping.set()


def wait_until(condition: Callable[[], bool], *, seconds: float = 60.0) -> None:
    """Return once `condition` holds; fail when it does not within `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition did not come true in time"
        threading.Event().wait(0.01)
