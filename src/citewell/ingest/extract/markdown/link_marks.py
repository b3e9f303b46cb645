"""Where the links and images of a line of Markdown stand.

Brackets are paired in one pass and a link's tail is read only from its closing bracket on, so the
time is that of reading the line, however it is made.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

_BRACKET = re.compile(r"\\.|\[|\]", re.DOTALL)
# A target with a title, or the label of a reference; then attributes. None of it can fail late:
# each part ends where the next link of a hostile line would begin.
_TAIL = re.compile(
    r"(?:\(\s*+(?:<(?P<bracketed>[^<>\n]*+)>|(?P<bare>(?:[^\s()]++|\([^\s()]*+\))*+))"
    r"(?:\s++(?:\"(?P<title>[^\"]*+)\"|'(?P<other_title>[^']*+)'))?+\s*+\)"
    r"|\[(?P<reference>[^\[\]]*+)\])?+(?:\{[^{}\n]*+\})?+"
)
# The text of a link holds an image or a bracketed word, not a link that holds another.
_MAX_DEPTH = 2


@frozen
class LinkMark:
    """A link or image as it is written; `target` is None where a definition gives it."""

    start: int
    end: int
    is_image: bool
    text: str
    target: str | None
    title: str
    reference: str


def find_link_marks(line: str) -> Iterator[LinkMark]:
    """Yield the links and images of a line from left to right; those within others are left out."""
    pairs = _paired_brackets(line)
    position = 0
    for opening in sorted(pairs):
        closing, depth = pairs[opening]
        if opening < position or depth > _MAX_DEPTH:
            continue
        is_image = opening > position and _has_bang(line, opening)
        tail = _TAIL.match(line, closing + 1)
        assert tail is not None, "every part of a tail may be missing"
        bracketed, bare = tail["bracketed"], tail["bare"]
        text = line[opening + 1 : closing]
        position = tail.end()
        yield LinkMark(
            start=opening - is_image,
            end=position,
            is_image=is_image,
            text=text,
            target=bracketed if bracketed is not None else bare,
            title=tail["title"] or tail["other_title"] or "",
            reference=tail["reference"] or text,
        )


def _has_bang(line: str, opening: int) -> bool:
    return line[opening - 1] == "!" and line[max(opening - 2, 0) : opening - 1] != "\\"


def _paired_brackets(line: str) -> dict[int, tuple[int, int]]:
    """Return for each opening bracket its closing one, and how deep the pairs in it are nested."""
    pairs: dict[int, tuple[int, int]] = {}
    open_brackets: list[tuple[int, int]] = []
    for match in _BRACKET.finditer(line):
        if match.group() == "[":
            open_brackets.append((match.start(), 1))
        elif match.group() == "]" and open_brackets:
            opening, depth = open_brackets.pop()
            pairs[opening] = (match.start(), depth)
            if open_brackets:
                outer, outer_depth = open_brackets[-1]
                open_brackets[-1] = (outer, max(outer_depth, depth + 1))
    return pairs
