"""The parsers of the command line: argparse, which also suggests what was meant."""

from __future__ import annotations

import argparse
import re
import sys
from itertools import groupby
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from citewell.core.settings_sources import variable_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from typing_extensions import override

    from citewell.core.settings import Settings
else:

    def override(method: Callable[..., Any]) -> Callable[..., Any]:
        """Stand in for typing_extensions, whose import takes a sixth of `--help`."""
        return method


SYNONYMS = {
    "add": "ingest",
    "crawl": "ingest",
    "delete": "remove",
    "find": "search",
    "index": "ingest",
    "install": "config",
    "list": "status",
    "ls": "status",
    "query": "search",
    "rm": "remove",
}
"""What other programs call our commands, which are spelled too differently to be guessed."""

_MISSING = "the following arguments are required: "
_ROW = re.compile(r"( +\S+ {2,})\S")
_UNKNOWN_OPTION = re.compile(r"unrecognized arguments: (--?[\w-]+)")
_UNKNOWN_CHOICE = re.compile(r"invalid choice: '([^']*+)' \(choose from (.*+)")


class _HelpFormatter(argparse.HelpFormatter):
    """Fills paragraphs and rows of two columns to the width of the terminal.

    Other indented lines, such as examples, stay as they are. What an option can be stands in its
    description: in the usage it would not fit on a line.
    """

    @override
    def _fill_text(self, text: str, width: int, indent: str) -> str:
        filled: list[str] = []
        for is_indented, lines in groupby(text.splitlines(), key=_is_indented):
            if is_indented:
                filled += [_fill_row(line, width) for line in lines]
            else:
                filled.append(super()._fill_text("\n".join(lines), width, indent))
        return "\n".join(filled)

    @override
    def _metavar_formatter(
        self, action: argparse.Action, default_metavar: str
    ) -> Callable[[int], tuple[str, ...]]:
        if not _lists_choices(action):
            return super()._metavar_formatter(action, default_metavar)
        return lambda size: (action.dest.upper(),) * size

    @override
    def _get_help_string(self, action: argparse.Action) -> str | None:
        if not _lists_choices(action):
            return action.help
        return f"{action.help}: {', '.join(map(str, action.choices or ()))}"


def _lists_choices(action: argparse.Action) -> bool:
    return action.choices is not None and action.metavar is None


def _fill_row(line: str, width: int) -> str:
    row = _ROW.match(line)
    if row is None or len(line) <= width:
        return line
    import textwrap

    return textwrap.fill(line, max(width, len(row[1]) + 20), subsequent_indent=" " * len(row[1]))


def _is_indented(line: str) -> bool:
    return line.startswith(" ") or not line.strip() or line.endswith(":")


class Command(Protocol):
    """What a command's module holds."""

    DESCRIPTION: str
    EXAMPLES: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments; one whose `dest` is the name of a setting sets it."""

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        """Do the work and return the exit code."""


class Actions(Protocol):
    """What the module of a command with actions, such as `sites add`, holds beside."""

    ACTIONS: Mapping[str, str]
    """What each does."""
    DEFAULT_ACTION: str | None
    """The one that is meant when none is named; None when one must be named."""

    def add_action_arguments(self, parser: argparse.ArgumentParser, action: str) -> None:
        """Declare the arguments of one action."""


def new_parser(program: str, *, description: str, epilog: str) -> argparse.ArgumentParser:
    """Return a parser whose errors end in what may have been meant."""
    return _Parser(
        prog=program,
        description=description,
        epilog=epilog,
        formatter_class=_HelpFormatter,
        allow_abbrev=False,
    )


def add_setting_option(
    parser: argparse.ArgumentParser, option: str, setting: str, *, metavar: str, about: str
) -> None:
    """Declare an option that stands for a setting, whose variable the help names."""
    help_text = f"{about} ({variable_name(setting)})"
    parser.add_argument(option, dest=setting, metavar=metavar, help=help_text)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a clause that names the nearest known word; empty when none is near."""
    from difflib import get_close_matches

    listed = list(known)
    meant = SYNONYMS.get(word)
    near = [meant] if meant in listed else get_close_matches(word, listed, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def choose_action(command: str, module: Actions, rest: Sequence[str]) -> tuple[str, list[str]]:
    """Return the action that the arguments name and the arguments without it.

    Leaves as argparse does: for `--help`, and where no action is named that must be.
    """
    action = next((word for word in rest if word in module.ACTIONS), None)
    if action is not None:
        left = list(rest)
        left.remove(action)
        return action, left
    words = [word for word in rest if not word.startswith("-")]
    overview = _overview(command, module)
    if {"-h", "--help"} & set(rest):
        overview.parse_args(["--help"])
    is_slip = bool(words) and rest[0] == words[0]
    if is_slip or module.DEFAULT_ACTION is None:
        # Exits with the list of actions and the nearest match.
        overview.parse_args(words[:1])
    assert module.DEFAULT_ACTION is not None, "the parser has left"
    return module.DEFAULT_ACTION, list(rest)


def _overview(command: str, module: Actions) -> argparse.ArgumentParser:
    width = max(map(len, module.ACTIONS))
    listed = "\n".join(f"  {name:<{width}}  {about}" for name, about in module.ACTIONS.items())
    parser = new_parser(
        f"citewell {command}",
        description=getattr(module, "DESCRIPTION", ""),
        epilog=(
            f"actions:\n{listed}\n\n"
            f"`citewell {command} ACTION --help` has the arguments of an action.\n\n"
            f"examples:\n{getattr(module, 'EXAMPLES', '')}"
        ),
    )
    parser.usage = f"citewell {command} ACTION …"
    parser.add_argument("action", metavar="ACTION", choices=module.ACTIONS, help=argparse.SUPPRESS)
    return parser


def refuse_unknown_options(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Leave with a complaint about an option that does not exist.

    argparse would first ask for whatever else is missing.
    """
    for argument in arguments:
        if argument == "--":
            return
        option = argument.partition("=")[0]
        if option.startswith("--") and option not in parser._option_string_actions:
            parser.error(f"unrecognized arguments: {option}")


def parse_command(
    parser: argparse.ArgumentParser, arguments: Sequence[str], namespace: argparse.Namespace
) -> argparse.Namespace:
    """Parse what follows a command: `ask URL --json QUESTION` is as good as with --json last."""
    assert isinstance(parser, _Parser), "new_parser makes no other"
    refuse_unknown_options(parser, arguments)
    # Formatted first, because argparse hides positional arguments while it parses intermixed ones.
    formatter = parser.formatter_class(prog=f"{parser.prog} [options]")
    formatter.add_usage(parser.usage, parser._get_positional_actions(), [])
    parser.short_usage = formatter.format_help()
    return parser.parse_intermixed_args(arguments, namespace)


def number_between(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return the type of an option that is a whole number from `least` to `most`."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if value < least:
            raise argparse.ArgumentTypeError(f"{value} is below {least}")
        if most is not None and value > most:
            raise argparse.ArgumentTypeError(f"{value} is above {most}")
        return value

    return number


def fill_for_terminal(text: str) -> str:
    """Return a complaint with line breaks between its words if stderr is a terminal."""
    if not sys.stderr.isatty():
        return text
    import shutil
    import textwrap

    return textwrap.fill(
        text,
        shutil.get_terminal_size().columns,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


class _Parser(argparse.ArgumentParser):
    short_usage = ""
    """What is shown before a complaint, instead of all options."""

    @override
    def error(self, message: str) -> NoReturn:
        """Print a short usage, the message and what may have been meant; leave with code 2."""
        option, choice = _UNKNOWN_OPTION.search(message), _UNKNOWN_CHOICE.search(message)
        if option:
            message += did_you_mean(option[1], self._option_string_actions)
        elif choice and (near := did_you_mean(choice[1], re.findall(r"[\w-]+", choice[2]))):
            # The list of all choices would hide the one that was meant.
            message = message.partition(" (choose from")[0] + near
        elif message.startswith(_MISSING):
            message += self._choices_of(message.removeprefix(_MISSING).split(", "))
        complaint = fill_for_terminal(f"{self.prog}: error: {message}")
        self.exit(2, f"{self.short_usage or self.format_usage()}{complaint}\n")

    def _choices_of(self, missing: Sequence[str]) -> str:
        """Return what the first of the missing arguments can be, in brackets."""
        for action in self._actions:
            if action.metavar == missing[0] and action.choices:
                return f" ({', '.join(map(str, action.choices))})"
        return ""
