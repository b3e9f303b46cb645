"""Text without what copying and typesetting change: quotation marks, dashes, spaces, Markdown."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.core.text import Span

# All repeats are bounded or possessive, so that no page can make the search slow.
_CHANGING = re.compile(
    r"""(?P<line>^[ \t>]{0,20}+(?:`{3,}+|~{3,}+)[^`\n]{0,200}+$
        |^[ \t]{0,20}+(?:\#{1,6}+(?=[ \t])|>{1,3}+|[-+*](?=[ \t])|\d{1,3}+[.)](?=[ \t]))
        |^[ \t]{0,20}+\|[ \t:|-]++$)
    |(?P<target>\]\([^()\s]{0,2000}+\))
    |(?P<goes_on>^[ \t]{0,20}+\.\.\.(?=[ \t]|$))
    # A line ends here, so that the marks of the next one are seen.
    # The one space between two words stays; most of a page's spaces are skipped here.
    |(?P<space>(?!(?<=[^\W_])[ ][^\s|\u200b\ufeff])(?:(?:[|\u200b\ufeff]|[^\S\n])++\n?|\n))
    |(?P<single>[‘’‚‛′´])
    |(?P<double>[“”„‟″«»])
    |(?P<dash>[‐‑‒–—―−])
    |(?P<ellipsis>…)
    |(?P<label>[ℹ⚠]\ufe0f[ ](?P<word>[A-Z ]{2,30}+):
        |\b(?P<title>Note|Warning|Tip|Important|Caution|Hint|Danger|Attention|See\ also):(?=\s))
    |(?P<permalink>¶(?=\s{0,20}+$))
    |(?P<dropped>(?<!\s)\*++|\*++(?!\s)|(?<!\w)_(?=[^\s_])|(?<=[^\s_])_(?!\w)|`++|[\[\]]
        |\\(?=[\\`*_{}\[\]()\#+.!|<>~-]))""",
    re.MULTILINE | re.VERBOSE,
)
# What tells emphasis from other asterisks: fences, code, ends of paragraphs, asterisks.
_EMPHASIS = re.compile(
    r"(?P<fence>^[ \t>]{0,20}+(?:`{3,}+|~{3,}+))|`++|\n[ \t]*+\n|\\\*|\*++", re.MULTILINE
)
_WRITTEN = {"space": " ", "single": "'", "double": '"', "dash": "-", "ellipsis": "..."}
_PROMPT = ">>> "


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A folded text, and where each run of it stood."""

    text: str
    _starts: list[int]
    """Where each run begins in `text`, …"""
    _origins: list[Span]
    """… and from where to where it stood before."""

    def span(self, start: int, end: int) -> Span:
        """Return where the folded text from `start` to `end` stood; `end` is after `start`."""
        return self._origin(start)[0], self._origin(end - 1)[1]

    def _origin(self, offset: int) -> Span:
        run = bisect_right(self._starts, offset) - 1
        start, end = self._origins[run]
        next_run = self._starts[run + 1] if run + 1 < len(self._starts) else len(self.text)
        if next_run - self._starts[run] != end - start:
            # A run that was replaced, such as an ellipsis, is one piece.
            return start, end
        place = start + offset - self._starts[run]
        return place, place + 1


class FoldedTextWriter:
    """Joins runs to a folded text, each with where it stood before."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._starts: list[int] = []
        self._origins: list[Span] = []
        self._length = 0

    def add(self, part: str, start: int, end: int) -> None:
        """Add a run that stood from `start` to `end`; empty runs are dropped."""
        if part and start < end:
            self._parts.append(part)
            self._starts.append(self._length)
            self._origins.append((start, end))
            self._length += len(part)

    @property
    def ends_with_space(self) -> bool:
        """Whether another space would repeat one; true at the beginning."""
        return not self._parts or self._parts[-1].endswith(" ")

    def finish(self) -> FoldedText:
        """Return the text of all runs."""
        return FoldedText("".join(self._parts), self._starts, self._origins)


def fold(text: str) -> FoldedText:
    """Return `text` folded; two texts that differ only in their typesetting fold alike."""
    writer = FoldedTextWriter()
    position = 0
    is_session = _PROMPT in text
    marks = emphasis_marks(text) if "*" in text else set[int]()
    for match in _CHANGING.finditer(text):
        writer.add(text[position : match.start()], position, match.start())
        written = _written(match, is_session=is_session)
        if text[match.start()] == "*" and match.lastgroup == "dropped":
            written = "" if match.start() in marks else match[0]
        is_repeated = written == " " and writer.ends_with_space
        writer.add("" if is_repeated else written, match.start(), match.end())
        position = match.end()
    writer.add(text[position:], position, len(text))
    return writer.finish()


def is_typesetting(text: str) -> bool:
    """Return whether nothing of `text` is read: spaces and marks, such as half of an emphasis."""
    return not fold(text).text.strip(" *")


def emphasis_marks(text: str) -> set[int]:
    """Return where asterisks begin that are emphasis: others are multiplied with, or pointed by.

    They come in pairs of one length within a paragraph, outside of code. A pair inside of a word
    stands between letters: `un**like**ly`, but not `2*3*4` nor `a*b*c`.
    """
    marks: set[int] = set()
    opened: dict[int, int] = {}
    code_mark = ""
    is_fenced = False
    for match in _EMPHASIS.finditer(text):
        mark = match[0].strip()
        if match["fence"]:
            is_fenced, code_mark = not is_fenced, ""
        elif is_fenced:
            continue
        elif mark.startswith("`"):
            code_mark = mark if not code_mark else "" if mark == code_mark else code_mark
        elif not mark:
            opened, code_mark = {}, ""
        elif not code_mark and mark.startswith("*"):
            _pair(text, match.start(), match.end(), opened, marks)
    return marks


def _pair(text: str, start: int, end: int, opened: dict[int, int], marks: set[int]) -> None:
    """Note the asterisks as the end of the emphasis that is open, or as the beginning of one."""
    before, after = text[start - 1 : start], text[end : end + 1]
    length = end - start
    first = opened.get(length)
    if first is not None and before.strip() and not _is_calculation(text, first, start, length):
        marks.update((first, start))
        del opened[length]
    elif after.strip():
        opened[length] = start


def _is_calculation(text: str, first: int, last: int, length: int) -> bool:
    """Return whether one of two marks stands between digits, or both in the middle of a word."""
    sides = [
        (text[place - 1 : place], text[place + length : place + length + 1])
        for place in (first, last)
    ]
    is_inside = [before.isalnum() and after.isalnum() for before, after in sides]
    has_digit = any(side.isdecimal() for pair in sides for side in pair)
    return (any(is_inside) and has_digit) or (all(is_inside) and length == 1)


def _written(match: re.Match[str], *, is_session: bool) -> str:
    """Return what a changing mark is folded to.

    The title of a call-out is one word, however it is typeset. In a session of Python, three dots
    at the start of a line are a prompt; elsewhere they stand for what was left out.
    """
    if match.lastgroup == "label":
        return str(match["word"] or match["title"]).capitalize()
    if match.lastgroup == "goes_on":
        return "" if is_session else "..."
    return _WRITTEN.get(match.lastgroup or "", "")
