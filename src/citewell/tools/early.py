"""The tools that a stdio client can call before all tools are loaded."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from citewell.core.settings import Settings
    from citewell.tools.registry import Registry

EARLY_TOOLS = {
    "search": "citewell.tools.research.search",
    "status": "citewell.tools.research.status",
}
"""Their modules: importing every tool takes longer than opening the store and searching."""


def open_early_registry(name: str, settings: Settings, *, listed: Collection[str]) -> Registry:
    """Return a registry of one of EARLY_TOOLS, on a server that lists the tools in `listed`."""
    # Imported with the first call: listing tools does not need them.
    from citewell.tools.limits import limited_registry
    from citewell.tools.people.late_answers import LATE_ANSWERS

    return limited_registry(
        [import_module(EARLY_TOOLS[name]).TOOL],
        settings,
        after_call=LATE_ANSWERS if "ask_user" in listed else None,
    )
