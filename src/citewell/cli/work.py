"""Runs the work of a command with an open application, and prints the outcome."""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from citewell.app.open import App, open_app
from citewell.cli.main import EXIT_INTERRUPTED, EXIT_TOOL_ERROR, EXIT_USAGE
from citewell.cli.parser import fill_for_terminal
from citewell.cli.terminal import print_error, print_json, print_text, showing_progress
from citewell.core.errors import CitewellError, InvalidArgument, SettingsError
from citewell.core.frozen import frozen
from citewell.core.progress import OnProgress

if TYPE_CHECKING:
    import argparse

    from citewell.core.settings import Settings


LEFT_TO_OTHERS = (
    "A running server or worker does the work; if there is none, start `citewell worker`."
)


@frozen
class Outcome:
    """What a command prints: `text` for a person, `structured` for a program."""

    text: str
    structured: dict[str, Any]
    has_failed: bool = False
    wraps: bool = True
    """Whether its lines are broken between words on a terminal."""
    show: Callable[[], None] | None = None
    """Prints what a person at a terminal reads instead of `text`."""


def interrupted(message: str, *, suggestion: str) -> CitewellError:
    """Return the error of work that the person stopped; `message` says what was kept."""
    return CitewellError(message, suggestion=suggestion, interrupted=True)


Work = Callable[[App, OnProgress], Awaitable[Outcome]]


def run_work(work: Work, arguments: argparse.Namespace, settings: Settings) -> int:
    """Do the work, print its outcome and return the exit code.

    Raises:
        SettingsError: a setting is wrong.
    """
    configure_log(settings, verbose=getattr(arguments, "verbose", False))
    try:
        outcome = anyio.run(partial(_run, work, settings))
    except SettingsError:
        raise
    except KeyboardInterrupt:
        sys.stderr.write(
            "Stopped. Run the same command again to go on; nothing that was stored is lost.\n"
        )
        return EXIT_INTERRUPTED
    except CitewellError as error:
        if error.details.get("interrupted"):
            for line in (error.message, *error.suggestion.splitlines()):
                sys.stderr.write(f"{fill_for_terminal(line)}\n")
            return EXIT_INTERRUPTED
        if error.details.get("declined"):
            sys.stderr.write(f"{error.message}\n")
            return EXIT_TOOL_ERROR
        from citewell.cli.shell_errors import error_for_shell

        outcome = Outcome(text="", structured={"error": error_for_shell(error)}, has_failed=True)
    if arguments.json:
        print_json(outcome.structured)
    elif "error" in outcome.structured:
        print_error(outcome.structured["error"])
    elif outcome.show is not None and sys.stdout.isatty():
        outcome.show()
    else:
        print_text(outcome.text, wraps=outcome.wraps)
    return _exit_code(outcome)


def _exit_code(outcome: Outcome) -> int:
    """Return 2 where the person's words were wrong, wherever that was noticed."""
    error = outcome.structured.get("error") if outcome.has_failed else None
    if isinstance(error, dict) and error.get("type") == InvalidArgument.type:
        return EXIT_USAGE
    return EXIT_TOOL_ERROR if outcome.has_failed else 0


def add_json_option(parser: argparse._ActionsContainer) -> None:
    """Declare --json, which every command that prints a result has."""
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def add_background_option(parser: argparse.ArgumentParser) -> None:
    """Declare --background for a command that would do its work itself."""
    about = "leave the work to a server or worker"
    add_once(parser, "--background", action="store_true", help=about)


def add_once(parser: argparse.ArgumentParser, option: str, **how: Any) -> None:  # noqa: ANN401
    """Declare an option that several actions have, once where all of them are declared."""
    if option not in parser.format_usage():
        parser.add_argument(option, **how)


def configure_log(settings: Settings, *, verbose: bool) -> None:
    """Write the log to stderr when `verbose`, else only the notices that nobody may miss."""
    if verbose:
        from citewell.server.logging_setup import configure_logging

        configure_logging(settings.mcp_log_level, form=settings.mcp_log_format)
    else:
        # Without any handler Python writes warnings to stderr, beside the progress bars.
        logging.getLogger().handlers[:] = [logging.NullHandler()]
        shown = logging.StreamHandler()
        shown.setFormatter(logging.Formatter("citewell: %(message)s"))
        logging.getLogger("citewell.notices").handlers[:] = [shown]


async def _run(work: Work, settings: Settings) -> Outcome:
    with showing_progress() as on_progress:
        async with open_app(settings, role="command") as app:
            return await work(app, on_progress)
