"""What filters and masks leave of a box."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from citewell.ingest.extract.hiding.colours import Colour, luminance, node_colour
from citewell.ingest.extract.hiding.values import (
    Scale,
    arguments,
    components,
    node_factor,
    node_pixels,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tinycss2.ast import Node

_LEAST_ALPHA = 0.1
_MUCH_BLUR = 8.0
_LEAST_PIXELS = 1.0
_VERY_FAR = 1_000.0
_LEAST_SHARE = 5.0


def filter_opacity(value: str) -> float:
    """Return what the filters of a value leave of the opacity."""
    opacity = 1.0
    for name, amount in _steps(value):
        if name == "opacity":
            opacity *= min(max(amount, 0.0), 1.0)
    return opacity


def is_blurred(value: str) -> bool:
    """Return whether filters blur a text beyond reading."""
    return any(
        node.type == "function"
        and node.lower_name == "blur"
        and any((node_pixels(part, Scale()) or 0.0) >= _MUCH_BLUR for part in node.arguments)
        for node in components(value)
    )


def filtered(colour: Colour, value: str) -> Colour:
    """Return a colour behind filters, as far as they make it lighter, darker or grey."""
    parts = list(colour[:3])
    for name, amount in _steps(value):
        if name == "brightness":
            parts = [part * amount for part in parts]
        elif name == "contrast":
            parts = [(part - 0.5) * amount + 0.5 for part in parts]
        elif name == "invert":
            parts = [part * (1 - 2 * amount) + amount for part in parts]
        elif name == "grayscale":
            grey = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
            parts = [part + (grey - part) * min(amount, 1.0) for part in parts]
        parts = [min(max(part, 0.0), 1.0) for part in parts]
    return Colour(*parts)._replace(alpha=colour.alpha)


def _steps(value: str) -> list[tuple[str, float]]:
    steps: list[tuple[str, float]] = []
    for node in components(value):
        if node.type == "function":
            first = next(iter(arguments(node)[0]), None)
            amount = 1.0 if first is None else node_factor(first)
            if amount is not None:
                steps.append((node.lower_name, max(amount, 0.0)))
    return steps


def is_masked_away(declared: Mapping[str, str]) -> bool:
    """Return whether a mask shows nothing, has no size, or is put beside the box."""
    image = declared.get("mask-image", "none")
    if image == "none":
        return False
    by_light = "luminance" in f"{image} {declared.get('mask-mode', '')}"
    gradients = [
        node
        for node in components(image)
        if node.type == "function" and node.lower_name.endswith("gradient")
    ]
    if gradients and not any(_shows(node, by_light=by_light) for node in gradients):
        return True
    sizes = [node_pixels(node, Scale()) for node in components(declared.get("mask-size", ""))]
    if any(size is not None and size <= _LEAST_PIXELS for size in sizes):
        return True
    if "no-repeat" not in declared.get("mask-repeat", ""):
        return False
    places = [node_pixels(node, Scale()) for node in components(declared.get("mask-position", ""))]
    return any(place is not None and abs(place) >= _VERY_FAR for place in places)


def _shows(gradient: Node, *, by_light: bool) -> bool:
    """Return whether a mask of this gradient shows more than a strip of the box."""
    stops = _stops(gradient, by_light=by_light)
    if not stops or gradient.lower_name.startswith("repeating"):
        return not stops or any(alpha >= _LEAST_ALPHA for _, alpha in stops)
    ends = [(min(0.0, stops[0][0]), stops[0][1]), *stops, (max(100.0, stops[-1][0]), stops[-1][1])]
    shown = sum(
        max(0.0, min(end, 100.0) - max(start, 0.0))
        for (start, before), (end, after) in pairwise(ends)
        if max(before, after) >= _LEAST_ALPHA
    )
    return shown >= _LEAST_SHARE


def _stops(gradient: Node, *, by_light: bool) -> list[tuple[float, float]]:
    """Return the places of a gradient's colours in percent, and how much each shows."""
    found: list[tuple[float | None, float]] = []
    for part in arguments(gradient):
        colour = next((c for node in part if (c := node_colour(node)) is not None), None)
        if colour is None:
            continue
        alpha = colour.alpha * (luminance(colour) if by_light else 1.0)
        places = [node_pixels(n, Scale(percent_of=100.0)) for n in part if node_colour(n) is None]
        known = [place for place in places if place is not None]
        found += [(place, alpha) for place in known] or [(None, alpha)]
    last = max(len(found) - 1, 1)
    return _in_order([(100.0 * n / last if p is None else p, a) for n, (p, a) in enumerate(found)])


def _in_order(stops: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return stops of which none lies before the one before it, as browsers move them."""
    ordered: list[tuple[float, float]] = []
    for place, alpha in stops:
        ordered.append((max(place, ordered[-1][0]) if ordered else place, alpha))
    return ordered
