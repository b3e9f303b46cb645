"""Whether `clip` or `clip-path` leave nothing of a box."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.ingest.extract.hiding.values import Scale, arguments, components, node_pixels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tinycss2.ast import Node

_LEAST_PIXELS = 1.0
_SIDE = 100.0
_PATH_PART = re.compile(r"([mlhvcsqtaz])|([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)", re.IGNORECASE)
_NUMBERS_OF = {"m": 2, "l": 2, "h": 1, "v": 1, "c": 6, "s": 4, "q": 4, "t": 2, "a": 7, "z": 0}
_MOST_PATH_CHARACTERS = 5_000


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
    scale = Scale(percent_of=_SIDE)
    first = arguments(shape)[0]
    numbers = [value for node in first if (value := node_pixels(node, scale)) is not None]
    if shape.lower_name == "inset" and numbers:
        top = numbers[0]
        right = numbers[1] if len(numbers) > 1 else top
        bottom = numbers[2] if len(numbers) > 2 else top
        left = numbers[3] if len(numbers) > 3 else right
        return top + bottom >= _SIDE - _LEAST_PIXELS or left + right >= _SIDE - _LEAST_PIXELS
    if shape.lower_name in ("circle", "ellipse"):
        return _round_is_empty(shape.lower_name, first, scale)
    if shape.lower_name == "polygon":
        points = [
            (node_pixels(part[0], scale) or 0.0, node_pixels(part[1], scale) or 0.0)
            for part in arguments(shape)
            if len(part) == 2
        ]
        return _area(points) <= _LEAST_PIXELS or _is_beside(points)
    if shape.lower_name == "path":
        points = [
            point
            for node in shape.arguments
            if node.type == "string"
            for point in _path_points(node.value[:_MOST_PATH_CHARACTERS])
        ]
        return _is_beside(points) or _is_thin(points)
    if shape.lower_name in ("rect", "xywh") and len(numbers) == 4:
        if shape.lower_name == "xywh":
            return min(numbers[2:]) <= _LEAST_PIXELS
        return numbers[1] - numbers[3] <= _LEAST_PIXELS or numbers[2] - numbers[0] <= _LEAST_PIXELS
    return False


def _round_is_empty(name: str, nodes: Sequence[Node], scale: Scale) -> bool:
    at = next((n for n, node in enumerate(nodes) if node == "at" or _word(node) == "at"), None)
    radii = [radius for node in nodes[:at] if (radius := node_pixels(node, scale)) is not None]
    if radii and min(radii[: 2 if name == "ellipse" else 1]) <= _LEAST_PIXELS:
        return len(radii) > 1 or name == "circle"
    if not radii or at is None:
        return False
    centre = [node_pixels(node, scale) for node in nodes[at + 1 : at + 3]]
    return any(
        place is not None and place + radius <= _LEAST_PIXELS
        for place, radius in zip(centre, (radii * 2)[:2], strict=False)
    )


def _word(node: Node) -> str:
    return str(node.lower_value) if node.type == "ident" else ""


def _is_beside(points: Sequence[tuple[float, float]]) -> bool:
    """Return whether all points lie left of a box, or above it."""
    return bool(points) and (
        max(x for x, _ in points) <= _LEAST_PIXELS or max(y for _, y in points) <= _LEAST_PIXELS
    )


def _is_thin(points: Sequence[tuple[float, float]]) -> bool:
    """Return whether no shape through these points has an area."""
    across, down = [x for x, _ in points], [y for _, y in points]
    return not points or min(max(p) - min(p) for p in (across, down)) <= _LEAST_PIXELS


def _area(points: Sequence[tuple[float, float]]) -> float:
    pairs = zip(points, [*points[1:], *points[:1]], strict=True)
    return abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in pairs)) / 2


def _path_points(path: str) -> Iterator[tuple[float, float]]:
    """Yield where the parts of an SVG path begin, bend and end."""
    x = y = 0.0
    command, numbers = "", list[float]()
    for sign, number in _PATH_PART.findall(path):
        if sign:
            command, numbers = sign, []
            continue
        numbers.append(float(number))
        kind = command.lower()
        if not kind or len(numbers) < _NUMBERS_OF[kind]:
            continue
        is_relative = command.islower()
        from_x, from_y = (x, y) if is_relative else (0.0, 0.0)
        if kind in ("h", "v"):
            x, y = (from_x + numbers[0], y) if kind == "h" else (x, from_y + numbers[0])
            yield x, y
        else:
            pairs = numbers[-2:] if kind == "a" else numbers
            for place in range(0, len(pairs), 2):
                yield from_x + pairs[place], from_y + pairs[place + 1]
            x, y = from_x + pairs[-2], from_y + pairs[-1]
        numbers = []
