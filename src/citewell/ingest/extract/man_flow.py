"""Which lines of a man page `man` lets through: branches, definitions, diversions and the end.

Macros of the page are not expanded: what their calls show are the words of the call. A call of one
that would hide what follows ends the page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.ingest.extract.man_names import Names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CONDITION = re.compile(r"[.'][ \t]*(if|ie|el|while)(?![a-z])[ \t]*(.*)", re.DOTALL)
_DEFINES = re.compile(r"[.'][ \t]*(dei?1?|ami?1?|ig)(?!\w)[ \t]*(.*)", re.DOTALL)
_DIVERTS = re.compile(r"[.'][ \t]*(di|da|boxa?|ev)(?!\w)[ \t]*(\S*)")
_PASSES_ON = re.compile(r"[.'][ \t]*(nop|do)(?!\w)[ \t]*(.*)", re.DOTALL)
_SETS = re.compile(r"[.'][ \t]*(?:ds|nr)(?!\w)")
# The page ends here, or what follows has other names and signs for its requests.
_ENDS = re.compile(
    r"[.'][ \t]*(?:ex|nx|ab|(?:cc|c2)[ \t]+\S|ec[ \t]+[^\s\\]|r?char[ \t]+[A-Za-z0-9]"
    r"|rn[ \t]+(?:ig|de|am|di|if|ie|el)|als[ \t]+\S{1,40}[ \t]+(?:ig|de|am|di|if|ie|el))(?!\w)"
)
_COMPARED = re.compile(r"(!?)'([^'\\]*)'([^'\\]*)'(.*)", re.DOTALL)
_ON_A_TERMINAL = {"n": True, "t": False, "o": True, "e": False, r"\n(.g": True, r"\n[.g]": True}
_TRANSLATES = re.compile(r"[.'][ \t]*tr[ \t]+(\S.*)")
_SIGN = re.compile(r"\\(?:\*?(?:\(..?|\[[^\]]{0,40}\]?)|.)|.")
_MACRO = re.compile(r"[.'][ \t]*([^\s\\]{1,40})[ \t]*(.*)", re.DOTALL)
_OPENS = re.compile(r"(?:^|[ \t{])[.'][ \t]*(?:dei?1?|ami?1?|ig|(?:di|da|boxa?|ev)[ \t]+\S)(?!\w)")
_CLOSES = re.compile(r"[.'][ \t]*(?:\.|(?:di|da|boxa?|ev)[ \t]*\Z)")
# By these a page says which macro is to be called later.
_PLANTS = re.compile(r"[.'][ \t]*(?:it|itc|wh|ch|dt|blm|lsm|em)[ \t]+(.*)")
_MOST_NESTED = 10
_MOST_OPEN = 100
_MOST_BODY_LINES = 500


def lines_let_through(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that a terminal shows; where that cannot be known, neither branch."""
    flow = _Flow()
    for line in _whole(lines):
        if flow.is_skipped(line):
            continue
        shown: str | None = line
        for _ in range(_MOST_NESTED):
            shown = None if shown is None else flow.names.spelled(shown)
            if shown is None or not shown.startswith((".", "'")):
                break
            if flow.ends_at(shown):
                return
            inner = flow.follow(shown)
            if inner == shown:
                break
            shown = inner
        if shown is not None and (shown.strip(".' \t") or not shown.startswith((".", "'"))):
            yield shown


def _whole(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines of which none goes on in the next."""
    parts: list[str] = []
    for line in lines:
        is_cut = line.endswith("\\") and (len(line) - len(line.rstrip("\\"))) % 2 == 1
        if is_cut and '\\"' not in line:
            parts.append(line[:-1])
            continue
        yield "".join([*parts, line])
        parts = []
    if parts:
        yield "".join(parts)


class _Flow:
    """What is skipped at a line, and whether the last conditions held."""

    def __init__(self) -> None:
        self.names = Names()
        self._until = ""
        self._defined = ""
        self._adds = False
        self._body: list[str] = []
        self._open_braces = 0
        self._diverted_by = ""
        self._held: list[bool | None] = []
        # What hides the lines after a call of it.
        self._hiding: set[str] = set()

    def is_skipped(self, line: str) -> bool:
        """Return whether a line belongs to something that is left out."""
        if self._until:
            # Spaces may follow the sign that begins a request.
            if (line[:1] + line[1:].lstrip()).split()[:1] == [self._until]:
                is_call = self._until != ".."
                self._end_definition()
                return not is_call
            if len(self._body) < _MOST_BODY_LINES:
                self._body.append(line)
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

    def ends_at(self, line: str) -> bool:
        """Return whether a request hides all that follows, or gives letters another shape."""
        if _ENDS.match(line):
            return True
        if match := _TRANSLATES.match(line):
            keys = _SIGN.findall(match[1])[::2]
            return any(key.isascii() and key.isalnum() for key in keys)
        if match := _PLANTS.match(line):
            return not self._hiding.isdisjoint(match[1].split())
        match = _MACRO.match(line)
        return match is not None and match[1] in self._hiding

    def follow(self, line: str) -> str | None:
        """Return what a request lets through, itself where it decides nothing, or None."""
        if match := _DEFINES.match(line):
            named = match[2].partition('\\"')[0].split()
            self._until = f".{named[1]}" if len(named) > 1 else ".."
            if match[1] == "ig":
                self._until = f".{named[0]}" if named else ".."
            self._defined = "" if match[1] == "ig" or not named else named[0]
            self._adds = match[1].startswith("am")
            self._body = []
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
        match = _MACRO.match(line)
        if match is None or self.names.note(match[1], match[2]):
            return line
        return self._called(match[1], line)

    def _called(self, name: str, line: str) -> str | None:
        if self.names.is_wordless(name):
            return f".{name}"
        return line if not name[0].isupper() or self.names.is_shown(name) else None

    def _end_definition(self) -> None:
        self._until = ""
        if not self._defined:
            return
        body = [line.replace("\\\\", "\\") for line in self._body]
        opened = sum(1 for line in body if _OPENS.search(line))
        closed = sum(1 for line in body if _CLOSES.match(line))
        if opened > closed or any(_ENDS.search(line) for line in body):
            self._hiding.add(self._defined)
        shows_words = any("\\$" in line for line in body)
        if not self._adds or shows_words:
            self.names.define(self._defined, shows_words=shows_words)

    def _branch(self, request: str, rest: str) -> str | None:
        if request == "el":
            before = self._held.pop() if self._held else True
            held, body = None if before is None else not before, rest
        else:
            held, body = _holds(rest)
        if request == "ie" and len(self._held) < _MOST_OPEN:
            self._held.append(held)
        # Either branch sets a string or a number where nothing is shown.
        if held is None and request == "el" and _SETS.match(body):
            return body
        # What may be left out is.
        if held is None and (_DEFINES.match(body) or _DIVERTS.match(body)):
            return body
        if not held or request == "while":
            self._open_braces = max(0, _braces(body))
            return None
        return body.removeprefix("\\{").strip() or None


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
    shown = text.partition('\\"')[0]
    return shown.count("\\{") - shown.count("\\}")
