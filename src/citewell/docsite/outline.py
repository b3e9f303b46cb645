"""The headings of a page as one short string, to find the heading above a place.

Places are counted in bytes: a page can be searched without decoding it.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from citewell.docsite.pages import body_start, parse_page

if TYPE_CHECKING:
    from citewell.docsite.pages import DocPage


class OutlineEntry(NamedTuple):
    """A heading."""

    level: int
    anchor: str
    heading: str


class Outline:
    """The headings of one page, decoded on demand."""

    def __init__(self, encoded: str) -> None:
        self._encoded = encoded
        places, *self._rows = encoded.split("\n")
        self.body_start, *self._starts = map(int, places.split())

    def section_at(self, place: int) -> int:
        """Return the number of the heading above a place; -1 before the first."""
        return bisect_right(self._starts, place) - 1

    def section_headed(self, heading: str) -> int:
        """Return the first section with this heading, however it is capitalised; -1 for none."""
        lowered = f"{self._encoded}\n".lower()
        at = lowered.find(f"\t{heading.lower()}\n")
        return lowered.count("\n", 0, at) - 1 if at >= 0 else -1

    def span(self, section: int, *, end: int) -> tuple[int, int]:
        """Return where a section begins and ends, in a page that ends at `end`."""
        following = section + 1
        return (
            self._starts[section] if section >= 0 else 0,
            self._starts[following] if following < len(self._starts) else end,
        )

    def entry(self, section: int) -> OutlineEntry:
        """Return a heading."""
        level, anchor, heading = self._rows[section].split("\t")
        return OutlineEntry(int(level), anchor, heading)


def encode_outline(page: DocPage) -> str:
    """Return where the text and the headings of a page begin, then the headings, one to a line.

    None of their parts holds a tab or a line end.
    """
    starts = [body_start(page.content), *(section.start for section in page.sections)]
    if not page.content.isascii():
        starts = _in_bytes(page.content, starts)
    rows = [f"{part.level}\t{part.anchor}\t{part.heading}" for part in page.sections]
    return "\n".join([" ".join(map(str, starts)), *rows])


def outline_of(path: str, content: str) -> str:
    """Return the outline of a page's text."""
    return encode_outline(parse_page(path, content, mtime=0.0, size=0))


def _in_bytes(content: str, places: list[int]) -> list[int]:
    """Return the places, which rise, counted in bytes."""
    counted: list[int] = []
    size = before = 0
    for place in places:
        size += len(content[before:place].encode())
        before = place
        counted.append(size)
    return counted
