"""Whether positions and sizes leave nothing of a box to be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.ingest.extract.hiding.values import (
    WINDOW_HEIGHT,
    WINDOW_WIDTH,
    Scale,
    as_factor,
    as_pixels,
    components,
    node_pixels,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

# Menus and pictures are moved by a few hundred pixels; what is to be out of sight by far more.
_FAR = 500.0
_VERY_FAR = 1_000.0
_LEAST_ZOOM = 0.05
_LEAST_PIXELS = 1.0
_CLIPPING = frozenset({"hidden", "clip"})
_CONTAINING = frozenset({"strict", "content", "paint"})


def is_out_of_window(declared: Mapping[str, str], font_pixels: float) -> bool:
    """Return whether a position or margin puts a box where no reader can scroll to."""

    def pixels(name: str, percent_of: float) -> float:
        value = declared.get(name, "")
        return as_pixels(value, Scale(font_pixels=font_pixels, percent_of=percent_of)) or 0.0

    if pixels("margin-left", WINDOW_WIDTH) <= -_VERY_FAR:
        return True
    if pixels("margin-top", WINDOW_WIDTH) <= -2 * _VERY_FAR:
        return True
    position = declared.get("position", "static")
    if position not in ("absolute", "fixed", "relative", "-webkit-sticky"):
        return False
    left, right = pixels("left", WINDOW_WIDTH), pixels("right", WINDOW_WIDTH)
    top, bottom = pixels("top", WINDOW_HEIGHT), pixels("bottom", WINDOW_HEIGHT)
    if position == "relative":
        return min(left, -right) <= -_VERY_FAR or max(left, -right) >= 2 * WINDOW_WIDTH
    if left <= -_FAR or right >= WINDOW_WIDTH or max(left, -right) >= 2 * WINDOW_WIDTH:
        return True
    if position == "fixed" and (
        left >= WINDOW_WIDTH
        or right <= -_FAR
        or bottom <= -_FAR
        or top >= WINDOW_HEIGHT
        or bottom >= WINDOW_HEIGHT
    ):
        return True
    return top <= -_FAR or bottom >= 3 * _VERY_FAR


def clips_overflow(declared: Mapping[str, str]) -> bool:
    """Return whether a box cuts off what runs over its edges."""
    contained = declared.get("contain", "").split()
    across, down = declared.get("overflow-x", ""), declared.get("overflow-y", "")
    return across in _CLIPPING or down in _CLIPPING or not _CONTAINING.isdisjoint(contained)


def has_no_room(
    declared: Mapping[str, str], font_pixels: float, around_height: float | None
) -> bool:
    """Return whether a box that cuts off what runs over has no size."""
    scale = Scale(font_pixels=font_pixels)
    line_height = as_pixels(declared.get("line-height", ""), scale)
    has_height = as_pixels(declared.get("height", ""), scale) is not None
    if line_height == 0.0 and not has_height and "min-height" not in declared:
        scrolls = {declared.get("overflow-x"), declared.get("overflow-y")} & {"auto", "scroll"}
        if scrolls or clips_overflow(declared):
            return True
    if not clips_overflow(declared):
        return False
    sized = f"{declared.get('contain', '')} {declared.get('container-type', '')}".split()
    if "height" not in declared and ("strict" in sized or "size" in sized):
        return True
    heights = Scale(
        font_pixels=font_pixels,
        percent_of=WINDOW_HEIGHT if around_height is None else around_height,
    )
    sizes = [
        as_pixels(declared.get(name, ""), heights if "height" in name else scale)
        for name in ("height", "max-height", "width", "max-width")
    ]
    if any(size is not None and size <= _LEAST_PIXELS for size in sizes):
        return True
    rows = components(declared.get("grid-template-rows", ""))
    tracks = [node_pixels(node, heights) for node in rows]
    if tracks and all(track is not None and track <= _LEAST_PIXELS for track in tracks):
        return "grid" in declared.get("display", "")
    moved = (as_pixels(declared.get(name, ""), scale) for name in ("text-indent", "padding-left"))
    return any(indent is not None and indent >= 0.9 * WINDOW_WIDTH for indent in moved)


def is_zoomed_away(declared: Mapping[str, str]) -> bool:
    """Return whether a box is made too small to read; browsers take no size for the usual one."""
    zoom = as_factor(declared.get("zoom", ""))
    return zoom is not None and 0 < zoom < _LEAST_ZOOM
