"""Writes the tables of tools, prompts, settings, commands and errors into the documents.

    python docs/generate_tables.py            write them
    python docs/generate_tables.py --check    fail when a document is behind the code

A table stands between <!-- name --> and <!-- /name -->; what is between is replaced.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tool_contracts import shown_default, table, tool_contracts

from citewell.cli.main import COMMANDS, build_command_parser, build_parser
from citewell.core.errors import CitewellError
from citewell.core.settings import setting_fields
from citewell.core.settings_sources import variable_name
from citewell.core.tokens import count_tokens
from citewell.tools.catalog import ALL_TOOLS
from citewell.tools.prompts import PROMPTS
from citewell.tools.resources import TEMPLATES
from citewell.tools.toolsets import choose_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from citewell.tools.tool import Tool

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = (
    ROOT / "README.md",
    ROOT / "docs" / "reference.md",
    ROOT / "docs" / "tools.md",
)


def tool_table() -> str:
    """One line for each tool: what it is for."""
    rows = (
        (f"`{tool.underscored_name}`", _first_sentence(tool.description), f"`{tool.toolset}`")
        for tool in ALL_TOOLS
    )
    return table(("tool", "what it does", "toolset"), rows)


def default_tool_table() -> str:
    """One line for each tool that a client sees by default."""
    rows = (
        (f"`{tool.underscored_name}`", _first_sentence(tool.description))
        for tool in ALL_TOOLS
        if tool.in_default
    )
    return table(("tool", "what it does"), rows)


def toolset_table() -> str:
    """One line for each toolset: how many tokens a model pays for its list."""
    names = ["default", *dict.fromkeys(tool.toolset for tool in ALL_TOOLS), "all"]
    chosen = {name: choose_tools(ALL_TOOLS, [name]) for name in names}
    rows = (
        (f"`{name}`", str(len(tools)), _listing_tokens(tools)) for name, tools in chosen.items()
    )
    return table(("toolset", "tools", "tokens"), rows)


def _listing_tokens(tools: Iterable[Tool[Any, Any, Any]]) -> str:
    listed = [
        {
            "name": tool.underscored_name,
            "description": tool.description,
            "inputSchema": tool.input_schema(),
            "outputSchema": tool.output_schema(),
        }
        for tool in tools
    ]
    return f"{count_tokens(json.dumps(listed, separators=(',', ':'))):,}"


def prompt_table() -> str:
    """One line for each prompt with its arguments."""
    rows = (
        (
            f"`/{prompt.name}`",
            ", ".join(f"`{argument.name}`" for argument in prompt.arguments),
            prompt.description,
            ", ".join(f"`{tool.replace('.', '_')}`" for tool in prompt.tools),
        )
        for prompt in PROMPTS
    )
    return table(("prompt", "arguments", "what it does", "tools"), rows)


def resource_table() -> str:
    """One line for each kind of resource."""
    rows = (
        (f"`{each.uri_template}`", f"`{each.mime_type}`", each.description) for each in TEMPLATES
    )
    return table(("URI", "type", "what it is"), rows)


def setting_table() -> str:
    """One line for each setting, in the order of the code."""
    rows = (
        (
            f"`{variable_name(field.name)}`",
            shown_default(field.default),
            _about_setting(field.metadata),
        )
        for field in setting_fields()
    )
    return table(("setting", "default", "meaning"), rows)


def command_table() -> str:
    """One line for each command."""
    rows = ((f"`citewell {name}`", summary) for name, summary in COMMANDS.items())
    return table(("command", "what it does"), rows)


def command_options() -> str:
    """A section for each command with its arguments, after those that every command has."""
    common = [action for action in _actions(build_parser()) if action.option_strings]
    shared = {action.dest for action in common}
    sections = ["### Every command\n\n" + _option_table(common)]
    for name in COMMANDS:
        parser = build_command_parser(name)
        own = [action for action in _actions(parser) if action.dest not in shared]
        examples = (parser.epilog or "").removeprefix("examples:\n")
        sections.append(
            f"### citewell {name}\n\n{parser.description}\n\n{_option_table(own)}\n\n"
            f"```sh\n{_dedent(examples)}\n```"
        )
    return "\n\n".join(sections)


def error_table() -> str:
    """One line for each error, parents before children."""
    rows = (
        (
            f"`{error.__name__}`",
            f"`{error.code}`",
            f"`{error.type}`",
            (error.__doc__ or "").split("\n")[0],
            error.suggestion,
        )
        for error in _error_tree(CitewellError)
    )
    return table(("error", "code", "type", "when", "suggestion"), rows)


TABLES: Mapping[str, Callable[[], str]] = {
    "tools": tool_table,
    "default-tools": default_tool_table,
    "tool-contracts": tool_contracts,
    "toolsets": toolset_table,
    "prompts": prompt_table,
    "resources": resource_table,
    "settings": setting_table,
    "commands": command_table,
    "command-options": command_options,
    "errors": error_table,
}


def render(document: str) -> str:
    """Return the text of a document with its tables renewed."""
    for name, make in TABLES.items():
        start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        if start in document:
            before, rest = document.split(start, 1)
            after = rest.split(end, 1)[1]
            document = f"{before}{start}\n{make()}\n{end}{after}"
    return document


def main() -> int:
    """Write the tables, or with --check only say which documents are behind."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail when behind")
    check = parser.parse_args().check
    behind = [path for path in DOCUMENTS if render(_read(path)) != _read(path)]
    for path in behind:
        if check:
            sys.stderr.write(f"{path.name} is behind the code: run docs/generate_tables.py\n")
        else:
            path.write_text(render(_read(path)), encoding="utf-8")
    return 1 if check and behind else 0


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.;])\s", text.replace("\n", " "), maxsplit=1)[0].rstrip(";.") + "."


def _about_setting(metadata: Mapping[str, Any]) -> str:
    low, high = metadata["at_least"], metadata["at_most"]
    bounds = [f"at least {low:g}"] if low is not None else []
    bounds += [f"at most {high:g}"] if high is not None else []
    return metadata["about"] + (f" ({', '.join(bounds)})" if bounds else "")


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    # argparse has no public list of what was declared.
    return [action for action in parser._actions if action.help != argparse.SUPPRESS]


def _option_table(actions: Iterable[argparse.Action]) -> str:
    rows = []
    for action in actions:
        value = "" if action.nargs == 0 else f" {action.metavar or _choices(action)}"
        if action.option_strings:
            names = ", ".join(f"`{option}{value}`" for option in action.option_strings)
        else:
            names = f"`{action.metavar}`"
        rows.append((names, action.help or ""))
    return table(("argument", "meaning"), rows)


def _choices(action: argparse.Action) -> str:
    return "|".join(map(str, action.choices or ())) or action.dest.upper()


def _dedent(text: str) -> str:
    return "\n".join(line.removeprefix("  ") for line in text.splitlines())


def _error_tree(error: type[CitewellError]) -> Iterator[type[CitewellError]]:
    yield error
    for child in error.__subclasses__():
        yield from _error_tree(child)


if __name__ == "__main__":
    raise SystemExit(main())
