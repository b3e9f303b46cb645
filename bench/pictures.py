"""Pictures of the dashboard as SVG: shares of one bar, and curves over a growing number."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence

_COLOURS = (
    *("#2874a6", "#b9770e", "#1e8449", "#884ea0", "#b03a2e", "#117a65", "#7d6608", "#5d6d7e"),
    *("#2e86c1", "#ca6f1e", "#239b56", "#a569bd"),
)
_WIDTH, _HEIGHT = 900, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 390, 12, 34
_LINE = 18
# The bottom of a logarithmic axis.
_LEAST = 0.1

Curve = Sequence[tuple[float, float]]


def stacked_bar(parts: Mapping[str, float], *, unit: str) -> str:
    """Return one bar that is made of parts, with its legend below."""
    total = sum(parts.values()) or 1.0
    shapes, left = [], 0.0
    for number, (name, value) in enumerate(parts.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        width = _WIDTH * value / total
        shapes.append(f'<rect x="{left:.1f}" width="{width:.1f}" height="26" fill="{colour}"/>')
        row, column = divmod(number, 3)
        x, y = column * _WIDTH / 3, 44 + row * _LINE
        shapes.append(
            f'<rect x="{x:.0f}" y="{y - 10:.0f}" width="10" height="10" fill="{colour}"/>'
            f'<text x="{x + 15:.0f}" y="{y:.0f}">{html.escape(name)} {value:g} {unit}</text>'
        )
        left += width
    height = 44 + _LINE * math.ceil(len(parts) / 3)
    return _frame("".join(shapes), height=height, label=f"{total:.0f} {unit} in all")


def curves(
    measured: Mapping[str, Curve], *, unit: str, axis: str, estimated_to: Sequence[float] = ()
) -> str:
    """Return curves, dotted where a power law goes on to `estimated_to`; then axes are logarithmic.

    The power law is that of a curve's last two points, and is never taken to fall.
    """
    estimates = {name: _continue(curve, estimated_to) for name, curve in measured.items()}
    points = [point for name in measured for point in (*measured[name], *estimates[name])]
    scales = _Scales(points, is_logarithmic=bool(estimated_to))
    shapes = [scales.draw_axes(axis)]
    for number, (name, curve) in enumerate(measured.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        shapes.append(scales.draw_path(curve, f'stroke="{colour}" stroke-width="2"'))
        style = f'stroke="{colour}" stroke-width="2" stroke-dasharray="2 5"'
        shapes.append(scales.draw_path((*curve[-1:], *estimates[name]), style))
        x, y = _WIDTH - _RIGHT + 14, _TOP + 10 + number * _LINE
        last = f"{_short(curve[-1][1])} {unit} at {_short(curve[-1][0])}"
        shapes.append(
            f'<rect x="{x}" y="{y - 10}" width="10" height="10" fill="{colour}"/>'
            f'<text x="{x + 15}" y="{y}">{html.escape(name)}: {last}</text>'
        )
    return _frame("".join(shapes), height=_HEIGHT, label=f"{axis}, {unit}")


class _Scales:
    """Where numbers lie in a picture of curves."""

    def __init__(self, points: Curve, *, is_logarithmic: bool) -> None:
        self._is_logarithmic = is_logarithmic
        self._places = sorted({x for x, _ in points})
        self._most = max(y for _, y in points)

    def draw_axes(self, axis: str) -> str:
        every = max(1, len(self._places) // 6)
        below = _HEIGHT - _BOTTOM + 16
        marks = [
            f'<text x="{self._across(x):.0f}" y="{below}" text-anchor="middle">{_short(x)}</text>'
            for x in self._places[::every]
        ]
        marks.append(f'<text x="{_WIDTH - _RIGHT + 14}" y="{below}">{html.escape(axis)}</text>')
        shares = (1, 0.1, 0.01) if self._is_logarithmic else (1, 0.5, 0)
        for y in (share * self._most for share in shares):
            height = self._up(y)
            marks.append(
                f'<text x="{_LEFT - 6}" y="{height + 4:.0f}" text-anchor="end">{_short(y)}</text>'
            )
            marks.append(f'<path d="M{_LEFT} {height:.1f}H{_WIDTH - _RIGHT}" stroke="#ddd"/>')
        return "".join(marks)

    def draw_path(self, curve: Curve, style: str) -> str:
        if len(curve) < 2:
            return ""
        steps = " L".join(f"{self._across(x):.1f} {self._up(y):.1f}" for x, y in curve)
        return f'<path d="M{steps}" fill="none" {style}/>'

    def _across(self, x: float) -> float:
        low, high = self._places[0], self._places[-1]
        if self._is_logarithmic:
            x, low, high = math.log(x), math.log(low), math.log(high)
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (x - low) / ((high - low) or 1.0)

    def _up(self, y: float) -> float:
        share = y / self._most
        if self._is_logarithmic:
            share = math.log(max(y, _LEAST) / _LEAST) / math.log(self._most / _LEAST)
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * share


def _continue(curve: Curve, ends: Sequence[float]) -> list[tuple[float, float]]:
    if len(curve) < 2:
        return []
    (x1, y1), (x2, y2) = curve[-2:]
    power = max(0.0, math.log(max(y2, _LEAST) / max(y1, _LEAST)) / math.log(x2 / x1))
    return [(x, y2 * (x / x2) ** power) for x in ends if x > x2]


def _short(number: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


def _frame(shapes: str, *, height: int, label: str) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img" '
        f'aria-label="{html.escape(label)}" font-size="12" font-family="system-ui, sans-serif">'
        f"{shapes}</svg>"
    )
