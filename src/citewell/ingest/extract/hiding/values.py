"""CSS values as numbers: lengths in pixels of a common window, factors and angles."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING

import tinycss2

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tinycss2.ast import Node

WINDOW_WIDTH = 1280.0
WINDOW_HEIGHT = 800.0
ROOT_FONT_PIXELS = 16.0
_MAX_CALC_DEPTH = 8

_ABSOLUTE = {
    "px": 1.0,
    "cm": 96 / 2.54,
    "mm": 9.6 / 2.54,
    "q": 2.4 / 2.54,
    "in": 96.0,
    "pt": 96 / 72,
    "pc": 16.0,
    "rem": ROOT_FONT_PIXELS,
}
_OF_FONT = {"em": 1.0, "ex": 0.5, "ch": 0.5, "cap": 0.7, "ic": 1.0, "lh": 1.2, "rlh": 1.2}
_OF_WINDOW = {
    "vw": WINDOW_WIDTH / 100,
    "vi": WINDOW_WIDTH / 100,
    "vh": WINDOW_HEIGHT / 100,
    "vb": WINDOW_HEIGHT / 100,
    "vmin": WINDOW_HEIGHT / 100,
    "vmax": WINDOW_WIDTH / 100,
    "cqw": WINDOW_WIDTH / 100,
    "cqh": WINDOW_HEIGHT / 100,
}
_CONSTANTS = {"pi": math.pi, "e": math.e, "infinity": 1e9, "-infinity": -1e9, "nan": 0.0}
_OF_ONE: Mapping[str, Callable[[float], float]] = {
    "calc": float,
    "-webkit-calc": float,
    "calc-size": float,
    "abs": abs,
    "sign": lambda value: (value > 0) - (value < 0),
    "sqrt": math.sqrt,
    "exp": math.exp,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
}
_OF_ALL: Mapping[str, Callable[..., float]] = {
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
    "hypot": math.hypot,
}
_TURNS = {"deg": 1 / 360, "grad": 1 / 400, "rad": 0.5 / math.pi, "turn": 1.0}
_ANGLE = re.compile(r"(?<![\w.])([+-]?\d{0,9}(?:\.\d{1,9})?)(deg|grad|rad|turn)(?!\w)")


@frozen
class Scale:
    """What relative lengths are relative to."""

    font_pixels: float = ROOT_FONT_PIXELS
    percent_of: float = WINDOW_WIDTH


@lru_cache(maxsize=4_096)
def components(value: str) -> tuple[Node, ...]:
    """Return the components of a value without white space and comments."""
    return tuple(
        node
        for node in tinycss2.parse_component_value_list(value, skip_comments=True)
        if node.type != "whitespace"
    )


def as_css(nodes: Iterable[Node]) -> str:
    """Return nodes as they are written; empty where they are nested deeper than anyone writes."""
    try:
        return str(tinycss2.serialize(nodes))
    except RecursionError:
        return ""


def as_pixels(value: str, scale: Scale) -> float | None:
    """Return a value of one length, percentage or calculation in pixels; None if it is none."""
    nodes = components(value)
    return _pixels(nodes[0], scale, 0) if len(nodes) == 1 else None


def node_pixels(node: Node, scale: Scale) -> float | None:
    """Return a length, percentage or calculation in pixels; None if it is none."""
    return _pixels(node, scale, 0)


def as_factor(value: str) -> float | None:
    """Return a value of one number or percentage as a factor; None if it is none."""
    nodes = components(value)
    return node_factor(nodes[0]) if len(nodes) == 1 else None


def node_factor(node: Node) -> float | None:
    """Return a number or percentage as a factor; None if it is none."""
    return _pixels(node, Scale(percent_of=1.0), 0)


def node_turns(node: Node) -> float | None:
    """Return an angle as a part of a full turn; None if it is none."""
    if node.type == "dimension" and node.lower_unit in _TURNS:
        return float(node.value) * _TURNS[node.lower_unit]
    if node.type == "function":
        # The lengths of a calculation are not needed beside angles.
        written = _ANGLE.sub(_as_turns, as_css([node]).lower())
        nodes = components(written)
        return _pixels(nodes[0], Scale(), 0) if len(nodes) == 1 else None
    return 0.0 if node.type == "number" and node.value == 0 else None


def _as_turns(angle: re.Match[str]) -> str:
    number, unit = angle.groups()
    return f"{float(number or 0) * _TURNS[unit]:.9f}"


def arguments(function: Node) -> list[list[Node]]:
    """Return the arguments of a function, apart at its commas, without white space."""
    parts: list[list[Node]] = [[]]
    for node in function.arguments:
        if node.type == "literal" and node.value == ",":
            parts.append([])
        elif node.type not in ("whitespace", "comment"):
            parts[-1].append(node)
    return parts


def _pixels(node: Node, scale: Scale, depth: int) -> float | None:
    if node.type == "number":
        return float(node.value)
    if node.type == "percentage":
        return float(node.value) * scale.percent_of / 100
    if node.type == "dimension":
        return _dimension(float(node.value), node.lower_unit, scale)
    if node.type == "ident" and depth:
        return _CONSTANTS.get(node.lower_value)
    if node.type == "function" and depth < _MAX_CALC_DEPTH:
        return _function(node, scale, depth)
    if node.type == "() block" and depth < _MAX_CALC_DEPTH:
        return _sum([part for part in node.content if part.type != "whitespace"], scale, depth)
    return None


def _dimension(number: float, unit: str, scale: Scale) -> float | None:
    if unit in _ABSOLUTE:
        return number * _ABSOLUTE[unit]
    if unit in _OF_FONT:
        return number * _OF_FONT[unit] * scale.font_pixels
    # The small, large and dynamic window are the same here.
    factor = _OF_WINDOW.get(unit) or _OF_WINDOW.get(unit[1:] if unit[:1] in ("s", "l", "d") else "")
    return None if factor is None else number * factor


def _function(node: Node, scale: Scale, depth: int) -> float | None:
    parts = arguments(node)
    way = ""
    if node.lower_name == "round" and len(parts) > 1 and [p.type for p in parts[0]] == ["ident"]:
        way, parts = parts[0][0].lower_value, parts[1:]
    if node.lower_name == "calc-size":
        # The size of the content is not known, so what is calculated from it is not either.
        parts = parts[1:2]
    values = [_sum(part, scale, depth + 1) for part in parts]
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    try:
        return _result(node.lower_name, known, way)
    except (ArithmeticError, ValueError):
        return None


def _result(name: str, known: Sequence[float], way: str) -> float | None:
    if name in _OF_ONE:
        return float(_OF_ONE[name](known[0]))
    if name in _OF_ALL:
        return float(_OF_ALL[name](*known))
    if name == "progress" and len(known) == 3:
        value, start, end = known
        return 0.0 if start == end else min(max((value - start) / (end - start), 0.0), 1.0)
    if name == "clamp" and len(known) == 3:
        return max(known[0], min(known[1], known[2]))
    if name in ("pow", "log", "atan2", "mod", "rem", "round"):
        return _of_two(name, known[0], known[1] if len(known) > 1 else None, way)
    return None


def _of_two(name: str, first: float, second: float | None, way: str) -> float | None:
    if name in ("log", "round") and second is None:
        second = math.e if name == "log" else 1.0
    if second is None:
        return None
    if name == "round":
        steps = first / second
        if way == "up":
            return second * math.ceil(steps)
        if way in ("down", "to-zero"):
            return second * (math.floor(steps) if way == "down" else math.trunc(steps))
        return second * math.floor(steps + 0.5)
    if name == "mod":
        return first - second * math.floor(first / second)
    if name == "rem":
        return math.fmod(first, second)
    return float(getattr(math, name)(first, second))


def _sum(nodes: Sequence[Node], scale: Scale, depth: int) -> float | None:
    """Return what a calculation comes to: products first, then sums."""
    total, product, sign, operator = 0.0, None, 1.0, ""
    for node in nodes:
        if node.type == "literal" and node.value in ("+", "-", "*", "/"):
            if node.value in ("+", "-") and product is not None:
                total, product = total + sign * product, None
                sign = 1.0 if node.value == "+" else -1.0
            operator = node.value
            continue
        value = _pixels(node, scale, depth)
        if value is None:
            return None
        if product is None:
            product = value
        elif operator == "/":
            product = product / value if value else 0.0
        else:
            product = product * value
    return None if product is None else total + sign * product
