"""Serves the example site on loopback and asks it a question through the `citewell` command."""

from __future__ import annotations

import sys
import tempfile
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from citewell.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator

SITE = Path(__file__).parent / "site"
PAGES = ("storage-modes.html", "configuration.html", "data-formats.html")
QUESTION = "What happens when the buoy's memory is full, in ring mode and in journal mode?"
TOKEN_BUDGET = 1500


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and keeps no log."""

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def running_site() -> Iterator[str]:
    """Serve the example site and yield its host and port."""
    handler = partial(QuietHandler, directory=str(SITE))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def ask_the_example_site() -> int:
    """Ask with an index of its own, so that yours is left alone, and return the exit code."""
    with tempfile.TemporaryDirectory() as folder, running_site() as host:
        settings = Path(folder) / "demo.env"
        # Loopback is refused unless it is named: Citewell fetches public addresses only.
        settings.write_text(f"CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS={host}\n", encoding="utf-8")
        urls = [f"http://{host}/{page}" for page in PAGES]
        command = " \\\n      ".join(
            ["citewell ask", *urls, f'"{QUESTION}" --budget {TOKEN_BUDGET}']
        )
        sys.stderr.write(
            f"The example site runs at http://{host}/ and nothing leaves this machine.\n"
            "Citewell fetches three of its pages, indexes them and answers from them:\n\n"
            f"  {command}\n\n"
        )
        database = f"sqlite:///{Path(folder).resolve() / 'demo.db'}"
        options = ["--database", database, "--env-file", str(settings)]
        return main([*options, "ask", *urls, QUESTION, "--budget", str(TOKEN_BUDGET)])


if __name__ == "__main__":
    raise SystemExit(ask_the_example_site())
