"""How a page looks to everyone: what axe-core finds, and whether something sticks out."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

_AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def faults_of(page: Page) -> list[str]:
    """Return what axe-core finds in the page, minor findings left out."""
    # Not by a script element: the page's policy lets no foreign script run.
    page.evaluate(f"{_AXE}; void 0")
    found: dict[str, Any] = page.evaluate("axe.run(document)")
    return [
        f"{violation['id']}: {violation['nodes'][0]['html'][:160]}"
        for violation in found["violations"]
        if violation["impact"] != "minor"
    ]


def fits(page: Page) -> bool:
    """Tell whether nothing sticks out to the side."""
    return bool(
        page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
    )
