"""Pictures of every page of the web app: `python -m tests.e2e.web_app.pictures FOLDER [NAME…]`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from playwright.sync_api import Page
from tests.e2e.browser import running_browser
from tests.e2e.web_app.scene import Scene, running_scene
from tests.e2e.web_app.states import ACTS, EMPTY, change_the_handbook, fill_desk, make_key

SIZES = {"wide": (1280, 900), "zoomed": (640, 450), "390": (390, 844), "320": (320, 700)}
"""Width and height; a screen of 1280 pixels has 640 at a zoom of 200 %."""


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


def looks(page: Page) -> Iterator[str]:
    """Set each size and colour in turn, and name it."""
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark") if size in ("wide", "390") else ("light",):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            yield f"{size}-{scheme}"


def take(page: Page, url: str, shown: dict[str, str], folder: Path) -> None:
    """Take the pictures of pages that have an address."""
    for name, address in shown.items():
        for look in looks(page):
            # From another page, so that a quote's address is opened as a reader would open it.
            page.goto("about:blank")
            page.goto(f"{url}{address}")
            page.wait_for_load_state("networkidle" if "#" in address else "load")
            if name == "connected":
                page.locator("#fields label").first.wait_for()
            page.screenshot(path=folder / f"{name}-{look}.png", full_page="#" not in address)


def main() -> None:
    """Take pictures into the folder that the command names."""
    folder, wanted = Path(sys.argv[1]), set(sys.argv[2:])
    folder.mkdir(parents=True, exist_ok=True)

    def chosen(shown: dict[str, str]) -> dict[str, str]:
        return {name: at for name, at in shown.items() if not wanted or name in wanted}

    with tempfile.TemporaryDirectory() as home, running_browser() as browser:
        page = browser.new_page()
        with running_scene(Path(home, "empty")) as scene:
            take(page, scene.url, chosen(EMPTY), folder)
        with (
            running_scene(Path(home, "full"), "/handbook", "/owls", "/hostile") as scene,
            ThreadPoolExecutor() as agents,
        ):
            waiting = fill_desk(page, scene, agents)
            change_the_handbook(page, scene)
            take(page, scene.url, chosen(addresses(scene)), folder)
            for name, act in ACTS.items():
                for look in looks(page) if not wanted or name in wanted else ():
                    act(page, scene)
                    page.screenshot(path=folder / f"{name}-{look}.png", full_page=True)
            page.goto(f"{scene.url}/mcp/tools/ask_user")
            page.get_by_role("button", name="Yes, tonight").click()
            assert all(call.result(60) for call in waiting)
            make_key(page, scene)
            for look in looks(page) if not wanted or "key-made" in wanted else ():
                page.screenshot(path=folder / f"key-made-{look}.png", full_page=True)
            take(page, scene.url, chosen({"locked": "/library"}), folder)


if __name__ == "__main__":
    main()
