"""The docs tools over a small folder, called as a transport calls them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.docsite.folders import BIRDS, open_folder

from citewell.core.records import Caller
from citewell.core.settings import Settings
from citewell.tools.docs.front import DocsFront
from citewell.tools.results import ToolResult

SIDEBAR = "- [Home](index.md)\n- Guide\n  - [Herons](guide/herons.md)\n  - [Owls](guide/owls.md)\n"


class Desk:
    """Calls one folder's tools."""

    def __init__(
        self, root: Path, pages: Mapping[str, str | bytes] | None = None, **settings: Any
    ) -> None:
        self.folder = open_folder(root, {**BIRDS, "sidebar.md": SIDEBAR, **(pages or {})})
        given: dict[str, Any] = {
            "docs_root": str(root),
            "docs_base_url": "https://birds.example",
            **settings,
        }
        self._front = DocsFront(self.folder, Settings(**given))

    async def call(self, name: str, **arguments: object) -> ToolResult:
        return await self._front.call(name, arguments, caller=Caller(session="s"))
