"""The links around a page as a picture: who stands where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.tools.explorer import Neighbour

WIDTH = 960
_ROW = 46
_MARGIN = 40
_LABEL_CHARACTERS = 34


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A neighbour's place in the picture; its label stands on the outer side."""

    x: int
    y: int
    label: str
    title: str
    source_id: int
    links_here: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPicture:
    """Pages that link here on the left, pages linked to on the right, the page between them."""

    height: int
    centre_y: int
    dots: Sequence[Dot]


def draw_links(neighbours: Sequence[Neighbour]) -> LinkPicture:
    """Return where the neighbours of a page stand around it."""
    sides = [
        [neighbour for neighbour in neighbours if neighbour.links_here == inward]
        for inward in (True, False)
    ]
    rows = max(1, *(len(side) for side in sides))
    height = 2 * _MARGIN + rows * _ROW
    dots = [
        Dot(
            x=WIDTH // 3 if neighbour.links_here else WIDTH - WIDTH // 3,
            y=(height - len(side) * _ROW) // 2 + at * _ROW + _ROW // 2,
            label=_short(neighbour.title),
            title=neighbour.title,
            source_id=neighbour.source_id,
            links_here=neighbour.links_here,
        )
        for side in sides
        for at, neighbour in enumerate(side)
    ]
    return LinkPicture(height=height, centre_y=height // 2, dots=dots)


def _short(title: str) -> str:
    if len(title) <= _LABEL_CHARACTERS:
        return title
    return f"{title[: _LABEL_CHARACTERS - 1]}…"
