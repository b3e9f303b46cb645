"""Underscores that a PDF draws as short lines, as TeX does where a font has none."""

from __future__ import annotations

import ctypes
from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

from pypdfium2 import raw

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pypdfium2

    from citewell.ingest.extract.pdf_layout.words import Word

    Box = tuple[float, float, float, float]

# A page of drawings has more objects, and no identifiers worth the time.
_MAX_OBJECTS = 20_000
_MAX_LINES = 1_000
_MAX_POINTS = 40.0
# Of the type size.
_MAX_THICKNESS = 0.15
_WIDTHS = (0.2, 0.8)
_MAX_DISTANCE = 0.15


def join_at_underscores(words: Sequence[Word], page: pypdfium2.PdfPage) -> list[Word]:
    """Return the words, those with a short line between them joined by an underscore."""
    dashes = _short_lines(page)
    if not 0 < len(dashes) <= _MAX_LINES:
        return list(words)
    lefts = [dash[0] for dash in dashes]
    joined: list[Word] = []
    for word in words:
        before = joined[-1] if joined else None
        start = 0 if before is None else bisect_left(lefts, before.right - before.size)
        end = 0 if before is None else bisect_left(lefts, before.right + before.size)
        if before is not None and any(
            _is_between(before, dash, word) for dash in dashes[start:end]
        ):
            joined[-1] = replace(
                before,
                text=f"{before.text}_{word.text}",
                right=word.right,
                bottom=min(before.bottom, word.bottom),
                top=max(before.top, word.top),
            )
        else:
            joined.append(word)
    return joined


def _short_lines(page: pypdfium2.PdfPage) -> list[Box]:
    """Return the horizontal lines of a page that could be an underscore, from left to right."""
    count = raw.FPDFPage_CountObjects(page.raw)
    edges = [ctypes.c_float() for _ in range(4)]
    lines: list[Box] = []
    for place in range(count if count <= _MAX_OBJECTS else 0):
        item = raw.FPDFPage_GetObject(page.raw, place)
        if raw.FPDFPageObj_GetType(item) != raw.FPDF_PAGEOBJ_PATH:
            continue
        if raw.FPDFPageObj_GetBounds(item, *edges):
            left, bottom, right, top = (edge.value for edge in edges)
            if top - bottom < right - left <= _MAX_POINTS:
                lines.append((left, bottom, right, top))
    return sorted(lines)


def _is_between(before: Word, dash: Box, word: Word) -> bool:
    """Return whether a line fills the gap between two words of a line of text, at its foot."""
    left, bottom, right, top = dash
    size = max(before.size, 1.0)
    near = _MAX_DISTANCE * size
    return (
        _WIDTHS[0] * size <= right - left <= _WIDTHS[1] * size
        and top - bottom <= _MAX_THICKNESS * size
        and abs(left - before.right) <= near
        and abs(word.left - right) <= near
        and abs(word.bottom - before.bottom) <= near
        and before.bottom - near <= bottom
        and top <= before.bottom + 0.4 * size
    )
