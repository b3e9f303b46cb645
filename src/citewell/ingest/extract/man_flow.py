"""Which lines of a man page `man` lets through: branches, definitions, diversions and the end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CONDITION = re.compile(r"[.'][ \t]*(if|ie|el|while)(?![a-z])[ \t]*(.*)", re.DOTALL)
_DEFINES = re.compile(r"[.'][ \t]*(?:dei?1?|ami?1?|ig)(?!\w)[ \t]*(.*)", re.DOTALL)
_DIVERTS = re.compile(r"[.'][ \t]*(di|da|boxa?|ev)(?!\w)[ \t]*(\S*)")
_PASSES_ON = re.compile(r"[.'][ \t]*(nop|do)(?!\w)[ \t]*(.*)", re.DOTALL)
_SETS = re.compile(r"[.'][ \t]*(?:ds|nr)(?!\w)")
# The page ends here, or what follows has other names and signs for its requests.
_ENDS = re.compile(
    r"[.'][ \t]*(?:ex|nx|ab|(?:cc|c2)[ \t]+\S"
    r"|rn[ \t]+(?:ig|de|am|di|if|ie|el)|als[ \t]+\S{1,40}[ \t]+(?:ig|de|am|di|if|ie|el))(?!\w)"
)
_COMPARED = re.compile(r"(!?)'([^'\\]*)'([^'\\]*)'(.*)", re.DOTALL)
_ON_A_TERMINAL = {"n": True, "t": False, "o": True, "e": False, r"\n(.g": True, r"\n[.g]": True}
_MOST_NESTED = 10


def lines_let_through(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that a terminal shows; where that cannot be known, neither branch."""
    flow = _Flow()
    for line in lines:
        if flow.is_skipped(line):
            continue
        shown: str | None = line
        for _ in range(_MOST_NESTED):
            if shown is None or not shown.startswith((".", "'")):
                break
            if _ENDS.match(shown):
                return
            inner = flow.follow(shown)
            if inner == shown:
                break
            shown = inner
        if shown is not None and (shown.strip(".' \t") or not shown.startswith((".", "'"))):
            yield shown


class _Flow:
    """What is skipped at a line, and whether the last condition held."""

    def __init__(self) -> None:
        self._until = ""
        self._open_braces = 0
        self._diverted_by = ""
        self._held: bool | None = True

    def is_skipped(self, line: str) -> bool:
        """Return whether a line belongs to something that is left out."""
        if self._until:
            # Spaces may follow the sign that begins a request.
            is_end = line[:1] + line[1:].strip() == self._until
            self._until = "" if is_end else self._until
            return True
        if self._open_braces:
            self._open_braces = max(0, self._open_braces + _braces(line))
            return True
        if self._diverted_by:
            match = _DIVERTS.match(line)
            if match and match[1] == self._diverted_by and not match[2]:
                self._diverted_by = ""
            return True
        return False

    def follow(self, line: str) -> str | None:
        """Return what a request lets through, itself where it decides nothing, or None."""
        if match := _DEFINES.match(line):
            named = match[1].split()
            self._until = f".{named[1]}" if len(named) > 1 else ".."
            return None
        if match := _DIVERTS.match(line):
            self._diverted_by = match[1] if match[2] else ""
            return None
        if match := _PASSES_ON.match(line):
            return match[2] if match[1] == "nop" else f".{match[2]}"
        if match := _CONDITION.match(line):
            return self._branch(match[1], match[2])
        if line.lstrip(".' \t").startswith("\\}"):
            return line.replace("\\}", "")
        return line

    def _branch(self, request: str, rest: str) -> str | None:
        if request == "el":
            held, body = None if self._held is None else not self._held, rest
        else:
            held, body = _holds(rest)
        if request == "ie":
            self._held = held
        # Either branch sets a string or a number where nothing is shown.
        if held is None and request == "el" and _SETS.match(body):
            return body
        if not held or request == "while":
            self._open_braces = max(0, _braces(body))
            return None
        return body.replace("\\{\\", "").replace("\\{", "").strip() or None


def _holds(condition: str) -> tuple[bool | None, str]:
    """Return whether a condition holds on a terminal, if that is known, and its body."""
    if match := _COMPARED.match(condition):
        return (match[2] == match[3]) != bool(match[1]), match[4].strip()
    test, _, body = condition.partition(" ")
    bare, is_negated = test.removeprefix("!"), test.startswith("!")
    held = _ON_A_TERMINAL.get(bare)
    if held is None and bare.isascii() and bare.isdigit():
        held = bool(bare.strip("0"))
    return (None if held is None else held != is_negated), body.strip()


def _braces(text: str) -> int:
    return text.count("\\{") - text.count("\\}")
