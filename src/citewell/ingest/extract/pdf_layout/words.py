"""The words of a PDF page with their places, sizes and kinds of type."""

from __future__ import annotations

import ctypes
import re
from dataclasses import replace

import pypdfium2
import pypdfium2.raw

from citewell.core.frozen import frozen
from citewell.ingest.extract.characters import clean_plain_text
from citewell.ingest.extract.pdf_layout.visibility import seen_characters

# A page of small print has some ten thousand characters.
_MAX_CHARACTERS = 60_000
# Of the type size; letters of one width differ by less, as they are rounded.
_EQUAL_WIDTHS = 0.1
_FIXED_PITCH = 1
# In all other type some of these are half as wide as others.
_NARROW = frozenset("fijlt")
_NARROW_OR_WIDE = _NARROW | frozenset("mwMW")
_MONO_NAME = re.compile(rb"mono|courier|consol|typewriter|cmtt|menlo|code|fixed", re.IGNORECASE)
_BOLD_NAME = re.compile(rb"bold|black|heavy|semibold|cmbx", re.IGNORECASE)
_HYPHENS = "\ufffe\x02\u00ad"
# Letters of one word stand closer than this share of their size.
_WORD_GAP = 0.25


@frozen
class Word:
    """Letters without a space between, in points from the lower left corner of the page."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    size: float
    is_mono: bool
    is_bold: bool
    cell: tuple[int, int, int] | None = None
    """The table, row and column of a word in a ruled table."""


def characters_beyond(text_page: pypdfium2.PdfTextPage) -> int:
    """Return how many characters of a page are too many to be read."""
    count: int = text_page.count_chars()
    return max(count - _MAX_CHARACTERS, 0)


def extract_words(page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage) -> list[Word]:
    """Return the words of a page that a reader sees, in the order in which the file draws them."""
    reader = _WordReader(text_page)
    for place, is_seen in enumerate(seen_characters(page, text_page, limit=_MAX_CHARACTERS)):
        if is_seen:
            reader.read(place)
        else:
            reader.end_word()
    reader.end_word()
    return reader.finish()


class _WordReader:
    """Puts characters together to words."""

    def __init__(self, text_page: pypdfium2.PdfTextPage) -> None:
        self.words: list[Word] = []
        self._raw = text_page.raw
        self._letters: list[str] = []
        self._box = [0.0, 0.0, 0.0, 0.0]
        self._size = 0.0
        self._font = b""
        self._fonts: list[bytes] = []
        """The font of each word."""
        self._widths: dict[bytes, tuple[float, float]] = {}
        """The narrowest and the widest letter of each font, by its size."""
        self._flags: dict[bytes, bool] = {}
        """Whether a font says that its letters are equally wide; not all tell the truth."""
        self._contrasts: dict[bytes, set[bool]] = {}
        """Which kinds of letters a font showed: narrow ones, wide ones, or both."""
        self._rectangle = pypdfium2.raw.FS_RECTF()

    def read(self, place: int) -> None:
        """Take one character in."""
        code = pypdfium2.raw.FPDFText_GetUnicode(self._raw, place)
        letter = "-" if chr(code) in _HYPHENS else chr(code)
        if letter.isspace() or code == 0:
            self.end_word()
            return
        # As wide as the letter takes room, not only as it is drawn.
        if not pypdfium2.raw.FPDFText_GetLooseCharBox(self._raw, place, self._rectangle):
            return
        found = self._rectangle
        box = (found.left, found.bottom, found.right, found.top)
        if self._letters and not self._continues(box):
            self.end_word()
        if not self._letters:
            self._begin(place, box)
        self._letters.append(letter)
        width = (box[2] - box[0]) / max(self._size, 1.0)
        least, most = self._widths.get(self._font, (width, width))
        self._widths[self._font] = (min(least, width), max(most, width))
        if letter in _NARROW_OR_WIDE:
            self._contrasts.setdefault(self._font, set()).add(letter in _NARROW)
        self._box = [
            min(self._box[0], box[0]),
            min(self._box[1], box[1]),
            max(self._box[2], box[2]),
            max(self._box[3], box[3]),
        ]

    def end_word(self) -> None:
        """Close the word that is being read, if any."""
        text = clean_plain_text("".join(self._letters))
        self._letters = []
        if text:
            left, bottom, right, top = self._box
            self._fonts.append(self._font)
            self.words.append(
                Word(
                    text=text,
                    left=left,
                    bottom=bottom,
                    right=right,
                    top=top,
                    size=self._size,
                    is_mono=bool(_MONO_NAME.search(self._font)),
                    is_bold=bool(_BOLD_NAME.search(self._font)),
                )
            )

    def finish(self) -> list[Word]:
        """Return the words; a font is known by all its letters on the page."""
        mono = {
            font
            for font, (least, most) in self._widths.items()
            if most - least < _EQUAL_WIDTHS
            and (self._flags.get(font) or len(self._contrasts.get(font, ())) == 2)
        }
        return [
            replace(word, is_mono=True) if font in mono else word
            for word, font in zip(self.words, self._fonts, strict=True)
        ]

    def _continues(self, box: tuple[float, float, float, float]) -> bool:
        is_beside = box[0] - self._box[2] < _WORD_GAP * max(self._size, 1.0)
        return (
            is_beside
            and box[0] >= self._box[0] - 1
            and box[1] < self._box[3]
            and box[3] > self._box[1]
        )

    def _begin(self, place: int, box: tuple[float, float, float, float]) -> None:
        self._box = list(box)
        self._size = float(pypdfium2.raw.FPDFText_GetFontSize(self._raw, place))
        if self._size <= 1.5:
            # The size is in the matrix of such a text, so the letters tell it.
            self._size = max(1.4 * (box[3] - box[1]), 1.0)
        name = ctypes.create_string_buffer(128)
        flags = ctypes.c_int()
        pypdfium2.raw.FPDFText_GetFontInfo(self._raw, place, name, 128, flags)
        # Bitmapped fonts have no name, and only their size keeps them apart.
        self._font = name.value + f" {self._size:.0f}".encode()
        self._flags[self._font] = bool(flags.value & _FIXED_PITCH)
