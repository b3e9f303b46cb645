"""Runs a tool of the research set the way a server would."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from citewell.cli.openings import with_openings, with_pair_openings
from citewell.cli.shell_errors import name_page
from citewell.cli.work import Outcome, run_work
from citewell.core.frozen import frozen
from citewell.core.records import Caller

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from citewell.app.open import App
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings
    from citewell.tools.tool import Tool

    Beforehand = Callable[[App, OnProgress], Awaitable["Unread"]]
    Show = Callable[[Mapping[str, Any]], None]


@frozen
class Unread:
    """Pages that could not be got: the `url`, `reason` and `suggestion` of each."""

    failures: Sequence[Mapping[str, str]] = ()
    """Those that were asked for."""
    warnings: Sequence[Mapping[str, str]] = ()
    """Those that were only found in what was asked for."""


def call_tool(
    name: str,
    tool_arguments: Mapping[str, object],
    *,
    arguments: argparse.Namespace,
    settings: Settings,
    toolset: str = "research",
    beforehand: Beforehand | None = None,
    show: Show | None = None,
) -> int:
    """Call a tool of a toolset, print what it returns and return the exit code.

    `tool_arguments` that are None are left out, so that the tool's own defaults hold.
    `beforehand` does what the call relies on, and returns the pages that it could not get; those
    that are warnings are listed, but do not make the call fail.
    `show` prints the structured result for a person at a terminal.

    Raises:
        SettingsError: a setting names something that does not exist.
    """
    # A model gets the brief with the lines of the page.
    wraps = not getattr(arguments, "brief", False)
    given = {key: value for key, value in tool_arguments.items() if value is not None}
    call = _Call(name, given, toolset=toolset, beforehand=beforehand, show=show, wraps=wraps)
    return run_work(call.run, arguments, settings)


@dataclass(frozen=True, slots=True)
class _Call:
    """One call with what goes before it and after it."""

    name: str
    given: Mapping[str, object]
    toolset: str
    beforehand: Beforehand | None
    show: Show | None
    wraps: bool

    async def run(self, app: App, on_progress: OnProgress) -> Outcome:
        """Call the tool and return what it printed."""
        # Imported late: `--help` and a slip in the arguments are answered without.
        from citewell.tools.limits import limited_registry

        # The one tool, and not from the catalogue: the shell has it whichever tools are listed.
        tool: Tool[Any, Any] = import_module(f"citewell.tools.{self.toolset}.{self.name}").TOOL
        registry = limited_registry([tool], app.settings)
        # A wrong setting is raised here; inside a call it would become the call's result.
        await app.open(*tool.needs)
        unread = await self.beforehand(app, on_progress) if self.beforehand else Unread()
        caller = Caller(session="cli", project=app.settings.project)
        result = await registry.call(
            self.name, self.given, app=app, caller=caller, on_progress=on_progress
        )
        structured = dict(result.structured)
        # A page that was asked for and not read is a failure, also beside an answer.
        failures = [*(structured.get("failures") or ()), *unread.failures]
        if failures:
            structured["failures"] = failures
        if unread.warnings:
            structured["warnings"] = list(unread.warnings)
        # The tool reports only its own failures, not the files that are missing here.
        missing = [*unread.failures, *unread.warnings]
        unsaid = [page for page in missing if page["url"] not in result.text]
        lines = [f"\nNot read: {name_page(page['url'], page['reason'])}" for page in unsaid]
        shown = structured
        if self.show is not None and not result.is_error:
            store = (await app.open("store")).store
            if structured.get("pairs"):
                shown = await with_pair_openings(structured, store, project=caller.project)
            elif structured.get("evidence"):
                shown = await with_openings(structured, store)
        return Outcome(
            text=result.text + "".join(lines),
            structured=structured,
            has_failed=result.is_error or bool(failures),
            wraps=self.wraps,
            show=None if self.show is None else partial(self.show, shown),
        )
