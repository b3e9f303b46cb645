"""Makes the pictures of the README from the real program.

    python docs/make_pictures.py PAGE        PAGE is a URL or a file: Python's asyncio-task.html

Asks the page in a temporary database, draws the answer as a terminal shows it
(docs/pictures/ask.svg), and takes pictures of the same question in Chromium: in the web app
(docs/pictures/web.png), and in the MCP Inspector, a client that npx fetches
(docs/pictures/client.png).
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from citewell.cli.answer_view import THEME, AnswerView

if TYPE_CHECKING:
    from collections.abc import Iterator

PICTURES = Path(__file__).resolve().parent / "pictures"
QUESTION = "Does gather keep the order of the results?"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
PAGE = "https://docs.python.org/3/library/asyncio-task.html"
_FONT_OF_THE_WEB = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def main() -> int:
    """Make the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("page", metavar="PAGE", nargs="?", default=PAGE, help="URL or file")
    parser.add_argument("--no-browser", action="store_true", help="only the terminal")
    arguments = parser.parse_args()
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/pictures.db"
        draw_terminal(arguments.page, database)
        if not arguments.no_browser:
            photograph_web_app(database)
            photograph_client(database)
    return 0


def draw_terminal(page: str, database: str) -> None:
    """Draw what `citewell ask` prints on a terminal of 92 columns."""
    command = ["ask", page, QUESTION]
    run_citewell(*command, "--json", "--database", database)
    # Again, so that the time is that of a question to a page which is there.
    began = time.monotonic()
    answer = json.loads(run_citewell(*command, "--json", "--database", database))
    seconds = time.monotonic() - began
    console = Console(
        record=True, width=92, file=io.StringIO(), highlight=False, theme=THEME, color_system="256"
    )
    shown = Text.assemble(("$ ", "dim"), (f'citewell ask {Path(page).name} "{QUESTION}"', "bold"))
    console.print(shown, Text(), sep="\n")
    console.print(AnswerView(result=answer, question=QUESTION, seconds=seconds))
    svg = console.export_svg(title="citewell", theme=MONOKAI)
    # A picture in a README loads nothing from elsewhere.
    plain = _FONT_OF_THE_WEB.sub("", svg).replace("Fira Code", "ui-monospace, Menlo, Consolas")
    (PICTURES / "ask.svg").write_text(plain, encoding="utf-8")


def photograph_web_app(database: str) -> None:
    """Photograph the web app of a server that runs on this database, after a question."""
    from playwright.sync_api import sync_playwright

    with running_server(database) as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1100, "height": 700})
        # Twice, as at the terminal: the first question loads the models.
        for _ in range(2):
            tab.goto(address)
            tab.fill("#question", QUESTION)
            tab.press("#question", "Enter")
            tab.locator(".quote-card").first.wait_for(timeout=120_000)
        tab.screenshot(path=str(PICTURES / "web.png"))
        browser.close()


def photograph_client(database: str) -> None:
    """Photograph the MCP Inspector after it has called `search` of a server that it started."""
    from playwright.sync_api import sync_playwright

    with running_inspector(database) as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1440, "height": 800})
        tab.set_default_timeout(120_000)
        # Its fonts are elsewhere; a picture is made without a network.
        tab.route(lambda url: not url.startswith(address), lambda route: route.abort())
        tab.goto(address, wait_until="commit")
        tab.get_by_role("switch", name="Connect or disconnect").first.click(force=True)
        tab.get_by_text("Tools", exact=True).first.click()
        tab.get_by_text("search", exact=True).first.click()
        tab.get_by_role("button", name="Close monitoring sidebar").click()
        tab.get_by_role("textbox", name="query").fill(QUESTION)
        tab.get_by_role("button", name="Execute Tool").click()
        tab.get_by_text("[SOURCES]").first.wait_for()
        tab.screenshot(path=str(PICTURES / "client.png"))
        browser.close()


@contextmanager
def running_inspector(database: str) -> Iterator[str]:
    """Run the MCP Inspector for a server over stdio until the block ends, and give its address."""
    server = [sys.executable, "-m", "citewell", "serve", "--database", database]
    # Without its own sign-in, it is open to whoever is on this machine while the picture is taken.
    settings = ["CLIENT_PORT=8798", "MCP_AUTO_OPEN_ENABLED=false", "DANGEROUSLY_OMIT_AUTH=true"]
    with subprocess.Popen(
        ["env", *settings, "npx", "--yes", INSPECTOR, "--web", "--", *server],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    ) as inspector:
        assert inspector.stdout is not None
        for line in inspector.stdout:
            if "127.0.0.1:8798" in line:
                break
        try:
            yield "http://127.0.0.1:8798"
        finally:
            # npx starts it as a process of its own, which would go on alone.
            os.killpg(inspector.pid, signal.SIGTERM)


@contextmanager
def running_server(database: str) -> Iterator[str]:
    """Run the HTTP server until the block ends, and give its address."""
    options = ["--transport", "streamable-http", "--port", "8799", "--database", database]
    with subprocess.Popen(
        [sys.executable, "-m", "citewell", "serve", *options],
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as server:
        assert server.stderr is not None
        for line in server.stderr:
            if "8799" in line:
                break
        else:
            raise ChildProcessError("the server has ended before it served")
        try:
            yield "http://127.0.0.1:8799"
        finally:
            server.terminate()


def run_citewell(*arguments: str) -> str:
    """Return what the command prints on stdout."""
    return subprocess.run(
        [sys.executable, "-m", "citewell", *arguments],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
