"""Taking the marks of emphasis and code out of one line of Markdown, and setting one in bold."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.core.text import Span

# What a Markdown reader could take for a mark: a star, or an underscore at the edge of a word.
_OWN_MARK = re.compile(r"\*|(?<![^\W_])_|_(?![^\W_])")
_TARGET_OR_MARK = re.compile(rf"(\]\([^()\s]*+\))|{_OWN_MARK.pattern}")
# Links, code and the keys of records, which cannot stand inside code.
_NOT_PLAIN = re.compile(r"`|\]\(|[\ufdd0-\ufdd1]")
_BACKTICKS = re.compile(r"`+")
_RUN = re.compile(r"\*+|~~")


def code_spans(text: str) -> list[Span]:
    """Return where the code of a line stands, its backticks included."""
    runs = [run.span() for run in _BACKTICKS.finditer(text)]
    places: defaultdict[int, list[int]] = defaultdict(list)
    for index, (start, end) in enumerate(runs):
        places[end - start].append(index)
    spans: list[Span] = []
    index = 0
    while index < len(runs):
        start, end = runs[index]
        equal = places[end - start]
        after = bisect_right(equal, index)
        if after < len(equal) and text[start - 1 : start] != "\\":
            index = equal[after]
            spans.append((start, runs[index][1]))
        index += 1
    return spans


def in_bold(line: str) -> str:
    """Return a line in bold; it holds links and code, but no emphasis.

    Where its stars or underscores would be taken for marks, it becomes code as well, or they are
    escaped if it holds links or code.
    """
    if not _OWN_MARK.search(line):
        return f"**{line}**"
    if not _NOT_PLAIN.search(line):
        return f"**`{line}`**"
    pieces: list[str] = []
    position = 0
    for start, end in (*code_spans(line), (len(line), len(line))):
        pieces += [_escape_own_marks(line[position:start]), line[start:end]]
        position = end
    return f"**{''.join(pieces)}**"


def without_emphasis(text: str) -> str:
    """Return the line without paired `*`, `~~` and backticks; marks without a partner stay.

    Every run of marks is looked at once, so a line of nothing but marks takes no longer.
    """
    pieces: list[str] = []
    position = 0
    for start, end in code_spans(text) if "`" in text else ():
        pieces += [_without_stars(text[position:start]), text[start:end].strip("`")]
        position = end
    return "".join((*pieces, _without_stars(text[position:])))


def _escape_own_marks(text: str) -> str:
    return _TARGET_OR_MARK.sub(lambda match: match[1] or f"\\{match[0]}", text)


def _without_stars(text: str) -> str:
    runs = list(_RUN.finditer(text))
    dropped = [0] * len(runs)
    open_runs: dict[str, list[int]] = {"*": [], "~": []}
    for index, run in enumerate(runs):
        _pair(text, runs, index, open_runs[run.group()[0]], dropped)
    pieces: list[str] = []
    position = 0
    for run, count in zip(runs, dropped, strict=True):
        pieces += [text[position : run.start()], run.group()[count:]]
        position = run.end()
    return "".join((*pieces, text[position:]))


def _pair(
    text: str, runs: list[re.Match[str]], index: int, open_runs: list[int], dropped: list[int]
) -> None:
    """Close what the run can close, and leave it open where it can open something."""
    run = runs[index]
    left = len(run.group())
    if run.start() > 0 and not text[run.start() - 1].isspace():
        while left and open_runs:
            opener = open_runs[-1]
            free = len(runs[opener].group()) - dropped[opener]
            taken = min(left, free)
            dropped[opener] += taken
            dropped[index] += taken
            left -= taken
            if taken == free:
                open_runs.pop()
    if left and run.end() < len(text) and not text[run.end()].isspace():
        open_runs.append(index)
