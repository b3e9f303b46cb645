"""Every `citewell` command in the documents is one that the program takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import cast

import pytest

from citewell.cli.main import COMMANDS, build_command_parser, build_parser, load_command
from citewell.cli.parser import Actions, choose_action

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(?:sh|bash|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_ENDS = frozenset({"|", ">", ">>", "<", "&&", "||", ";", "&"})


def commands_of(document: Path) -> list[list[str]]:
    """The arguments of each `citewell …` in the shell blocks of a document."""
    found = []
    for block in _BLOCK.findall(document.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
            lexer.whitespace_split = True
            words = list(lexer)
            for place, word in enumerate(words):
                if word.rpartition("/")[2] == "citewell" and words[place + 1 : place + 2]:
                    found.append(_until_end(words[place + 1 :]))
    return [words for words in found if words and words[0] in COMMANDS]


def _until_end(words: list[str]) -> list[str]:
    ends = [place for place, word in enumerate(words) if word in _ENDS]
    return words[: ends[0]] if ends else words


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_commands_of_a_document_are_taken(document: Path) -> None:
    for words in commands_of(document):
        if "--help" in words:
            continue
        arguments = build_parser().parse_args([_filled(word) for word in words])
        command, rest, action = load_command(arguments.command), arguments.rest, None
        if getattr(command, "ACTIONS", None):
            action, rest = choose_action(arguments.command, cast("Actions", command), rest)
        build_command_parser(arguments.command, action).parse_intermixed_args(rest, arguments)


def test_commands_are_found() -> None:
    assert ["ask", "./docs", "How do I add a user?"] in commands_of(
        ROOT / "docs" / "first-answer.md"
    )


def _filled(word: str) -> str:
    """A number where a document writes a name for one."""
    return {"JOB": "1", "N": "1", "CLIENT": "cursor"}.get(word, word)
