"""What a person sees: progress on stderr, text and errors, in colour only on a terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from citewell.core.progress import OnProgress, no_progress
from citewell.core.text import safe_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# `styled_terminal` is imported where there is a terminal: it takes longer than most commands.


def print_text(text: str, *, wraps: bool = True) -> None:
    """Print `text` on stdout; on a terminal its section headers stand out.

    On a terminal control characters are shown, not obeyed, and `wraps` breaks lines between words.
    A pipe gets the text as it is.
    """
    if not sys.stdout.isatty():
        print(text)
        return
    from citewell.cli.styled_terminal import print_styled_text

    print_styled_text(text, wraps=wraps)


def print_json(value: object) -> None:
    """Print `value` on stdout as JSON for programs, which people look at on terminals too."""
    print(safe_json(value))


def print_error(error: Mapping[str, object]) -> None:
    """Print on stderr what went wrong and what to try, from the `error` object of a result."""
    from citewell.cli.shell_errors import in_shell_words
    from citewell.cli.styled_terminal import print_styled_error

    print_styled_error(in_shell_words(error))


@contextmanager
def showing_progress() -> Iterator[OnProgress]:
    """Show a line for each phase of the work while it goes on; nothing when stderr is no terminal.

    The lines are gone when the work is done, so that they never stand between results.
    """
    if not sys.stderr.isatty():
        yield no_progress
        return
    from citewell.cli.styled_terminal import showing_lines

    with showing_lines() as on_progress:
        yield on_progress
