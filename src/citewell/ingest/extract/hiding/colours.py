"""CSS colours as red, green, blue and alpha, and the contrast between two of them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tinycss2.color5 import parse_color

from citewell.ingest.extract.hiding.colour_functions import plain_function
from citewell.ingest.extract.hiding.values import arguments, components

if TYPE_CHECKING:
    from tinycss2.ast import Node

_LEAST_CONTRAST = 1.15
"""Below this ratio no reader sees text; very light grey on white has 1.16."""
_LEAST_ALPHA = 0.1
# System colours, as browsers have them in a light scheme.
_SYSTEM = {
    "canvas": "#fff",
    "field": "#fff",
    "window": "#fff",
    "buttonhighlight": "#fff",
    "buttonface": "#efefef",
    "threedface": "#efefef",
    "menu": "#f7f7f7",
    "infobackground": "#fff",
    "canvastext": "#000",
    "fieldtext": "#000",
    "windowtext": "#000",
    "buttontext": "#000",
    "linktext": "#00e",
    "graytext": "#808080",
}
_HEX_COLOUR = re.compile(r"#(?:[0-9a-f]{6}|[0-9a-f]{3})", re.IGNORECASE)
_HEX_DIGITS = re.compile(r"[0-9a-f]{3}(?:[0-9a-f]{3})?", re.IGNORECASE)


class Colour(NamedTuple):
    """A colour in sRGB, each part from 0 to 1."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0

    def over(self, backdrop: Colour) -> Colour:
        """Return the colour seen where this one is painted on an opaque backdrop."""
        if self.alpha >= 1:
            return self
        mixed = (
            own * self.alpha + behind * (1 - self.alpha)
            for own, behind in zip(self[:3], backdrop[:3], strict=True)
        )
        return Colour(*mixed)


WHITE = Colour(1.0, 1.0, 1.0)
BLACK = Colour(0.0, 0.0, 0.0)


@lru_cache(maxsize=4_096)
def as_colour(value: str) -> Colour | None:
    """Return a colour; None where it is none, or one outside sRGB."""
    if _HEX_COLOUR.fullmatch(value):
        digits = value[1:] if len(value) == 7 else "".join(2 * digit for digit in value[1:])
        return Colour(*(int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)))
    nodes = components(value)
    return node_colour(nodes[0]) if len(nodes) == 1 else None


def node_colour(node: Node) -> Colour | None:
    """Return the colour that one component of a value is."""
    if node.type == "ident" and node.lower_value in _SYSTEM:
        return as_colour(_SYSTEM[node.lower_value])
    if node.type == "function" and node.lower_name == "color-mix":
        return _mixed(node)
    if node.type == "function" and node.lower_name == "contrast-color":
        return _contrasting(node)
    evaluated = plain_function(node, node_colour) if node.type == "function" else None
    if evaluated is not None:
        written, stated = evaluated
        if stated is not None and stated < _LEAST_ALPHA:
            return Colour(0.0, 0.0, 0.0, max(stated, 0.0))
        return None if written is None else as_colour(written)
    parsed = parse_color(node)
    if parsed is None or isinstance(parsed, str):
        return None
    alpha = float(parsed.alpha)
    if alpha < _LEAST_ALPHA:
        return Colour(0.0, 0.0, 0.0, alpha)
    try:
        red, green, blue = parsed.to("srgb").coordinates
    except NotImplementedError:
        return _grey(parsed.space, parsed.coordinates, alpha)
    return Colour(_bounded(red), _bounded(green), _bounded(blue), alpha)


def legacy_colour(value: str) -> Colour | None:
    """Return the colour of an attribute such as `bgcolor`, where the # can be missing."""
    value = value.strip()
    return as_colour(f"#{value}" if _HEX_DIGITS.fullmatch(value) else value)


def can_be_told_apart(text: Colour, backdrop: Colour) -> bool:
    """Return whether a reader sees text of one colour on the other."""
    if text.alpha < _LEAST_ALPHA:
        return False
    seen, behind = luminance(text.over(backdrop)), luminance(backdrop)
    if (max(seen, behind) + 0.05) / (min(seen, behind) + 0.05) >= _LEAST_CONTRAST:
        return True
    # Colours of the same lightness differ in hue: red on green is ugly, but can be seen.
    return max(abs(a - b) for a, b in zip(text.over(backdrop)[:3], backdrop[:3], strict=True)) > 0.2


def _bounded(part: float) -> float:
    return min(max(float(part), 0.0), 1.0)


def luminance(colour: Colour) -> float:
    """Return how light a colour is, from 0 to 1."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _grey(space: str, parts: tuple[float, ...], alpha: float) -> Colour | None:
    """Return a colour of a space that the library does not convert, if it has next to no hue."""
    if space in ("display-p3", "srgb-linear", "a98-rgb", "prophoto-rgb", "rec2020"):
        if max(parts) - min(parts) < 0.02:
            return Colour(*map(_bounded, parts))._replace(alpha=alpha)
        return None
    if space.startswith("xyz"):
        return _of_xyz(parts, alpha)
    if space not in ("lab", "lch", "oklab", "oklch"):
        return None
    full = 1.0 if space.startswith("ok") else 100.0
    hue = abs(parts[1]) if space.endswith("lch") else max(abs(parts[1]), abs(parts[2]))
    if hue > 0.02 * full:
        return None
    lightness = _bounded(parts[0] / full)
    return Colour(lightness, lightness, lightness, alpha)


def _of_xyz(parts: tuple[float, ...], alpha: float) -> Colour:
    x, y, z = (float(part) for part in parts[:3])
    linear = (
        3.2404542 * x - 1.5371385 * y - 0.4985314 * z,
        -0.9692660 * x + 1.8760108 * y + 0.0415560 * z,
        0.0556434 * x - 0.2040259 * y + 1.0572252 * z,
    )
    bounded = (_bounded(part) for part in linear)
    curved = (12.92 * p if p <= 0.0031308 else 1.055 * p ** (1 / 2.4) - 0.055 for p in bounded)
    return Colour(*map(_bounded, curved))._replace(alpha=alpha)


def _contrasting(function: Node) -> Colour | None:
    given = next((c for part in arguments(function) for n in part if (c := node_colour(n))), None)
    if given is None:
        return None
    light = luminance(given)
    return WHITE if 1.05 / (light + 0.05) > (light + 0.05) / 0.05 else BLACK


def _mixed(function: Node) -> Colour | None:
    """Return the mix of two colours, in sRGB whatever the space that is asked for."""
    shares: list[float | None] = []
    colours: list[Colour | None] = []
    for part in arguments(function)[1:]:
        shares.append(next((node.value / 100 for node in part if node.type == "percentage"), None))
        colours.append(next((c for node in part if (c := node_colour(node)) is not None), None))
    if len(colours) != 2:
        return None
    first, second = shares
    if first is None:
        first = 0.5 if second is None else 1 - second
    if second is None:
        second = 1 - first
    total = first + second
    if total <= 0:
        return None
    # One that is unknown, such as `currentcolor`, does not matter where nothing is taken of it.
    a = colours[0] if colours[0] is not None or first else colours[1]
    b = colours[1] if colours[1] is not None or second else colours[0]
    if a is None or b is None:
        return None
    first, second = first / total, second / total
    alpha = a.alpha * first + b.alpha * second
    if alpha <= 0:
        return Colour(0.0, 0.0, 0.0, 0.0)
    mixed = (
        (one * a.alpha * first + two * b.alpha * second) / alpha
        for one, two in zip(a[:3], b[:3], strict=True)
    )
    return Colour(*mixed)._replace(alpha=alpha * min(total, 1.0))
