"""HTTP servers on loopback that play a service for a test."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from typing_extensions import override


class QuietHandler(BaseHTTPRequestHandler):
    """A handler that logs nothing and sends each answer whole."""

    protocol_version = "HTTP/1.1"
    # Headers and body leave together: apart, each request waits 40 ms for an acknowledgement.
    wbufsize = 65_536

    def body(self) -> bytes:
        """Return the body of the request."""
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def reply(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Send an answer."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Keep the output of the tests clean."""


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[None]:
    """Serve requests in a thread until leaving, then close the server."""
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)
