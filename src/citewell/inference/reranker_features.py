"""What the calibrated reranker sees of a query and its candidates: one row of numbers each."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from citewell.core.frozen import frozen
from citewell.core.words import (
    STOP_STEMS,
    as_symbol,
    content_words,
    text_words,
    weight_of,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import StoredChunk
    from citewell.inference.protocols import Candidate

FEATURES = (
    "word_score",  # share of the list's best BM25 score
    "word_missing",
    "vector_score",  # cosine, 0 when missing
    "vector_missing",
    "vector_below_best",  # cosine under the list's best
    "blend",  # word score less the distance to the best cosine; in Japanese, letters in common too
    "coverage",  # of the query's words, rare ones counting more: title, headings and text together
    "text_coverage",
    "window_coverage",  # the best stretch of about a sentence or two
    "heading_coverage",
    "heading_precision",  # how much of the heading the query names
    "title_coverage",
    "title_precision",
    "path_coverage",  # title and every heading above
    "phrase_share",  # query words that are adjacent in the chunk as in the query
    "heading_is_query",
    "symbol_defined",  # the query is a symbol and the chunk's heading or anchor is that symbol
    "page_coverage",  # over all candidates of the page
    "page_best",  # the page's best blend against the list's best
    "page_second",  # and its second best: a page about the thing is found more than once
    "first_chunk",
    "link_density",
    "listing_page",  # release notes, indexes, source listings: they mention everything
    "query_length",
    "letter_coverage",  # of the query's kanji and katakana; as coverage where there are none
    "bigram_share",  # of the query's words: how far it is Chinese, Japanese or Korean
)

# A cosine that is 0.2 lower weighs as much as all of the word score. Alone the blend beats rank
# fusion on SciFact (.741, .730) and HotpotQA (.873, .857) and loses on the Python labels (.924,
# .933) and the Kubernetes glossary (.70, .707); the trees make up for those.
_COSINE_WEIGHT = 5.0
# Many a kanji is a word, and words put differently share letters where they share no bigram. With
# both weights JSQuAD's nDCG@10 rises from .947 to .952 on the even questions, by which they were
# chosen, and from .957 to .963 on odd ones; more of either costs on the Kubernetes glossary.
_LETTER_WEIGHT = 0.3
_WINDOW_WEIGHT = 0.2
_LETTER = re.compile(r"[\u30a1-\u30f6\u3400-\u4dbf\u4e00-\u9fff々]")
_MOST_LETTERS = 64
_NO_SECOND = -0.5
_WINDOW_WORDS = 30
_LISTING_URL = re.compile(
    r"(?:^|[/_.-])(?:what-?s-?new|change-?log|changes|news|releases?|release-?notes?|_sources"
    r"|_modules)(?:[/_.-]|$)"
    r"|(?:^|[/-])(?:gen-?index|(?:py-?)?mod-?index|index-all|all-?classes|contents|toc|site-?map"
    r"|search)(?:-[^/]*)?(?:\.\w+)?/?$",
    re.IGNORECASE,
)
_LISTING_TITLE = re.compile(
    r"what.s new|change ?log|release notes|release history|^index\b|module index|table of contents"
    r"|site ?map|変更履歴|リリースノート|総合索引|目次",
    re.IGNORECASE,
)
_SIGNATURE_END = re.compile(r"[\s(\[¶:=]")

Matrix = npt.NDArray[np.float64]


@frozen
class _Asked:
    """The query as the features need it."""

    words: tuple[str, ...]
    index: dict[str, int]
    pairs: frozenset[tuple[int, int]]
    symbol: str | None
    names: dict[str, frozenset[int]] = field(default_factory=dict)
    """What titles and headings hold of the query: candidates share most of theirs."""

    def held_in(self, name: str) -> frozenset[int]:
        """Return which of the query's words are in a title or heading."""
        held = self.names.get(name)
        if held is None:
            found = _content(name)
            held = frozenset([at for word, at in self.index.items() if word in found])
            self.names[name] = held
        return held


@dataclass(slots=True, kw_only=True)
class _Seen:
    """One candidate: which of the query's words it holds, and where."""

    matches: list[tuple[int, int]]
    """(position, query word) of each match in the chunk's text, in order."""
    text: frozenset[int]
    heading: frozenset[int]
    heading_length: int
    title: frozenset[int]
    title_length: int
    path: frozenset[int]
    anywhere: frozenset[int]
    """In the text, the title or a heading."""


def feature_rows(query: str, candidates: Sequence[Candidate]) -> Matrix:
    """Return a row per candidate and a column per name in FEATURES.

    Scores are set against the best of the list, since only ranks and ratios mean the same from one
    store or model to another.
    """
    asked = _analyse(query)
    seen = [_look(asked, candidate.chunk) for candidate in candidates]
    weights = _rarity(asked, seen)
    rows = np.zeros((len(candidates), len(FEATURES)))
    if not candidates:
        return rows
    _put_scores(rows, candidates)
    rows[:, _MATCHES] = [_matches(asked, found, weights) for found in seen]
    _put_letters(rows, query, candidates)
    _put_place(rows, asked, candidates)
    _put_page(rows, candidates, seen, weights)
    rows[:, _AT["query_length"]] = math.log2(1 + len(asked.words))
    bigrams = [word for word in asked.words if weight_of(word) < 1.0]
    rows[:, _AT["bigram_share"]] = len(bigrams) / max(1, len(asked.words))
    return rows


_AT = {name: column for column, name in enumerate(FEATURES)}
_MATCHES = slice(_AT["coverage"], _AT["heading_is_query"] + 1)


def _analyse(query: str) -> _Asked:
    every = content_words(query)
    unique = tuple(dict.fromkeys(every))
    index = {word: at for at, word in enumerate(unique)}
    pairs = pairwise(every)
    return _Asked(
        words=unique,
        index=index,
        pairs=frozenset((index[a], index[b]) for a, b in pairs if a != b),
        symbol=as_symbol(query),
    )


@lru_cache(maxsize=4096)
def _words_of(text: str) -> tuple[str, ...]:
    # For stores that do not keep the words: splitting text is most of the cost of reranking.
    return tuple(text_words(text))


def _look(asked: _Asked, chunk: StoredChunk) -> _Seen:
    index = asked.index
    tokens = _words_of(chunk.text) if chunk.words is None else chunk.words.split()
    matches = [(at, index[word]) for at, word in enumerate(tokens) if word in index]
    text = frozenset([word for _, word in matches])
    title = asked.held_in(chunk.title)
    above = [asked.held_in(heading) for heading in chunk.heading_path]
    path = title.union(*above)
    return _Seen(
        matches=matches,
        text=text,
        heading=above[-1] if above else frozenset(),
        heading_length=len(_content(chunk.heading_path[-1])) if above else 0,
        title=title,
        title_length=len(_content(chunk.title)),
        path=path,
        anywhere=text | path,
    )


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    return frozenset(words(text)) - STOP_STEMS


def _rarity(asked: _Asked, seen: Sequence[_Seen]) -> list[float]:
    """Return a weight per query word, higher for words fewer candidates hold; they sum to 1."""
    counts = [0] * len(asked.words)
    for found in seen:
        for word in found.anywhere:
            counts[word] += 1
    weights = [
        weight_of(word) * math.log1p((len(seen) + 1) / (count + 0.5))
        for word, count in zip(asked.words, counts, strict=True)
    ]
    total = sum(weights)
    return [weight / total for weight in weights]


def _put_scores(rows: Matrix, candidates: Sequence[Candidate]) -> None:
    word_scores = np.array([candidate.word_score for candidate in candidates])
    cosines = [candidate.vector_score for candidate in candidates]
    known = [cosine for cosine in cosines if cosine is not None]
    best = max(known, default=0.0)
    typical = float(np.median(known)) if known else 0.0
    rows[:, _AT["word_score"]] = word_scores / max(word_scores.max(), 1e-9)
    rows[:, _AT["word_missing"]] = word_scores <= 0
    filled = np.array([typical if cosine is None else cosine for cosine in cosines])
    rows[:, _AT["vector_score"]] = filled
    rows[:, _AT["vector_missing"]] = [cosine is None for cosine in cosines]
    rows[:, _AT["vector_below_best"]] = best - filled
    below = _COSINE_WEIGHT * rows[:, _AT["vector_below_best"]]
    rows[:, _AT["blend"]] = rows[:, _AT["word_score"]] - below


def _matches(asked: _Asked, found: _Seen, weights: Sequence[float]) -> tuple[float, ...]:
    """Return the columns of _MATCHES."""
    return (
        _share(found.anywhere, weights),
        _share(found.text, weights),
        _window_coverage(found.matches, weights),
        _share(found.heading, weights),
        len(found.heading) / max(1, found.heading_length),
        _share(found.title, weights),
        len(found.title) / max(1, found.title_length),
        _share(found.path, weights),
        _phrase_share(found.matches, asked),
        len(found.heading) == found.heading_length == len(asked.words),
    )


def _share(held: frozenset[int], weights: Sequence[float]) -> float:
    return sum([weights[word] for word in held])


def _window_coverage(matches: Sequence[tuple[int, int]], weights: Sequence[float]) -> float:
    best = share = 0.0
    counts: defaultdict[int, int] = defaultdict(int)
    left = 0
    for at, word in matches:
        if not counts[word]:
            share += weights[word]
        counts[word] += 1
        while matches[left][0] < at - _WINDOW_WORDS:
            gone = matches[left][1]
            counts[gone] -= 1
            if not counts[gone]:
                share -= weights[gone]
            left += 1
        best = max(best, share)
    return best


def _phrase_share(matches: Sequence[tuple[int, int]], asked: _Asked) -> float:
    if not asked.pairs:
        return float(bool(matches))
    # Up to two stop words can separate two words of a phrase.
    met = {
        (word, following) for (at, word), (then, following) in pairwise(matches) if then - at <= 3
    }
    return len(met & asked.pairs) / len(asked.pairs)


def _put_letters(rows: Matrix, query: str, candidates: Sequence[Candidate]) -> None:
    """Fill in the share of the query's letters and add it to the blend."""
    letters = list(dict.fromkeys(_LETTER.findall(query)))[:_MOST_LETTERS]
    if not letters:
        rows[:, _AT["letter_coverage"]] = rows[:, _AT["coverage"]]
        return
    texts = [f"{candidate.chunk.title} {candidate.chunk.text}" for candidate in candidates]
    held = np.array([[letter in text for letter in letters] for text in texts])
    rarity = np.log1p((len(texts) + 1) / (held.sum(axis=0) + 0.5))
    rows[:, _AT["letter_coverage"]] = held @ rarity / rarity.sum()
    rows[:, _AT["blend"]] += _LETTER_WEIGHT * rows[:, _AT["letter_coverage"]]
    rows[:, _AT["blend"]] += _WINDOW_WEIGHT * rows[:, _AT["window_coverage"]]


def _put_place(rows: Matrix, asked: _Asked, candidates: Sequence[Candidate]) -> None:
    chunks = [candidate.chunk for candidate in candidates]
    if asked.symbol is not None:
        rows[:, _AT["symbol_defined"]] = [_defines(chunk, asked.symbol) for chunk in chunks]
    rows[:, _AT["first_chunk"]] = [chunk.ordinal == 0 for chunk in chunks]
    rows[:, _AT["link_density"]] = [
        min(1.0, 20 * chunk.text.count("](") / (len(chunk.text) + 1)) for chunk in chunks
    ]
    rows[:, _AT["listing_page"]] = [_is_listing(chunk.url, chunk.title) for chunk in chunks]


def _defines(chunk: StoredChunk, symbol: str) -> bool:
    names = [chunk.anchor or "", chunk.title]
    names += [
        _SIGNATURE_END.split(part.strip("`* "), maxsplit=1)[0]
        for part in chunk.heading_path
        if symbol in part.lower()
    ]
    return any(_same_symbol(name.lower(), symbol) for name in names)


def _same_symbol(name: str, symbol: str) -> bool:
    return name == symbol or name.endswith("." + symbol)


@lru_cache(maxsize=4096)
def _is_listing(url: str, title: str) -> bool:
    path = url.split("://", 1)[-1].partition("/")[2]
    return bool(_LISTING_URL.search(path) or _LISTING_TITLE.search(title))


def _put_page(
    rows: Matrix, candidates: Sequence[Candidate], seen: Sequence[_Seen], weights: Sequence[float]
) -> None:
    members: defaultdict[int, list[int]] = defaultdict(list)
    for at, candidate in enumerate(candidates):
        members[candidate.chunk.source_id].append(at)
    blend = rows[:, _AT["blend"]].tolist()
    highest = max(blend)
    for chunks in members.values():
        held = frozenset[int]().union(*(seen[at].anywhere for at in chunks))
        best, second, *_ = (*sorted([blend[at] for at in chunks], reverse=True), _NO_SECOND)
        rows[chunks, _AT["page_coverage"]] = _share(held, weights)
        rows[chunks, _AT["page_best"]] = best - highest
        rows[chunks, _AT["page_second"]] = max(second, _NO_SECOND)
