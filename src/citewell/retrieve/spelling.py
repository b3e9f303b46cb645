"""Correcting slips of the keyboard, by the words that the texts found for a question hold."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from itertools import chain
from typing import TYPE_CHECKING

from citewell.core.question import EVERYDAY_STEMS
from citewell.core.words import STOP_WORDS, as_symbol, content_words, written_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

# Short words have too many neighbours for a guess to mean anything.
_LEAST_CHARACTERS = 4
_LEAST_LIKENESS = 0.8
_MOST_LENGTH_DIFFERENCE = 2
_MOST_CORRECTED = 6
# Not the parts of a name: in `ssl.op_no_sslv2` no word is misspelt.
_WORD = re.compile(r"(?<![\w.:])[^\W\d_]++(?!\w|[.:]+\w)")


def find_suspects(question: str, *, held: Collection[str]) -> list[str]:
    """Return the words of `question` that may be slips, none of whose search words is in `held`.

    Names of code and words with capitals inside are left out: they may be right and the texts may
    be about something else.
    """
    return [
        word
        for word in dict.fromkeys(_WORD.findall(question))
        if _may_be_slip(word) and not any(stem in held for stem in content_words(word))
    ]


def correct_words(missing: Iterable[str], texts: Iterable[str]) -> dict[str, str]:
    """Return the words, which no text holds, each with the word of the texts that may be meant."""
    forms = Counter(map(str.lower, chain.from_iterable(map(written_words, texts))))
    corrected: dict[str, str] = {}
    for word in missing:
        meant = _nearest(word.lower(), forms)
        if meant is not None and len(corrected) < _MOST_CORRECTED:
            corrected[word] = meant
    return corrected


def _may_be_slip(word: str) -> bool:
    is_plain = word.isascii() and (word.islower() or word.istitle()) and not as_symbol(word)
    is_common = word.lower() in STOP_WORDS or content_words(word)[0] in EVERYDAY_STEMS
    return len(word) >= _LEAST_CHARACTERS and is_plain and not is_common


def apply_corrections(question: str, corrected: Mapping[str, str]) -> str:
    """Return the question with the corrected words in their places."""
    return _WORD.sub(lambda match: corrected.get(match[0], match[0]), question)


def _nearest(word: str, forms: Mapping[str, int]) -> str | None:
    best, best_rank = None, (_LEAST_LIKENESS, 0)
    for form, count in forms.items():
        if form[:1] != word[0] or abs(len(form) - len(word)) > _MOST_LENGTH_DIFFERENCE:
            continue
        if not form.isalpha():
            continue
        if sorted(form) == sorted(word):
            # Two letters changed places: the commonest slip, of low likeness in short words.
            return form
        matcher = SequenceMatcher(None, word, form, autojunk=False)
        if matcher.real_quick_ratio() < best_rank[0] or matcher.quick_ratio() < best_rank[0]:
            continue
        rank = (round(matcher.ratio(), 2), count)
        if rank > best_rank:
            best, best_rank = form, rank
    return best
