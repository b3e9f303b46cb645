"""CSS colour functions in plain form: calculations, `none` and relative colours as numbers."""

from __future__ import annotations

import colorsys
import math
import re
from typing import TYPE_CHECKING

from citewell.ingest.extract.hiding.values import Scale, as_css, components, node_pixels

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tinycss2.ast import Node

    Parts = tuple[float, float, float, float]

_FUNCTIONS = frozenset("rgb rgba hsl hsla hwb lab lch oklab oklch color alpha".split())
_PERCENTAGES = frozenset({"hsl", "hwb"})
_NAME = re.compile(r"(?<![\w.-])[a-z]{1,5}(?![\w(-])")


def plain_function(
    function: Node, colour_of: Callable[[Node], Parts | None]
) -> tuple[str | None, float | None] | None:
    """Return a colour function that needs no evaluation, and its alpha; None for plain ones.

    The function is None where only its alpha can be known, and the alpha where that cannot either.
    """
    name = function.lower_name
    nodes = [
        node
        for node in function.arguments
        if node.type not in ("whitespace", "comment") and node != ","
    ]
    is_relative = bool(nodes) and nodes[0].type == "ident" and nodes[0].lower_value == "from"
    if name not in _FUNCTIONS or not (is_relative or any(map(_needs_evaluation, nodes))):
        return None
    name = name.removesuffix("a") if name in ("rgba", "hsla") else name
    known: Mapping[str, float] = {}
    origin: Parts | None = None
    if is_relative:
        origin = colour_of(nodes[1]) if len(nodes) > 1 else None
        known = {} if origin is None else _channels(name, origin)
        nodes = nodes[2:]
    space = ""
    if name == "color" and nodes and nodes[0].type == "ident":
        space, nodes = f"{nodes[0].lower_value} ", nodes[1:]
    slash = next((place for place, node in enumerate(nodes) if node == "/"), None)
    parts = nodes[:3] if slash is None else nodes[:slash]
    written = nodes[3:4] if slash is None else nodes[slash + 1 : slash + 2]
    stated = (
        _number(written[0], known, 1.0) if written else "1" if origin is None else str(origin[3])
    )
    alpha = None if stated is None else float(stated)
    if name == "alpha" and origin is not None:
        name, parts, values = "rgb", [], [f"{255 * part:f}" for part in origin[:3]]
    else:
        unit = "%" if name in _PERCENTAGES else ""
        evaluated = [
            _number(node, known, 100.0, unit=unit if place else "")
            for place, node in enumerate(parts)
        ]
        values = [value for value in evaluated if value is not None]
    if alpha is None or len(values) != 3:
        return None, alpha
    return f"{name}({space}{' '.join(values)} / {alpha:f})", alpha


def _needs_evaluation(node: Node) -> bool:
    is_none = node.type == "ident" and node.lower_value == "none"
    return is_none or bool(node.type == "function")


def _number(
    node: Node, known: Mapping[str, float], percent_of: float, *, unit: str = ""
) -> str | None:
    """Return a part of a colour as it is written without calculations; None if that is unknown."""
    css = as_css([node]).lower()
    if node.type in ("dimension", "percentage") and percent_of == 100.0:
        return css
    if css == "none":
        return f"0{unit}"
    replaced = _NAME.sub(
        lambda named: f"{known[named[0]]:f}" if named[0] in known else named[0], css
    )
    nodes = components(replaced)
    value = node_pixels(nodes[0], Scale(percent_of=percent_of)) if len(nodes) == 1 else None
    if value is None or not math.isfinite(value):
        return None
    is_share = "%" in css and percent_of == 100.0
    return f"{value:f}{'%' if is_share else unit}"


def _channels(function: str, origin: Parts) -> dict[str, float]:
    """Return the names that a relative colour has for the parts of the one it is made from."""
    red, green, blue, alpha = origin
    if function == "color":
        return {"r": red, "g": green, "b": blue, "alpha": alpha}
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    named = {"alpha": alpha, "h": 360 * hue}
    if function == "rgb":
        return {**named, "r": 255 * red, "g": 255 * green, "b": 255 * blue}
    if function == "hsl":
        return {**named, "s": 100 * saturation, "l": 100 * lightness}
    if function == "hwb":
        return {**named, "w": 100 * min(origin[:3]), "b": 100 * (1 - max(origin[:3]))}
    # CIE Lab is close enough to this, scaled, to tell light from dark.
    full = 1.0 if function.startswith("ok") else 100.0
    light, a, b = (full * part for part in _oklab(red, green, blue))
    turned = math.degrees(math.atan2(b, a)) % 360
    return {"alpha": alpha, "l": light, "a": a, "b": b, "c": math.hypot(a, b), "h": turned}


def _oklab(*rgb: float) -> tuple[float, float, float]:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in rgb
    )
    # From https://bottosson.github.io/posts/oklab/.
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )
