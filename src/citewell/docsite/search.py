"""Rank the pages of a docs folder by the words of a query."""

from __future__ import annotations

import math
import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from citewell.core.frozen import frozen
from citewell.core.words import STOP_STEMS, words
from citewell.docsite.index import heading_key
from citewell.docsite.postings import decode_postings
from citewell.docsite.spelling import Spellings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citewell.docsite.index import DocsIndex

# The usual values of BM25; pages of docs differ in length with reason, so it counts for less.
_SATURATION = 1.6
_LENGTH_SHARE = 0.6

# The weight of a guessed word, relative to a word as typed.
_GUESS_SHARE = 0.5

# A page whose title or heading equals the query ranks above those that only hold its words.
_TITLE_BONUS = 3.0
_HEADING_BONUS = 1.0
# So does one whose title is all words of the query, by its share of them: the page "Dependencies"
# for "dependency injection", "Query Parameters" for "query param".
_TITLE_WORDS_BONUS = 1.5
_TITLES_COMPARED = 50
_SHORTEST_BEGINNING = 4
# A longer query says more than the name of a page.
_MOST_NAMING_WORDS = 2

MAX_QUERY_WORDS = 40

_WRITTEN = re.compile(r"[^\W_]+")


@frozen
class Term:
    """A word of the query, as search words that count alike: itself, or what was guessed."""

    words: tuple[str, ...]
    share: float = 1.0


class Ranked(NamedTuple):
    """A page and how well it matches."""

    page: int
    """Its place in the index."""
    score: float


@frozen
class Ranking:
    """The matching pages, best first, and the words they were matched by."""

    ranked: tuple[Ranked, ...]
    terms: tuple[Term, ...]
    corrections: tuple[tuple[str, str], ...] = ()
    """Words that are on no page, each with the word that was searched for instead."""


class Searcher:
    """Searches one index; makes what it needs on the first query."""

    def __init__(self, index: DocsIndex) -> None:
        self._index = index
        lengths = [page.length for page in index.pages]
        average = sum(lengths) / len(lengths) if lengths else 1.0
        self._norms = [
            _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / max(average, 1.0))
            for length in lengths
        ]

    @cached_property
    def _spellings(self) -> Spellings:
        return Spellings(self._index.table.spellings)

    def rank(self, query: str, *, as_you_type: bool = False) -> Ranking:
        """Return the pages that match the query.

        A page need not hold all words, but comes after those that do. A word that no page holds
        is taken as the beginning of one, else as a slip. With `as_you_type` the last word may be
        unfinished even if it is one.
        """
        terms, corrections = self._terms(query, as_you_type=as_you_type)
        scores: dict[int, float] = {}
        held: dict[int, float] = {}
        for term in terms:
            for page, score in self._score(term).items():
                scores[page] = scores.get(page, 0.0) + score
                held[page] = held.get(page, 0.0) + term.share
        asked = sum(term.share for term in terms) or 1.0
        for page in scores:
            scores[page] *= held[page] / asked
        best = max(scores.values(), default=1.0)
        self._add_title_bonus(query, scores, best)
        self._add_heading_bonus(query, scores, best)
        pages = self._index.pages
        order = sorted(scores, key=lambda page: (-scores[page], len(pages[page].path), page))
        return Ranking(
            ranked=tuple(Ranked(page, scores[page]) for page in order),
            terms=tuple(terms),
            corrections=tuple(corrections),
        )

    def _terms(self, query: str, *, as_you_type: bool) -> tuple[list[Term], list[tuple[str, str]]]:
        postings = self._index.table.postings
        query_words = list(dict.fromkeys(words(query)))[:MAX_QUERY_WORDS]
        meaningful = [word for word in query_words if word not in STOP_STEMS] or query_words
        terms = [Term(words=(word,)) for word in meaningful if word in postings]
        known = {word for term in terms for word in term.words}
        corrections: list[tuple[str, str]] = []
        written = [form.lower() for form in _WRITTEN.findall(query)][:MAX_QUERY_WORDS]
        for i, form in enumerate(written):
            is_last = as_you_type and i == len(written) - 1
            own = [word for word in words(form) if word not in STOP_STEMS]
            is_known = not own or any(word in known or word in postings for word in own)
            if is_known and not is_last:
                continue
            guesses = self._spellings.beginning_with(form)
            if not is_known and not guesses:
                guesses = self._spellings.near(form)
                corrections += [(form, guesses[0])] if guesses else []
            if guesses:
                terms.append(Term(words=_words_of(guesses), share=_GUESS_SHARE))
        return terms, corrections

    def _score(self, term: Term) -> dict[int, float]:
        """Return what a term gives to each page; of several guesses the best one counts."""
        best: dict[int, float] = {}
        norms = self._norms
        for word in term.words:
            postings = decode_postings(self._index.table.postings.get(word, ""))
            rarity = term.share * self._rarity(len(postings))
            scores = {
                page: rarity * weight * (_SATURATION + 1) / (weight + norms[page])
                for page, weight in postings
            }
            for page in best.keys() & scores.keys():
                scores[page] = max(best[page], scores[page])
            best.update(scores)
        return best

    def _rarity(self, holding: int) -> float:
        every = len(self._index.pages)
        return math.log(1 + (every - holding + 0.5) / (holding + 0.5))

    def _add_title_bonus(self, query: str, scores: dict[int, float], best: float) -> None:
        asked = _title_words(query)
        if len(asked) > _MOST_NAMING_WORDS:
            return
        for page in sorted(scores, key=lambda page: (-scores[page], page))[:_TITLES_COMPARED]:
            title = _title_words(self._index.pages[page].title)
            shared = sum(any(_is_word_of(word, other) for other in title) for word in asked)
            is_named = all(any(_is_word_of(other, word) for other in asked) for word in title)
            if shared and is_named:
                scores[page] += _TITLE_WORDS_BONUS * math.sqrt(shared / len(asked)) * best

    def _add_heading_bonus(self, query: str, scores: dict[int, float], best: float) -> None:
        postings = decode_postings(self._index.table.postings.get(heading_key(query), ""))
        for page, weight in postings:
            bonus = _TITLE_BONUS if weight > 1 else _HEADING_BONUS
            scores[page] = scores.get(page, 0.0) + bonus * best


class _TitleWord(NamedTuple):
    """A word of a title or query: as it is written, and its search words."""

    written: str
    stems: frozenset[str]


def _title_words(text: str) -> list[_TitleWord]:
    written = (_TitleWord(form, frozenset(words(form))) for form in _WRITTEN.findall(text.lower()))
    return [word for word in written if not word.stems <= STOP_STEMS]


def _is_word_of(asked: _TitleWord, other: _TitleWord) -> bool:
    """Return whether two words are the same, or `asked` is the beginning of the other."""
    is_beginning = len(asked.written) >= _SHORTEST_BEGINNING and other.written.startswith(
        asked.written
    )
    return is_beginning or not asked.stems.isdisjoint(other.stems)


def _words_of(forms: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for form in forms for word in words(form)))
