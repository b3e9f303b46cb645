"""Choose the tools that a server lists, by the same rules for tools and their prepared JSON.

Imports no tool, so that the stdio front can use it before any is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from citewell.app.search_engines import lacks_search_engine
from citewell.core.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from citewell.core.settings import Settings

Toolset = Literal[
    "research",
    "kb",
    "evidence",
    "graph",
    "websites",
    "web",
    "people",
    "docs",
    "connector",
    "legacy",
    "data",
    "versions",
]

Requirement = Literal["docs_folder", "search_engine"]
"""What settings must provide before a tool can work."""


class Listable(Protocol):
    """What decides whether a tool is listed."""

    @property
    def name(self) -> str:
        """The dotted name."""

    @property
    def toolset(self) -> str:
        """The set that it belongs to."""

    @property
    def in_default(self) -> bool:
        """Whether the set `default` includes it."""

    @property
    def requires(self) -> Requirement | None:
        """What it cannot work without."""


ListableT = TypeVar("ListableT", bound=Listable)


def list_tools(tools: Sequence[ListableT], settings: Settings) -> list[ListableT]:
    """Return the tools that `settings` choose and let work, in their order.

    Raises:
        SettingsError: a toolset or a search engine does not exist, or an engine lacks its key.
    """
    chosen = choose_tools(tools, chosen_toolsets(settings), kb_v2=settings.mcp_kb_v2_enabled)
    unavailable = find_unavailable(tools, settings)
    return [tool for tool in chosen if tool.name not in unavailable]


def chosen_toolsets(settings: Settings) -> tuple[str, ...]:
    """Return the selected toolsets; `default` adds those that the settings make useful."""
    added: list[str] = []
    if "default" in settings.mcp_toolsets:
        # Listed for clients that can ask their user: see `is_shown`.
        added += ["people"]
        added += ["docs"] if settings.docs_root else []
    return (*settings.mcp_toolsets, *added)


def is_shown(
    toolset: str,
    *,
    toolsets: Sequence[str],
    elicits: bool,
    of_key: frozenset[str] | None = None,
) -> bool:
    """Return whether tools of a set are listed for a client.

    Tools that ask the user are listed if the operator or the key `of_key` names their set, or if
    the client can ask. They can always be called, since there is also the console.
    """
    if toolset != "people" or elicits or (of_key is not None and toolset in of_key):
        return True
    return "all" in toolsets or toolset in toolsets


def choose_tools(
    tools: Sequence[ListableT], toolsets: Sequence[str], *, kb_v2: bool = True
) -> list[ListableT]:
    """Return the tools of the named toolsets, in their order.

    Without `kb_v2` there are no kb tools, and `default` includes the legacy ones instead.

    Raises:
        SettingsError: a toolset does not exist.
    """
    known = ["default", "all", *sorted({tool.toolset for tool in tools})]
    for name in toolsets:
        if name not in known:
            raise _unknown_toolset(name, known)
    replacing = None if kb_v2 else "legacy"
    return [
        tool
        for tool in tools
        if (kb_v2 or tool.toolset != "kb")
        and (
            "all" in toolsets
            or tool.toolset in toolsets
            or ("default" in toolsets and (tool.in_default or tool.toolset == replacing))
        )
    ]


def _unknown_toolset(name: str, known: Sequence[str]) -> SettingsError:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1, cutoff=0.75)
    hint = f"did you mean {near[0]}?" if near else f"the toolsets are {', '.join(known)}"
    return SettingsError(f"CITEWELL_MCP_TOOLSETS names {name!r}; {hint}")


def find_unavailable(tools: Iterable[Listable], settings: Settings) -> dict[str, str]:
    """Return the tools that cannot work by name, each with a sentence on what to set.

    Raises:
        SettingsError: a search engine does not exist or lacks its key.
    """
    lacking = {need: find_lack(settings) for need, find_lack in _FIND_LACK.items()}
    return {
        tool.name: reason
        for tool in tools
        if tool.requires is not None and (reason := lacking[tool.requires]) is not None
    }


def has_scopes(settings: Settings) -> bool:
    """Return whether this server has a scope that calls can name."""
    chosen = (settings.project, settings.scope_environment, settings.scope_tags)
    return chosen != ("default", "prod", ())


def hide_scope(input_schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments without `scope`, which is still accepted."""
    arguments = input_schema.get("properties", {})
    shown = {name: schema for name, schema in arguments.items() if name != "scope"}
    return {**input_schema, "properties": shown}


def spell_name(name: str, *, dotted: bool) -> str:
    """Return the name of a tool as a server lists it; every host accepts underscores."""
    return name if dotted else name.replace(".", "_")


def _lacks_docs(settings: Settings) -> str | None:
    return None if settings.docs_root else "No docs folder is served; CITEWELL_DOCS_ROOT names one."


_FIND_LACK: dict[Requirement, Callable[[Settings], str | None]] = {
    "docs_folder": _lacks_docs,
    "search_engine": lacks_search_engine,
}
