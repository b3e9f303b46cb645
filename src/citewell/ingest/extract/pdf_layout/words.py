"""The words of a PDF page with their places, sizes and kinds of type."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass

import pypdfium2
import pypdfium2.raw

from citewell.ingest.extract.characters import clean_plain_text

# A page of small print has some ten thousand characters.
_MAX_CHARACTERS = 60_000
_FIXED_PITCH = 1
_MONO_NAME = re.compile(rb"mono|courier|consol|typewriter|cmtt|menlo|code|fixed", re.IGNORECASE)
_BOLD_NAME = re.compile(rb"bold|black|heavy|semibold|cmbx", re.IGNORECASE)
_HYPHENS = "\ufffe\x02\u00ad"
# Letters of one word stand closer than this share of their size.
_WORD_GAP = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
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


def characters_beyond(text_page: pypdfium2.PdfTextPage) -> int:
    """Return how many characters of a page are too many to be read."""
    count: int = text_page.count_chars()
    return max(count - _MAX_CHARACTERS, 0)


def read_words(text_page: pypdfium2.PdfTextPage) -> list[Word]:
    """Return the words of a page in the order in which the file draws them."""
    reader = _WordReader(text_page)
    for place in range(min(text_page.count_chars(), _MAX_CHARACTERS)):
        reader.read(place)
    reader.end_word()
    return reader.words


class _WordReader:
    """Puts characters together to words."""

    def __init__(self, text_page: pypdfium2.PdfTextPage) -> None:
        self.words: list[Word] = []
        self._raw = text_page.raw
        self._letters: list[str] = []
        self._box = [0.0, 0.0, 0.0, 0.0]
        self._size = 0.0
        self._fonts: tuple[bool, bool] = (False, False)
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
            is_mono, is_bold = self._fonts
            self.words.append(
                Word(
                    text=text,
                    left=left,
                    bottom=bottom,
                    right=right,
                    top=top,
                    size=self._size,
                    is_mono=is_mono,
                    is_bold=is_bold,
                )
            )

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
        is_mono = bool(flags.value & _FIXED_PITCH) or bool(_MONO_NAME.search(name.value))
        self._fonts = (is_mono, bool(_BOLD_NAME.search(name.value)))
