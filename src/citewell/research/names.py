"""Names in a question that nothing found holds: a page on a like subject shares all other words."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from citewell.core.question import named_tokens, parse_query
from citewell.core.words import as_symbol, content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

# Chunks that an answer is quoted from.
_BEST = 12
_ALIKE = 0.85
_LEAST_CORRECTED = 5
_DIGIT_INSIDE = re.compile(r"[A-Za-z]\d|\d[A-Za-z]")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_SENTENCE_START = re.compile(r"(?:^|[.?!:]) *$")


def find_names(question: str) -> list[str]:
    """Return the names that `question` asks about: code, acronyms, proper names.

    Names of the asker's own, such as variables that are assigned, are left out.
    """
    ask = parse_query(question).ask
    names = [
        match[0]
        for match in named_tokens(ask)
        if _is_name(match[0], starts=bool(_SENTENCE_START.search(ask[: match.start()][-8:])))
    ]
    return list(dict.fromkeys(names))


def missing_names(question: str, held: Sequence[frozenset[str]]) -> tuple[list[str], list[str]]:
    """Return the names that no chunk holds, and those that only chunks beyond the best hold.

    `held` has the words of each chunk and of its headings, best first.
    """
    everywhere = frozenset[str]().union(*held)
    best = frozenset[str]().union(*held[:_BEST])
    nowhere, far = [], []
    for name in find_names(question):
        word = content_words(name)[0]
        if word in best:
            continue
        if word in everywhere:
            far.append(name)
        elif not _has_like(word, everywhere):
            nowhere.append(name)
    return nowhere, far


def _is_name(token: str, *, starts: bool) -> bool:
    if as_symbol(token) or _DIGIT_INSIDE.search(token):
        return True
    capitals = sum(letter.isupper() for letter in token)
    if capitals >= 2 or (capitals == 1 and token[0].isupper() and not starts and len(token) > 2):
        return True
    return len(token) > 2 and token.isalpha() and not _VOWEL.search(token)


def _has_like(word: str, held: frozenset[str]) -> bool:
    """Return whether a word may be a slip of one that is held; another number is another name."""
    if len(word) < _LEAST_CORRECTED or any(letter.isdigit() for letter in word):
        return False
    near = [other for other in held if other[:1] == word[0] and abs(len(other) - len(word)) <= 2]
    return bool(get_close_matches(word, near, n=1, cutoff=_ALIKE))
