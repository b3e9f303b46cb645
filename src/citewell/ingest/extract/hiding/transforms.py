"""What transforms make of a box: one matrix for all of them, as a browser computes it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from citewell.ingest.extract.hiding.values import (
    WINDOW_WIDTH,
    Scale,
    arguments,
    components,
    node_factor,
    node_pixels,
    node_turns,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tinycss2.ast import Node

Matrix = list[list[float]]

_VERY_FAR = 1_000.0
_LEAST_SCALE = 0.05
# A box's own size is not known; percentages of it are taken of a small one.
_OWN_SIZE = 300.0
_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_MAX_FUNCTIONS = 50


def is_transformed_away(
    declared: Mapping[str, str], *, perspective: float | None = None, can_turn: bool = False
) -> bool:
    """Return whether transforms make a box vanish, take it out of the window or turn it away.

    `perspective` is that of the box around; `can_turn` says that it is a card with two sides, whose
    reader turns it. What cannot be evaluated changes nothing.
    """
    if not any(name in declared for name in ("transform", "translate", "rotate", "scale")):
        return False
    matrix = _matrix_of(declared, perspective)
    if declared.get("backface-visibility") == "hidden" and matrix[2][2] < 0 and not can_turn:
        return True
    return _is_out_of_sight(matrix)


def shrinking(declared: Mapping[str, str]) -> float:
    """Return how much transforms make a box smaller, along the axis on which it is smallest."""
    if "transform" not in declared and "scale" not in declared:
        return 1.0
    (a, c, _, _), (b, d, _, _), _, _ = _matrix_of(declared, None)
    square, area = a * a + b * b + c * c + d * d, abs(a * d - b * c)
    if not math.isfinite(square) or not square:
        return 1.0
    longer = math.sqrt((square + math.sqrt(max(0.0, square**2 - 4 * area**2))) / 2)
    return min(longer, area / longer, 1.0)


def _matrix_of(declared: Mapping[str, str], perspective: float | None) -> Matrix:
    functions = [
        node for node in components(declared.get("transform", "")) if node.type == "function"
    ]
    alone = [name for name in ("translate", "rotate", "scale") if name in declared]
    matrix = _perspective(perspective) if perspective is not None else _identity()
    for name in alone:
        nodes = components(declared[name])
        matrix = _product(matrix, _property_matrix(name, nodes))
    for node in functions[:_MAX_FUNCTIONS]:
        parts = [part[0] for part in arguments(node) if part]
        matrix = _product(matrix, _function_matrix(node.lower_name, parts))
    return matrix


def _is_out_of_sight(matrix: Matrix) -> bool:
    (a, c, _, across), (b, d, _, down), _, (gx, gy, _, depth) = matrix
    if not all(math.isfinite(part) for row in matrix for part in row):
        return False
    if depth <= 0:
        # Behind the eye of the viewer.
        return True
    across, down = across / depth, down / depth
    if across <= -_VERY_FAR or across >= WINDOW_WIDTH or down <= -_VERY_FAR:
        return True
    # How much the box's plane is stretched around its middle, along the shorter axis.
    a, b = (a - across * gx) / depth, (b - down * gx) / depth
    c, d = (c - across * gy) / depth, (d - down * gy) / depth
    square, area = a * a + b * b + c * c + d * d, abs(a * d - b * c)
    longer = math.sqrt((square + math.sqrt(max(0.0, square**2 - 4 * area**2))) / 2)
    return longer < _LEAST_SCALE or area / longer < _LEAST_SCALE


def _property_matrix(name: str, nodes: Sequence[Node]) -> Matrix:
    if name != "rotate":
        return _function_matrix(f"{name}3d" if len(nodes) == 3 else name, nodes)
    if len(nodes) == 2 and nodes[0].type == "ident":
        return _function_matrix(f"rotate{nodes[0].lower_value}", nodes[1:])
    return _function_matrix("rotate3d" if len(nodes) == 4 else "rotate", nodes)


def _function_matrix(name: str, parts: Sequence[Node]) -> Matrix:
    """Return the matrix of a transform function; of one that is not understood, no change."""
    if name == "perspective" and parts:
        pixels = node_pixels(parts[0], Scale())
        return _identity() if pixels is None else _perspective(pixels)
    if name.startswith("translate"):
        return _translation(name.removeprefix("translate"), parts)
    if name.startswith("rotate"):
        return _rotation(name.removeprefix("rotate"), parts)
    if name in ("skew", "skewx", "skewy"):
        return _skewing(name, parts)
    numbers = [node_factor(part) for part in parts]
    known = [number for number in numbers if number is not None]
    if not known or len(known) < len(numbers):
        return _identity()
    if name.startswith("scale"):
        return _scaling(name.removeprefix("scale"), known)
    if name == "matrix" and len(known) == 6:
        a, b, c, d, e, f = known
        return [[a, c, 0.0, e], [b, d, 0.0, f], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    if name == "matrix3d" and len(known) == 16:
        return [known[row::4] for row in range(4)]
    return _identity()


def _translation(kind: str, parts: Sequence[Node]) -> Matrix:
    moved = [node_pixels(part, Scale(percent_of=_OWN_SIZE)) or 0.0 for part in parts[:3]]
    x, y, z = (*moved, 0.0, 0.0, 0.0)[:3]
    if kind in ("x", "y", "z"):
        x, y, z = (x * part for part in _AXES[kind])
    matrix = _identity()
    for row, part in zip(matrix, (x, y, z), strict=False):
        row[3] = part
    return matrix


def _scaling(kind: str, factors: Sequence[float]) -> Matrix:
    x, y, z = (*factors, factors[0], 1.0)[:3] if len(factors) == 1 else (*factors, 1.0)[:3]
    if kind in ("x", "y", "z"):
        x, y, z = (1.0 + (factors[0] - 1.0) * part for part in _AXES[kind])
    matrix = _identity()
    for place, part in enumerate((x, y, z)):
        matrix[place][place] = part
    return matrix


def _skewing(name: str, parts: Sequence[Node]) -> Matrix:
    turns = [node_turns(part) or 0.0 for part in parts[:2]]
    first, second = (*turns, 0.0, 0.0)[:2]
    across, down = (0.0, first) if name == "skewy" else (first, second)
    matrix = _identity()
    matrix[0][1], matrix[1][0] = math.tan(math.tau * across), math.tan(math.tau * down)
    return matrix


def _rotation(kind: str, parts: Sequence[Node]) -> Matrix:
    axis = _AXES.get(kind or "z")
    if kind == "3d" and len(parts) == 4:
        x, y, z = (node_factor(part) or 0.0 for part in parts[:3])
        axis = (x, y, z)
    turns = node_turns(parts[-1]) if parts else None
    length = math.hypot(*axis) if axis is not None else 0.0
    if axis is None or turns is None or not length or not math.isfinite(length):
        return _identity()
    x, y, z = (part / length for part in axis)
    sine, cosine = math.sin(math.tau * turns), math.cos(math.tau * turns)
    rest = 1 - cosine
    return [
        [cosine + x * x * rest, x * y * rest - z * sine, x * z * rest + y * sine, 0.0],
        [y * x * rest + z * sine, cosine + y * y * rest, y * z * rest - x * sine, 0.0],
        [z * x * rest - y * sine, z * y * rest + x * sine, cosine + z * z * rest, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]


def _perspective(pixels: float) -> Matrix:
    matrix = _identity()
    # Browsers take less than a pixel for one.
    matrix[3][2] = -1 / max(pixels, 1.0)
    return matrix


def _identity() -> Matrix:
    return [[float(row == column) for column in range(4)] for row in range(4)]


def _product(first: Matrix, second: Matrix) -> Matrix:
    columns = list(zip(*second, strict=True))
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in columns]
        for row in first
    ]
