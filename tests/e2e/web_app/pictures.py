"""Pictures of every page of the web app: `python -m tests.e2e.web_app.pictures FOLDER`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page
from tests.e2e.browser import running_browser
from tests.e2e.web_app.scene import Scene, running_scene

SIZES = {"wide": (1280, 900), "390": (390, 844), "320": (320, 700)}


def addresses(scene: Scene) -> dict[str, str]:
    """Return every page and state to look at, by name."""
    found = scene.call("search", query="What does the grey heron eat?")
    evidence = found["evidence"][0]
    source = next(s for s in found["sources"] if s["number"] == evidence["source"])
    return {
        "ask": "/",
        "found": "/?q=What+does+the+grey+heron+eat%3F",
        "reader": f"/read/{source['source_id']}",
        "quote": f"/read/{source['source_id']}#{evidence['id']}",
        "changes": f"/read/{source['source_id']}/changes",
        "library": "/library",
        "website": f"/library/{source['source_id']}",
        "pages": "/library/pages",
        "questions": "/mcp/tools/ask_user",
        "history": "/mcp/tools/ask_user/history",
        "directives": "/mcp/tools/get_user_requests",
        "citations": "/citations",
        "usage": "/mcp/console/usage",
        "calls": "/mcp/console/calls",
        "keys": "/mcp/console/keys",
        "inspector": "/mcp/debug",
        "connected": "/mcp/debug?endpoint=/mcp",
        "error": "/nowhere",
    }


def take(page: Page, scene: Scene, folder: Path, names: set[str]) -> None:
    """Take the pictures of the named pages, or of all."""
    for name, address in addresses(scene).items():
        if names and name not in names:
            continue
        for size, (width, height) in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            for scheme in ("light", "dark"):
                if scheme == "dark" and size == "320":
                    continue
                page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
                page.goto(f"{scene.url}{address}")
                page.wait_for_load_state("networkidle" if "#" in address else "load")
                picture = folder / f"{name}-{size}-{scheme}.png"
                page.screenshot(path=picture, full_page="#" not in address)


def main() -> None:
    """Take pictures into the folder that the command names."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as home,
        running_scene(Path(home), "/handbook", "/owls", "/hostile") as scene,
        running_browser() as browser,
    ):
        take(browser.new_page(), scene, folder, set(sys.argv[2:]))


if __name__ == "__main__":
    main()
