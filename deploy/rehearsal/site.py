"""The example site with two pages more: a slow one, and one that is empty without scripts."""

from __future__ import annotations

import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from typing_extensions import override

HTML = "<!DOCTYPE html><html lang=en><head><title>{0}</title></head><body>{1}</body></html>"
SLOW_SECONDS = 4
MORE_PAGES = {
    "/slow.html": HTML.format(
        "Slow", "<main><h1>Slow</h1><p>Herons stand still for hours.</p></main>"
    ),
    "/scripted.html": HTML.format(
        "Scripted",
        "<main id=app></main><script>setTimeout(() => { document.getElementById('app').innerHTML ="
        " '<h1>Egrets</h1><p>The little egret has ' + (6 + 1) + ' golden plumes.</p>'; }, 300)"
        "</script>",
    ),
}


class Handler(SimpleHTTPRequestHandler):
    """Serves the folder, and the pages above."""

    @override
    def do_GET(self) -> None:
        """Send a page."""
        page = MORE_PAGES.get(self.path)
        if page is None:
            super().do_GET()
            return
        if self.path == "/slow.html":
            threading.Event().wait(SLOW_SECONDS)
        body = page.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    folder, port = sys.argv[1:]
    ThreadingHTTPServer(("", int(port)), partial(Handler, directory=folder)).serve_forever()
