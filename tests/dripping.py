"""A server on loopback whose answers never end: a byte every few milliseconds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer

from tests.loopback import QuietHandler, serving


@contextmanager
def dripping_server() -> Iterator[str]:
    """Give the address of such a server; it stops on leaving."""
    stopping = threading.Event()

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.0"
        wbufsize = 0

        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            try:
                while not stopping.wait(0.02):
                    self.wfile.write(b" ")
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with serving(server):
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            stopping.set()
