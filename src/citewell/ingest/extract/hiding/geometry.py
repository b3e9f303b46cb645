"""Whether positions, clips, sizes, filters and masks leave nothing of a box to be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.ingest.extract.hiding.colours import node_colour
from citewell.ingest.extract.hiding.values import (
    WINDOW_HEIGHT,
    WINDOW_WIDTH,
    Scale,
    arguments,
    as_factor,
    as_pixels,
    components,
    node_factor,
    node_pixels,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tinycss2.ast import Node

# Menus and pictures are moved by a few hundred pixels; what is to be out of sight by far more.
_FAR = 500.0
_VERY_FAR = 1_000.0
_LEAST_ZOOM = 0.05
_LEAST_OPACITY = 0.1
_MUCH_BLUR = 8.0
_LEAST_PIXELS = 1.0
_CLIPPING = frozenset({"hidden", "clip"})


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
        left >= WINDOW_WIDTH or right <= -_FAR or bottom <= -_FAR or top >= WINDOW_HEIGHT
    ):
        return True
    return top <= -_FAR or bottom >= 3 * _VERY_FAR


def is_clipped_away(declared: Mapping[str, str]) -> bool:
    """Return whether `clip` or `clip-path` leave nothing of a box."""
    clip = next(iter(components(declared.get("clip", ""))), None)
    if clip is not None and clip.type == "function" and clip.lower_name == "rect":
        edges = [
            node_pixels(node, Scale())
            for node in clip.arguments
            if node.type not in ("whitespace", "literal")
        ]
        if len(edges) == 4 and declared.get("position") in ("absolute", "fixed"):
            top, right, bottom, left = edges
            if None not in (top, bottom) and (bottom or 0) - (top or 0) <= _LEAST_PIXELS:
                return True
            return None not in (left, right) and (right or 0) - (left or 0) <= _LEAST_PIXELS
    return any(
        node.type == "function" and _shape_is_empty(node)
        for node in components(declared.get("clip-path", ""))
    )


def _shape_is_empty(shape: Node) -> bool:
    """Return whether a shape encloses nothing; a box's side counts as a hundred pixels."""
    scale = Scale(percent_of=100.0)
    first = arguments(shape)[0]
    numbers = [value for node in first if (value := node_pixels(node, scale)) is not None]
    if shape.lower_name == "inset" and numbers:
        top = numbers[0]
        right = numbers[1] if len(numbers) > 1 else top
        bottom = numbers[2] if len(numbers) > 2 else top
        left = numbers[3] if len(numbers) > 3 else right
        return top + bottom >= 100 - _LEAST_PIXELS or left + right >= 100 - _LEAST_PIXELS
    if shape.lower_name == "circle":
        return bool(numbers) and first[0].type != "ident" and numbers[0] <= _LEAST_PIXELS
    if shape.lower_name == "ellipse":
        return len(numbers) > 1 and min(numbers[:2]) <= _LEAST_PIXELS
    if shape.lower_name == "polygon":
        return _area(shape, scale) <= _LEAST_PIXELS
    if shape.lower_name in ("rect", "xywh") and len(numbers) == 4:
        if shape.lower_name == "xywh":
            return min(numbers[2:]) <= _LEAST_PIXELS
        return numbers[1] - numbers[3] <= _LEAST_PIXELS or numbers[2] - numbers[0] <= _LEAST_PIXELS
    return False


def _area(polygon: Node, scale: Scale) -> float:
    points = [
        (node_pixels(part[0], scale) or 0.0, node_pixels(part[1], scale) or 0.0)
        for part in arguments(polygon)
        if len(part) == 2
    ]
    pairs = zip(points, points[1:] + points[:1], strict=True)
    return abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in pairs)) / 2


def has_no_room(
    declared: Mapping[str, str], font_pixels: float, around_height: float | None
) -> bool:
    """Return whether a box that cuts off what runs over has no size."""
    contained = declared.get("contain", "")
    clips_all = contained == "strict" or ("size" in contained and "paint" in contained)
    if clips_all and "height" not in declared:
        return True
    across, down = declared.get("overflow-x", ""), declared.get("overflow-y", "")
    if not clips_all and across not in _CLIPPING and down not in _CLIPPING:
        return False
    scale = Scale(font_pixels=font_pixels)
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
    if "height" not in declared and as_pixels(declared.get("line-height", ""), scale) == 0.0:
        return True
    indent = as_pixels(declared.get("text-indent", ""), scale)
    return indent is not None and indent >= 0.9 * WINDOW_WIDTH


def is_filtered_away(declared: Mapping[str, str]) -> bool:
    """Return whether filters or masks leave nothing that could be read."""
    for node in components(declared.get("filter", "")):
        if node.type != "function":
            continue
        part = next(iter(arguments(node)[0]), None)
        if part is None:
            continue
        if node.lower_name == "opacity" and (node_factor(part) or 0.0) < _LEAST_OPACITY:
            return True
        if node.lower_name == "blur" and (node_pixels(part, Scale()) or 0.0) >= _MUCH_BLUR:
            return True
    for node in components(declared.get("mask-image", "")):
        if node.type == "function" and node.lower_name.endswith("gradient"):
            colours = [
                colour
                for part in arguments(node)
                for piece in part
                if (colour := node_colour(piece)) is not None
            ]
            if colours and all(colour.alpha < _LEAST_OPACITY for colour in colours):
                return True
    return _is_masked_away(declared)


def _is_masked_away(declared: Mapping[str, str]) -> bool:
    """Return whether a mask has no size, or is put beside the box."""
    if declared.get("mask-image", "none") == "none":
        return False
    sizes = [node_pixels(node, Scale()) for node in components(declared.get("mask-size", ""))]
    if any(size is not None and size <= _LEAST_PIXELS for size in sizes):
        return True
    if "no-repeat" not in declared.get("mask-repeat", ""):
        return False
    places = [node_pixels(node, Scale()) for node in components(declared.get("mask-position", ""))]
    return any(place is not None and abs(place) >= _VERY_FAR for place in places)


def is_zoomed_away(declared: Mapping[str, str]) -> bool:
    """Return whether a box is made too small to read; browsers take no size for the usual one."""
    zoom = as_factor(declared.get("zoom", ""))
    return zoom is not None and 0 < zoom < _LEAST_ZOOM
