"""A real browser, and what its pages complain of."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, expect, sync_playwright

PATIENCE_MILLISECONDS = 30_000
"""How long a tab waits for what it is to show, on a busy machine too."""


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Start Chromium, whose pages may take their time to show what is expected."""
    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield chromium
        chromium.close()


def note_problems(page: Page, problems: list[str]) -> None:
    """Add errors of scripts, and what the page writes to the console as such, to `problems`."""
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console",
        lambda message: (
            problems.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
