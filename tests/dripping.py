"""A server on loopback whose answers never end: a byte every few milliseconds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from typing_extensions import override


@contextmanager
def dripping_server() -> Iterator[str]:
    """Give the address of such a server; it stops on leaving."""
    stopping = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            try:
                while not stopping.wait(0.02):
                    self.wfile.write(b" ")
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        @override
        def log_message(self, format: str, *args: object) -> None:
            """Keep the output of the tests clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            stopping.set()
            server.shutdown()
            thread.join()
