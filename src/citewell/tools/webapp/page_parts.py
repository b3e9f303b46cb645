"""A long page in parts, so that none of them takes long to send or to read."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from citewell.core.records import Section

# As HTML with highlighted code it is three times as long; a page stays below 150 kB.
PART_CHARACTERS = 16_000
_FENCE = "```"


@frozen
class PagePart:
    """A span of a page's text that is shown by itself."""

    start: int
    end: int


def split_page(text: str, sections: Sequence[Section]) -> list[PagePart]:
    """Return the parts of a page, end to end: whole sections where they are short enough."""
    parts: list[PagePart] = []
    start = 0
    for section in sections:
        if section.end - start > PART_CHARACTERS and section.start > start:
            parts.append(PagePart(start=start, end=section.start))
            start = section.start
        cuts = list(_cut_points(text, start, section.end))
        parts += [PagePart(start=a, end=b) for a, b in pairwise(cuts)]
        start = cuts[-1]
    if start < len(text) or not parts:
        parts.append(PagePart(start=start, end=len(text)))
    return parts


def part_of(parts: Sequence[PagePart], offset: int) -> int:
    """Return the number of the part that an offset lies in, the first being 0."""
    inside = (number for number, part in enumerate(parts) if part.start <= offset < part.end)
    return next(inside, 0)


def _cut_points(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where to cut a span that is too long, its start first; never inside a program."""
    yield start
    while end - start > PART_CHARACTERS:
        limit = start + PART_CHARACTERS
        cut = _paragraph_end(text, start, limit)
        fences = text.count(f"\n{_FENCE}", start, cut)
        if fences % 2:
            opening = text.rfind(f"\n{_FENCE}", start, cut) + 1
            closing = text.find(f"\n{_FENCE}", opening)
            after = text.find("\n", closing + 1) + 1 if closing >= 0 else 0
            fits = closing >= 0 and 0 < after <= start + 2 * PART_CHARACTERS
            cut = after if fits else opening
        if not start < cut < end:
            cut = min(limit, end)
        if cut >= end:
            return
        yield cut
        start = cut


def _paragraph_end(text: str, start: int, limit: int) -> int:
    for ending in ("\n\n", "\n", " "):
        position = text.rfind(ending, start + 1, limit)
        if position > 0:
            return position + len(ending)
    return limit
