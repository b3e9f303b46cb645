"""Sphinx search indexes (`searchindex.js`): which pages of a site hold the words of a question."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.words import content_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SEARCH_INDEX_NAME = "searchindex.js"

_START, _END = b"Search.setIndex(", b")"
# A page whose headings hold a word is about it; a heading that is little more than words of the
# question is likely the answer's.
_IN_HEADINGS = 1.5
_IN_ONE_HEADING = 2.0
# Sphinx stems a little harder than we do.
_LEAST_STEM = 4
_MOST_CUT = 3


@frozen
class _Index:
    names: list[str]
    titles: list[str]
    terms: dict[str, object]
    """The pages of each word."""
    heading_terms: dict[str, object]
    """The pages that have a word in a heading."""
    headings: dict[str, object]
    """The places of each heading; older indexes have none."""


def rank_pages(
    body: bytes, weights: Mapping[str, float], limit: int
) -> list[tuple[str, str]] | None:
    """Return the names and titles of the pages that hold most of the words, best first.

    None when `body` is no search index. `weights` says what each search word counts. The names are
    addresses relative to the index, without the ending of its pages.
    """
    index = _parse(body)
    if index is None:
        return None
    scores = [0.0] * len(index.names)
    worth: dict[str, float] = {}
    for word, weight in weights.items():
        held = _pages_of(index.terms, word)
        headed = _pages_of(index.heading_terms, word)
        together = held | headed
        if not together:
            continue
        worth[word] = weight * math.log(1 + len(scores) / len(together))
        for page in together:
            if 0 <= page < len(scores):
                scores[page] += worth[word] * (1.0 + _IN_HEADINGS * (page in headed))
    for page, score in _best_headings(index.headings, worth).items():
        if 0 <= page < len(scores):
            scores[page] += _IN_ONE_HEADING * score
    best = sorted(range(len(scores)), key=lambda page: (-scores[page], page))[:limit]
    return [(index.names[page], index.titles[page]) for page in best if scores[page] > 0]


def _parse(body: bytes) -> _Index | None:
    start, end = body.find(_START), body.rfind(_END)
    if start < 0 or end < start:
        return None
    try:
        index = json.loads(body[start + len(_START) : end])
    except (ValueError, RecursionError):
        return None
    if not isinstance(index, dict) or not isinstance(index.get("terms"), dict):
        return None
    names, titles = index.get("docnames"), index.get("titles")
    if not isinstance(names, list) or not isinstance(titles, list) or len(names) != len(titles):
        return None
    headed, headings = index.get("titleterms"), index.get("alltitles")
    return _Index(
        names=[str(name) for name in names],
        titles=[str(title) for title in titles],
        terms=index["terms"],
        heading_terms=headed if isinstance(headed, dict) else {},
        headings=headings if isinstance(headings, dict) else {},
    )


def _pages_of(terms: Mapping[str, object], word: str) -> set[int]:
    """Return the pages under a word, or under the shorter stem that Sphinx may have of it."""
    shortest = max(_LEAST_STEM, len(word) - _MOST_CUT)
    stems = [word, *(word[:end] for end in range(len(word) - 1, shortest - 1, -1))]
    listed = next((terms[stem] for stem in stems if stem in terms), [])
    pages = listed if isinstance(listed, list) else [listed]
    return {page for page in pages if isinstance(page, int)}


def _best_headings(headings: Mapping[str, object], worth: Mapping[str, float]) -> dict[int, float]:
    """Return how well the best heading of each page matches, and how little else it says."""
    best: dict[int, float] = {}
    for heading, places in headings.items():
        lowered = heading.lower()
        if not isinstance(places, list) or not any(word in lowered for word in worth):
            continue
        held = content_words(heading)
        shared = [word for word in dict.fromkeys(held) if word in worth]
        score = sum(worth[word] for word in shared) * len(shared) / max(1, len(held))
        for page in _first_numbers(places):
            best[page] = max(best.get(page, 0.0), score)
    return best


def _first_numbers(places: Sequence[object]) -> list[int]:
    """Return the page of each place, which is a pair of page and anchor."""
    return [
        place[0]
        for place in places
        if isinstance(place, list) and place and isinstance(place[0], int)
    ]
