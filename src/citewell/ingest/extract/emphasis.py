"""Taking the marks of emphasis and code out of one line of Markdown."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.core.text import Span

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
