"""Which encoding bytes without a label are in, by the letters they would be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_LETTER = re.compile(r"[^\W\d_\x00-\x7f]")
_SAMPLE_BYTES = 64 * 1024
_HIGH_BYTE = re.compile(rb"[\x80-\xff]")
# How much of the usual share of common letters text must have. Pages of the Debian handbook have
# .8 to 1.2 of it in the right encoding, half of that where little is translated, Western ones none.
_LEAST_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class _Script:
    """A script whose most common letters show that text was read in the right encoding."""

    encodings: tuple[str, ...]
    word: re.Pattern[str]
    """Accents of Western text, read so by mistake, make no words."""
    common: re.Pattern[str]
    share: float
    """The usual share of the common letters among the letters beyond ASCII."""


_HANZI = re.compile("[\u4e00-\u9fff]+")
_SCRIPTS = (
    # Japanese prose is more than a third kana; other text, read as Japanese by mistake, has few.
    _Script(
        ("euc-jp", "shift_jis"),
        re.compile("[\u3041-\u30fc\u4e00-\u9fff]+"),
        re.compile("[\u3041-\u3096\u30a1-\u30fc]"),
        0.3,
    ),
    _Script(
        ("euc-kr",),
        re.compile("[\uac00-\ud7a3]+"),
        re.compile("[이다는의에을가고하로한지은도사를기리]"),
        0.3,
    ),
    _Script(
        ("gbk",), _HANZI, re.compile("[的一是在不了有和人这中大为上个以要时来用们到作出可]"), 0.15
    ),
    _Script(
        ("big5",), _HANZI, re.compile("[的一是在不了有和人這中大為上個以要時來用們到作出可]"), 0.15
    ),
    _Script(
        ("windows-1251", "koi8-u"),
        re.compile("[\u0400-\u04ff]{3,}"),
        re.compile("[аеиоі]"),
        0.38,
    ),
    _Script(
        ("windows-1253", "iso-8859-7"),
        re.compile("[\u0370-\u03ff]{3,}"),
        re.compile("[αεηιουωάέήίόύώςΆΈΉΊΌΎΏ]"),
        0.52,
    ),
    _Script(
        ("windows-1255",),
        re.compile("[\u05d0-\u05ea]{3,}"),
        re.compile("[יוהלארתב]"),
        0.58,
    ),
    _Script(
        ("windows-1256", "iso-8859-6"),
        re.compile("[\u0621-\u064a]{3,}"),
        re.compile("[اليمونرت]"),
        0.57,
    ),
    _Script(("windows-874",), re.compile("[\u0e01-\u0e5b]{3,}"), re.compile("[านรอกเงมย]"), 0.5),
)

# Enough to meet spaces or markup in.
_UTF_16_LETTERS = 512
# So few bytes can be anything.
_LEAST_BYTES = 16


def guess_encoding(body: bytes, decode: Callable[[bytes, str], str]) -> str:
    """Return the encoding in which bytes that are not UTF-8 read like text of some language."""
    first = _HIGH_BYTE.search(body)
    start = first.start() if first else 0
    sample = body[start : start + _SAMPLE_BYTES]
    share, encoding = max(
        (_likeness(decode(sample, encoding), script), encoding)
        for script in _SCRIPTS
        for encoding in script.encodings
    )
    return encoding if share >= _LEAST_SHARE else "windows-1252"


def _likeness(text: str, script: _Script) -> float:
    letters = len(_LETTER.findall(text))
    if not letters or text.count("\ufffd") * 20 > letters:
        return 0.0
    words = " ".join(script.word.findall(text))
    return len(script.common.findall(words)) / letters / script.share


def unmarked_utf_16(body: bytes) -> str | None:
    """Return the byte order of UTF-16 that begins without a mark; None for anything else.

    Spaces, digits and markup have a zero in the same half of each pair, and text no other zeros.
    """
    start = body[: 2 * _UTF_16_LETTERS]
    start = start[: len(start) // 2 * 2]
    zeros = (start[::2].count(0), start[1::2].count(0))
    if len(start) < _LEAST_BYTES or min(zeros) or 20 * max(zeros) < len(start) // 2:
        return None
    encoding = "utf-16be" if zeros[0] else "utf-16le"
    # The last pair may be half of a letter.
    text = start.decode(encoding, "replace")[:-1]
    is_text = all(letter.isprintable() or letter in "\t\n\r\f\u3000\xa0" for letter in text)
    return encoding if is_text and "\ufffd" not in text else None
