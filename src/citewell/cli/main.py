"""The `citewell` command: a table of commands, each imported only when it is used."""

from __future__ import annotations

import argparse
import atexit
import gc
import io
import keyword
import os
import re
import sys
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

from citewell import __version__
from citewell.cli.parser import (
    choose_action,
    fill_for_terminal,
    new_parser,
    parse_command,
    refuse_unknown_options,
)
from citewell.core.errors import CitewellError, InvalidArgument, SettingsError
from citewell.core.settings import explain_unknown_variables, load_settings, setting_fields
from citewell.core.settings_sources import variable_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citewell.cli.parser import Actions, Command
    from citewell.core.settings import Settings

COMMANDS = {
    "ask": "answer a question from web pages, with cited evidence",
    "ingest": "fetch and index pages, so that search finds them",
    "search": "search indexed pages; fetches nothing",
    "status": "show what is indexed",
    "sync": "index the documentation of the packages that a project uses",
    "compare": "show what two indexed versions say, with the difference marked",
    "packages": "list the indexed versions of packages, or drop old ones",
    "remove": "delete pages, files or websites from the index",
    "sites": "keep a library of websites: add, list, refresh, show, delete",
    "jobs": "show, cancel or retry background work",
    "worker": "do background work until stopped",
    "serve": "run the MCP server, over stdio or HTTP",
    "docs": "serve a folder of Markdown as a website and as MCP tools",
    "keys": "make and revoke the keys of the HTTP server's clients",
    "usage": "show what each key has used",
    "citations": "list the quotes handed out, and whether they still hold",
    "check": "check the quotes and links of documents",
    "check-draft": "check the sentences of a text against the indexed pages",
    "receipt": "write a file that proves quotes to anyone",
    "verify": "check a receipt, offline",
    "reindex": "read stored pages again with this version's extractor",
    "export": "write the library into one file",
    "import": "read a library from a file",
    "migrate": "copy the library from one database to another",
    "doctor": "check this machine, with a fix for each problem found",
    "completion": "print the completion script of bash, zsh or fish",
    "config": "add Citewell to an MCP client, or print what to paste",
}
"""Each name is also the name of the command's module in this package."""
NEED_NO_DATABASE = frozenset({"config", "docs", "completion", "verify"})
READ_DATABASE = frozenset(
    {
        "search",
        "status",
        "packages",
        "compare",
        "remove",
        "sites",
        "jobs",
        "keys",
        "usage",
        "citations",
        "check-draft",
        "receipt",
        "reindex",
        "export",
    }
)
"""These refuse a database that does not exist: it would be made, and be empty."""
_FILLS_DATABASE = frozenset({("sites", "add"), ("keys", "create")})
_BEGINS_DATABASE = frozenset({"ask", "ingest", "sync", "check", "import"})
"""These make the database that is named, but not the folder that it is to be in."""

EXIT_TOOL_ERROR = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141

_NEW_OBJECTS_PER_COLLECTION = 50_000

_EPILOG = """\
first steps:
  citewell ask https://peps.python.org/pep-0008/ "How long can lines be?"
  citewell status
  citewell config claude-desktop

`citewell COMMAND --help` has the arguments and examples of a command. Every setting can also
come from the environment or from the file that --env-file names; docs/reference.md lists them.

exit codes: 0 done, 1 the work failed, 2 wrong usage or setting, 130 interrupted"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that `argv` names and return the exit code."""
    _write_utf8()
    arguments = sys.argv[1:] if argv is None else argv
    # Importing makes many objects and no garbage: looking for it took a tenth of `status`.
    gc.set_threshold(_NEW_OBJECTS_PER_COLLECTION)
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except (InvalidArgument, SettingsError) as error:
        sys.stderr.write(fill_for_terminal(f"citewell: {error.message}") + "\n")
        return EXIT_USAGE
    except CitewellError as error:
        _print_error(error, as_json="--json" in arguments)
        return EXIT_TOOL_ERROR
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _discard_stdout()
        return EXIT_BROKEN_PIPE
    return code


def run_and_leave() -> NoReturn:
    """Run the command of the shell and end the process.

    Freeing the tables of tokenizers and the model piece by piece, as the interpreter does on its
    way out, took a tenth of the CPU time of `citewell search`.
    """
    code = main()
    atexit._run_exitfuncs()
    sys.stderr.flush()
    os._exit(code)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of everything up to the command's name."""
    width = max(map(len, COMMANDS))
    listed = "\n".join(f"  {name:<{width}}  {summary}" for name, summary in COMMANDS.items())
    parser = new_parser(
        "citewell",
        description="Answer questions from web pages and documentation, in cited quotes.",
        epilog=f"commands:\n{listed}\n\n{_EPILOG}",
    )
    parser.usage = "citewell [options] COMMAND …"
    parser.add_argument("-V", "--version", action="version", version=f"citewell {__version__}")
    _add_global_options(parser)
    parser.add_argument("command", metavar="COMMAND", choices=COMMANDS, help=argparse.SUPPRESS)
    rest = parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    rest.required = False
    return parser


def build_command_parser(name: str, action: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of what stands after the name of a command, or of its action."""
    command = load_command(name)
    program = f"citewell {name}" if action is None else f"citewell {name} {action}"
    examples = [line for line in command.EXAMPLES.splitlines() if line.lstrip().startswith(program)]
    parser = new_parser(
        program,
        description=command.DESCRIPTION if action is None else _sentence(_actions(command)[action]),
        epilog="examples:\n" + (command.EXAMPLES if action is None else "\n".join(examples)),
    )
    if action is None:
        command.add_arguments(parser)
    else:
        cast("Actions", command).add_action_arguments(parser, action)
    _add_global_options(parser)
    return parser


def _sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}."


def load_command(name: str) -> Command:
    """Return the module of a command."""
    module = f"{name}_" if keyword.iskeyword(name) else name.replace("-", "_")
    return cast("Command", import_module(f"citewell.cli.{module}"))


def _run(argv: Sequence[str]) -> int:
    if not argv:
        build_parser().print_help(sys.stderr)
        return EXIT_USAGE
    try:
        arguments = _parse(argv)
    except SystemExit as stop:
        # argparse leaves this way after --help, --version and usage errors.
        return cast("int", stop.code)
    try:
        return _run_command(arguments)
    except SettingsError as error:
        raise SettingsError(_in_options(error.message, arguments)) from error


def _run_command(arguments: argparse.Namespace) -> int:
    settings = _load_settings(arguments)
    if arguments.command not in NEED_NO_DATABASE - {"config"}:
        from citewell.store.open import database_file

        database_file(settings.database_url)
    does = (arguments.command, getattr(arguments, "action", None))
    if arguments.command in READ_DATABASE and does not in _FILLS_DATABASE:
        from citewell.cli.database import refuse_missing_database

        refuse_missing_database(settings.database_url)
    made = None
    if arguments.command in _BEGINS_DATABASE or does in _FILLS_DATABASE:
        from citewell.cli.database import new_database

        made = new_database(settings.database_url)
    code = load_command(arguments.command).run(arguments, settings)
    if made is not None and made.exists():
        # A typo in the path is seen this way.
        sys.stderr.write(f"citewell: made a new library in {made}\n")
    return code


def _in_options(message: str, arguments: argparse.Namespace) -> str:
    """Return the message of a wrong setting, with the options that the person used for it."""
    action = getattr(arguments, "action", None)
    declared = build_command_parser(arguments.command, action)._actions
    for option in declared:
        variable = variable_name(option.dest)
        if variable in message and getattr(arguments, option.dest, None) is not None:
            written_as = option.option_strings[-1] if option.option_strings else option.metavar
            message = re.sub(rf"{variable}\b", str(written_as), message)
    return message


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = build_parser()
    before = list(takewhile(lambda word: word not in COMMANDS, argv))
    refuse_unknown_options(parser, before)
    arguments = parser.parse_args(argv)
    command, rest, action = load_command(arguments.command), arguments.rest, None
    if _actions(command):
        action, rest = choose_action(arguments.command, cast("Actions", command), rest)
        arguments.action = action
    return parse_command(build_command_parser(arguments.command, action), rest, arguments)


def _actions(command: Command) -> Mapping[str, str]:
    actions: Mapping[str, str] = getattr(command, "ACTIONS", {})
    return actions


def _print_error(error: CitewellError, *, as_json: bool) -> None:
    from citewell.cli.shell_errors import error_for_shell
    from citewell.cli.terminal import print_error, print_json

    if as_json:
        print_json({"error": error_for_shell(error)})
    else:
        print_error(error_for_shell(error))


def _load_settings(arguments: argparse.Namespace) -> Settings:
    names = {field.name for field in setting_fields()}
    flags = {name: value for name, value in vars(arguments).items() if name in names}
    settings = load_settings(flags, env_file=getattr(arguments, "env_file", None))
    if arguments.command not in NEED_NO_DATABASE:
        settings.refuse_problems({"database_url"})
    for warning in (*settings.problems.values(), *explain_unknown_variables()):
        sys.stderr.write(f"citewell: warning: {warning}\n")
    return settings


def database_address(text: str) -> str:
    """Return the URL of a database that is given as one, or as the path of a file."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty")
    if "://" in text:
        return text
    path = Path(text).expanduser().absolute().as_posix()
    return f"sqlite:///{path.removeprefix('/')}"


def _add_global_options(parser: argparse.ArgumentParser) -> None:
    # SUPPRESS: the command's parser must not undo what was given before the command's name.
    group = parser.add_argument_group("options of every command")
    group.add_argument(
        "--database",
        dest="database_url",
        metavar="PATH|URL",
        type=database_address,
        default=argparse.SUPPRESS,
        help="SQLite file or PostgreSQL database to use (CITEWELL_DATABASE_URL)",
    )
    group.add_argument(
        "--env-file",
        type=Path,
        metavar="FILE",
        default=argparse.SUPPRESS,
        help="read settings from FILE (CITEWELL_ENV_FILE)",
    )
    group.add_argument(
        "--verbose",
        action="store_true",
        default=argparse.SUPPRESS,
        help="show the log on stderr",
    )


def _write_utf8() -> None:
    # A pipe on Windows, or a plain C locale, would fail on the first “›”.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def _discard_stdout() -> None:
    # Else the interpreter fails once more when it flushes stdout on exit.
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)
