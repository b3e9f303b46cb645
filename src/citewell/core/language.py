"""Detecting the language of a text: by script first, then by its commonest words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.core.records import Language

_KANA = re.compile(r"[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_HANGUL = re.compile(r"[\u1100-\u11ff\uac00-\ud7af]")
_LATIN_WORD = re.compile(r"[A-Za-z]+")
_CODE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)

_ENGLISH_WORDS = frozenset(
    "the of and to in is that for it as with are on be this was by or from an at have not which "
    "can if you will when your use has but all we what how do does about into its".split()
)
# English prose has about one such word in three, code-heavy reference pages one in ten; other
# Latin-script languages share only a few short ones ("in", "an", "was").
_ENGLISH_SHARE = 0.08
_PROSE_SHARE = 0.2
_SAMPLE_CHARACTERS = 20_000


def detect_language(text: str) -> Language:
    """Return the language of `text`; "mixed" when Japanese and Latin prose both have weight."""
    sample = _CODE.sub(" ", text[: 2 * _SAMPLE_CHARACTERS])[:_SAMPLE_CHARACTERS] or text
    kana = len(_KANA.findall(sample))
    han = len(_HAN.findall(sample))
    hangul = len(_HANGUL.findall(sample))
    words = _LATIN_WORD.findall(sample)
    cjk = kana + han + hangul
    if cjk * 20 > len(words):
        return _cjk_language(kana, han, hangul, words)
    return "en" if _looks_english(words) else "other"


def has_cjk(text: str) -> bool:
    """Return whether `text` contains a Chinese, Japanese or Korean letter."""
    return bool(_KANA.search(text) or _HAN.search(text) or _HANGUL.search(text))


def cjk_share(text: str) -> float:
    """Return the share of CJK letters among the letters of `text`, 0 to 1."""
    cjk = len(_KANA.findall(text)) + len(_HAN.findall(text)) + len(_HANGUL.findall(text))
    latin = sum(len(word) for word in _LATIN_WORD.findall(text))
    return cjk / (cjk + latin) if cjk else 0.0


def _cjk_language(kana: int, han: int, hangul: int, latin_words: list[str]) -> Language:
    if hangul > kana + han:
        return "ko"
    # A Latin word carries about as much as two or three CJK letters. Japanese prose is full of
    # names in Latin letters: less of it makes a second language only where it reads as English.
    # Without kana the language of a few Han letters cannot be determined; that there are two can.
    weight = len(latin_words) * 2.5 / (kana + han)
    if weight > 2 or (weight > 0.5 and _common_share(latin_words) > _PROSE_SHARE):
        return "mixed"
    if kana * 50 > han:
        return "ja"
    return "zh"


def _looks_english(words: list[str]) -> bool:
    if len(words) < 8:
        return True
    return _common_share(words) >= _ENGLISH_SHARE


def _common_share(words: list[str]) -> float:
    return sum(map(_ENGLISH_WORDS.__contains__, map(str.lower, words))) / len(words)
