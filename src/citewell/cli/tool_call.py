"""Runs a tool the way a server would, and prints its result for a person or a program."""

from __future__ import annotations

import json
import logging
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import anyio

from citewell.cli.main import EXIT_TOOL_ERROR
from citewell.cli.terminal import print_error, print_text, showing_progress
from citewell.core.errors import CitewellError, SettingsError
from citewell.core.records import Caller
from citewell.server.logging_setup import configure_logging

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable, Mapping

    from citewell.app.open import App
    from citewell.core.results import OnProgress
    from citewell.core.settings import Settings
    from citewell.tools.registry import Tool
    from citewell.tools.results import ToolResult

    Beforehand = Callable[[App, OnProgress], Awaitable[None]]
    Afterwards = Callable[[App, ToolResult, OnProgress], Awaitable[None]]


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Declare --json, which every command that prints a result has."""
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


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
    # Imported late, as in `_call`: `--help` and a slip in the arguments are answered without.
    from citewell.tools.results import error_result

    configure_log(settings, verbose=getattr(arguments, "verbose", False))
    given = {key: value for key, value in tool_arguments.items() if value is not None}
    try:
        result = anyio.run(partial(_call, name, given, settings, beforehand, afterwards))
    except SettingsError:
        raise
    except CitewellError as error:
        result = error_result(error)
    if arguments.json:
        print(json.dumps(result.structured, ensure_ascii=False, indent=2))
    elif result.is_error:
        print_error(result.structured["error"])
    else:
        print_text(result.text)
    return EXIT_TOOL_ERROR if result.is_error else 0


async def _call(
    name: str,
    given: Mapping[str, object],
    settings: Settings,
    beforehand: Beforehand | None,
    afterwards: Afterwards | None,
) -> ToolResult:
    from citewell.app.open import open_app
    from citewell.tools.limits import limited_registry

    # The one tool, and not from the catalogue: that imports them all. The shell has it whichever
    # tools the server lists.
    tool: Tool[Any, Any, Any] = import_module(f"citewell.tools.research.{name}").TOOL
    registry = limited_registry([tool], settings)
    caller = Caller(session="cli", project=settings.project)
    with showing_progress() as on_progress:
        async with open_app(settings, role="command") as app:
            # A wrong setting is raised here; inside a call it would become the call's result.
            await app.open(*tool.needs)
            if beforehand is not None:
                await beforehand(app, on_progress)
            result = await registry.call(
                name, given, app=app, caller=caller, on_progress=on_progress
            )
            if afterwards is not None and not result.is_error:
                await afterwards(app, result, on_progress)
            return result


def configure_log(settings: Settings, *, verbose: bool) -> None:
    """Write the log to stderr when `verbose`, else nowhere."""
    if verbose:
        configure_logging(settings.mcp_log_level, form=settings.mcp_log_format)
    else:
        # Without any handler Python writes warnings to stderr, beside the progress bars.
        logging.getLogger().handlers[:] = [logging.NullHandler()]
