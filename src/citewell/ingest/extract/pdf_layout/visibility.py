"""Which characters of a PDF page a reader sees, by rendering the page with and without its text.

A word is seen where drawing it changes the picture. That covers invisible render modes, colours,
transparency, clipping, layers that are off, and shapes on top, whatever hides the text.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np
import pypdfium2
from pypdfium2 import raw

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_SCALE = 1.0
_MAX_PIXELS = 4_000_000
_MAX_SIDE_PIXELS = 20_000
_MAX_FORM_DEPTH = 8
# Of 255; grey type of six points still differs from white paper by more.
_LEAST_CONTRAST = 16
_LEAST_POINTS = 2.0
# Thin letters and full stops can be lost between pixels.
_LEAST_SEEN_SHARE = 0.5
# The letters of the fonts that PDFium brings itself.
_LAST_LATIN = 0x24F
_INVISIBLE_MODES = (raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP)
# Ligatures and hyphens are replaced by a few letters; longer replacements are another text.
_MAX_REPLACEMENT = 4


@frozen
class _Object:
    """A page object with the object of the page itself that holds it."""

    handle: object
    kind: int
    top: object


def drop_replacement_texts(page: pypdfium2.PdfPage) -> None:
    """Drop the `ActualText` that PDFium would return instead of the words that are drawn."""
    for item in _objects(page):
        if item.kind != raw.FPDF_PAGEOBJ_TEXT:
            continue
        for place in range(raw.FPDFPageObj_CountMarks(item.handle)):
            mark = raw.FPDFPageObj_GetMark(item.handle, place)
            size = ctypes.c_ulong()
            has_text = raw.FPDFPageObjMark_GetParamStringValue(
                mark, b"ActualText", None, 0, ctypes.byref(size)
            )
            # UTF-16 with an ending zero.
            if has_text and size.value > 2 * (_MAX_REPLACEMENT + 1):
                raw.FPDFPageObjMark_RemoveParam(item.handle, mark, b"ActualText")


def seen_characters(
    page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage, *, limit: int
) -> NDArray[np.bool_]:
    """Return for each of the first `limit` characters whether a reader sees it.

    The text objects of the page are switched off on the way; it can no longer be rendered whole.
    """
    runs, boxes = _find_runs(text_page, min(text_page.count_chars(), limit))
    seen = np.zeros(len(boxes) - 1, dtype=np.bool_)
    if not len(runs):
        return seen
    scale = _scale_of(page)
    whole = _render(page, scale)
    images: list[tuple[float, float, float, float]] = []
    for item in _objects(page):
        if item.kind == raw.FPDF_PAGEOBJ_TEXT:
            raw.FPDFPageObj_SetIsActive(item.handle, False)
        elif item.kind == raw.FPDF_PAGEOBJ_IMAGE:
            images.append(_bounds(item.top))
    without_text = _render(page, scale)
    pixels = _to_pixels(page, boxes, whole.shape)
    words = _word_boxes(runs, boxes)
    on_page = np.asarray((pixels[:, 2:] > pixels[:, :2]).all(axis=1))
    is_changed = _has_any(_changes(whole, without_text), pixels)
    is_seen = _is_mostly(is_changed, on_page, runs)
    if images:
        # The text layer of a scan is invisible itself: the image shows the words.
        has_ink = _has_any(_edges(without_text), pixels)
        is_seen |= _is_mostly(has_ink, on_page, runs) & _inside(words, images)
    is_tiny = _is_tiny(words, runs)
    for place in (~is_seen & ~is_tiny).nonzero()[0]:
        start = int(runs[place, 0])
        is_seen[place] = _lacks_font(text_page, start) and _is_painted(
            raw.FPDFText_GetTextObject(text_page.raw, start), without_text, pixels[start]
        )
    for start, end in runs[is_seen & ~is_tiny]:
        seen[start:end] = on_page[start:end]
    return seen


def _scale_of(page: pypdfium2.PdfPage) -> float:
    """Return how many pixels a point gets; a page of any size and form stays within bounds."""
    width, height = max(page.get_width(), 1.0), max(page.get_height(), 1.0)
    by_area = (_MAX_PIXELS / (width * height)) ** 0.5
    return float(min(_SCALE, by_area, _MAX_SIDE_PIXELS / max(width, height)))


def _objects(page: pypdfium2.PdfPage) -> Iterator[_Object]:
    for place in range(raw.FPDFPage_CountObjects(page.raw)):
        handle = raw.FPDFPage_GetObject(page.raw, place)
        yield from _with_parts(handle, handle, 0)


def _with_parts(handle: object, top: object, depth: int) -> Iterator[_Object]:
    kind = raw.FPDFPageObj_GetType(handle)
    yield _Object(handle=handle, kind=kind, top=top)
    if kind == raw.FPDF_PAGEOBJ_FORM and depth < _MAX_FORM_DEPTH:
        for place in range(raw.FPDFFormObj_CountObjects(handle)):
            yield from _with_parts(raw.FPDFFormObj_GetObject(handle, place), top, depth + 1)


def _find_runs(
    text_page: pypdfium2.PdfTextPage, count: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return where words of one text object begin and end, and the box of each character.

    An empty box comes after the last character.
    """
    runs: list[tuple[int, int]] = []
    boxes = np.zeros((count + 1, 4))
    box = raw.FS_RECTF()
    start, before = 0, 0
    for place in range(count + 1):
        code = raw.FPDFText_GetUnicode(text_page.raw, place) if place < count else 0
        owner = 0
        if code and not chr(code).isspace():
            if raw.FPDFText_GetLooseCharBox(text_page.raw, place, box):
                boxes[place] = box.left, box.bottom, box.right, box.top
            handle = raw.FPDFText_GetTextObject(text_page.raw, place)
            owner = ctypes.addressof(handle.contents) if handle else 0
        if owner != before:
            if before:
                runs.append((start, place))
            start, before = place, owner
    return np.array(runs, dtype=np.int64).reshape(-1, 2), boxes


def _render(page: pypdfium2.PdfPage, scale: float) -> NDArray[np.uint8]:
    """Return the rows of a picture of the page, with blue, green, red and an unused byte."""
    bitmap = page.render(scale=scale, prefer_bgrx=True)
    try:
        return np.ascontiguousarray(bitmap.to_numpy()).copy()
    finally:
        bitmap.close()


def _to_pixels(
    page: pypdfium2.PdfPage, boxes: NDArray[np.float64], shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """Return left, top, right and bottom of boxes in the picture, cut off at its edges."""
    height, width = shape[:2]
    far = 10_000.0
    x, y = ctypes.c_int(), ctypes.c_int()
    corners: list[tuple[int, int]] = []
    for point in ((0.0, 0.0), (far, 0.0), (0.0, far)):
        raw.FPDF_PageToDevice(page.raw, 0, 0, width, height, 0, *point, x, y)
        corners.append((x.value, y.value))
    origin, along, up = (np.array(corner, dtype=np.float64) for corner in corners)
    matrix = np.stack([(along - origin) / far, (up - origin) / far])
    first = boxes[:, :2] @ matrix + origin
    second = boxes[:, 2:] @ matrix + origin
    size = (width, height)
    low = np.clip(np.floor(np.minimum(first, second)), 0, size)
    high = np.clip(np.ceil(np.maximum(first, second)), 0, size)
    return np.concatenate([low, high], axis=1).astype(np.int64)


def _has_any(marks: NDArray[np.bool_], pixels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each box whether it holds a marked pixel."""
    left, top, right, bottom = pixels.T
    # Sums of all pixels above and to the left, of those rows alone at which boxes begin or end.
    rows, places = np.unique(np.concatenate([top, bottom]), return_inverse=True)
    above = np.zeros((marks.shape[0] + 1, marks.shape[1]), dtype=np.int32)
    marks.cumsum(axis=0, out=above[1:])
    sums = np.zeros((len(rows), marks.shape[1] + 1), dtype=np.int32)
    above[rows].cumsum(axis=1, out=sums[:, 1:])
    high, low = places[: len(top)], places[len(top) :]
    inside = sums[low, right] - sums[high, right] - sums[low, left] + sums[high, left]
    return np.asarray(inside > 0)


def _is_mostly(
    marks: NDArray[np.bool_], on_page: NDArray[np.bool_], runs: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return for each run whether enough of its characters on the page are marked."""
    counts = np.add.reduceat(marks.astype(np.int64), runs.ravel())[::2]
    possible = np.add.reduceat(on_page.astype(np.int64), runs.ravel())[::2]
    return np.asarray((counts > 0) & (counts >= _LEAST_SEEN_SHARE * possible))


def _lacks_font(text_page: pypdfium2.PdfTextPage, place: int) -> bool:
    """Return whether a character needs a font that neither the file nor PDFium brings."""
    font = raw.FPDFTextObj_GetFont(raw.FPDFText_GetTextObject(text_page.raw, place))
    is_latin = raw.FPDFText_GetUnicode(text_page.raw, place) <= _LAST_LATIN
    return not is_latin and raw.FPDFFont_GetIsEmbedded(font) == 0


def _is_painted(
    text_object: object, background: NDArray[np.uint8], pixels: NDArray[np.int64]
) -> bool:
    """Return whether letters that cannot be drawn here would show, by their mode and colour."""
    left, top, right, bottom = pixels
    if raw.FPDFTextObj_GetTextRenderMode(text_object) in _INVISIBLE_MODES or left >= right:
        return False
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not raw.FPDFPageObj_GetFillColor(text_object, red, green, blue, alpha) or top >= bottom:
        return False
    paper = background[(top + bottom) // 2, (left + right) // 2, :3].astype(np.int64)
    contrast = np.abs(paper - (blue.value, green.value, red.value)).max() * alpha.value / 255
    return bool(contrast >= _LEAST_CONTRAST)


def _word_boxes(runs: NDArray[np.int64], boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    low = np.minimum.reduceat(boxes[:, :2], runs.ravel())[::2]
    high = np.maximum.reduceat(boxes[:, 2:], runs.ravel())[::2]
    return np.concatenate([low, high], axis=1)


def _changes(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return the pixels in which two pictures differ enough for a reader."""
    changes = one.view(np.uint32)[:, :, 0] != other.view(np.uint32)[:, :, 0]
    # Text covers little of a page, so that only few pixels are compared by their colours.
    rows, columns = changes.nonzero()
    by_colour = np.abs(one[rows, columns].astype(np.int16) - other[rows, columns])
    changes[rows, columns] = by_colour.max(axis=1, initial=0) >= _LEAST_CONTRAST
    return np.asarray(changes)


def _edges(picture: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return the pixels that differ from their left or upper neighbour."""
    edges = np.zeros(picture.shape[:2], dtype=np.bool_)
    edges[1:] |= _changes(picture[1:], picture[:-1])
    edges[:, 1:] |= _changes(
        np.ascontiguousarray(picture[:, 1:]), np.ascontiguousarray(picture[:, :-1])
    )
    return edges


def _is_tiny(words: NDArray[np.float64], runs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which words are too small or too narrow to be read."""
    sides = words[:, 2:] - words[:, :2]
    # A word of one or two letters can be narrower than it is tall, or turned by a quarter.
    is_short = runs[:, 1] - runs[:, 0] <= 2
    side = np.where(is_short, sides.max(axis=1), sides.min(axis=1))
    return np.asarray(side < _LEAST_POINTS)


def _inside(
    words: NDArray[np.float64], areas: list[tuple[float, float, float, float]]
) -> NDArray[np.bool_]:
    """Return which words have their middle in one of the areas."""
    middles = (words[:, :2] + words[:, 2:]) / 2
    inside = np.zeros(len(words), dtype=np.bool_)
    for area in areas:
        inside |= ((middles >= area[:2]) & (middles <= area[2:])).all(axis=1)
    return inside


def _bounds(handle: object) -> tuple[float, float, float, float]:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    raw.FPDFPageObj_GetBounds(handle, left, bottom, right, top)
    return left.value, bottom.value, right.value, top.value
