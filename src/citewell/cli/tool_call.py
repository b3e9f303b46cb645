"""Runs a tool of the research set the way a server would."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from citewell.cli.work import Outcome, run_work
from citewell.core.records import Caller

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable, Mapping

    from citewell.app.open import App
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings
    from citewell.tools.registry import Tool
    from citewell.tools.results import ToolResult

    Beforehand = Callable[[App, OnProgress], Awaitable[None]]
    Afterwards = Callable[[App, ToolResult, OnProgress], Awaitable[None]]


def call_tool(
    name: str,
    tool_arguments: Mapping[str, object],
    *,
    arguments: argparse.Namespace,
    settings: Settings,
    beforehand: Beforehand | None = None,
    afterwards: Afterwards | None = None,
) -> int:
    """Call a tool of the research set, print what it returns and return the exit code.

    `tool_arguments` that are None are left out, so that the tool's own defaults hold.
    `beforehand` is what the call relies on.
    `afterwards` is what a server would do in the background, and a command must finish itself.

    Raises:
        SettingsError: a setting names something that does not exist.
    """
    given = {key: value for key, value in tool_arguments.items() if value is not None}
    return run_work(
        partial(_call, name, given, settings, beforehand, afterwards), arguments, settings
    )


async def _call(
    name: str,
    given: Mapping[str, object],
    settings: Settings,
    beforehand: Beforehand | None,
    afterwards: Afterwards | None,
    app: App,
    on_progress: OnProgress,
) -> Outcome:
    # Imported late: `--help` and a slip in the arguments are answered without.
    from citewell.tools.limits import limited_registry

    # The one tool, and not from the catalogue: the shell has it whichever tools the server lists.
    tool: Tool[Any, Any, Any] = import_module(f"citewell.tools.research.{name}").TOOL
    registry = limited_registry([tool], settings)
    # A wrong setting is raised here; inside a call it would become the call's result.
    await app.open(*tool.needs)
    if beforehand is not None:
        await beforehand(app, on_progress)
    caller = Caller(session="cli", project=settings.project)
    result = await registry.call(name, given, app=app, caller=caller, on_progress=on_progress)
    if afterwards is not None and not result.is_error:
        await afterwards(app, result, on_progress)
    return Outcome(text=result.text, structured=result.structured, has_failed=result.is_error)
