"""Judging whether what was found supports a question: a logistic model over a few features.

It looks at what the chunks say, not at how a reranker scored them, so it means the same with any
reranker and with none. The coefficients are from bench/fit_support.py.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from citewell.core.asking import without_asking
from citewell.core.definitions import asked_terms, asks_signature
from citewell.core.frozen import frozen
from citewell.core.language import has_cjk
from citewell.core.odds import any_log_odds, from_log_odds, log_odds
from citewell.core.symbols import DEFINED_AS
from citewell.core.text import one_line
from citewell.core.words import content_words, words
from citewell.research.link_prose import prose_sentences
from citewell.research.names import missing_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from citewell.core.records import RankedChunk, StoredChunk

# Chosen on bench/abstention.py …
SUPPORTED = 0.48
# … and these on bench/link_following.py.
_SETTLED = 0.9
# A question that asks what a symbol is or what its signature says, and its definition.
_DEFINED = 0.9
_MOST_MISSING = 0.2
# The model whose cosines the fit knows; those of another lie on another scale.
KNOWN_MODEL = "granite-30m-en-int8"

FEATURES = (
    "best_coverage",  # of the question's words, in the chunk that holds most of them
    "rare_coverage",  # the same, words that few candidates hold weighing more
    "window_coverage",  # in two neighbouring sentences and the headings above them
    "phrase_share",  # of the question's neighbouring words that stand side by side in a chunk
    "first_coverage",  # in the chunk that retrieval put first
    "anywhere",  # in all candidates taken together
    "question_words",  # how many there are, as a logarithm: a short question is covered by chance
    "few_candidates",  # 1 for one chunk, falling: rarity among few says little
    "is_cjk",  # its words are overlapping bigrams, which are covered by chance
    "cosine",  # the highest of any candidate; 0 when unknown
)
_WITH_COSINE = (1.88, 2.94, 0.85, 3.57, 2.23, -1.2, -0.07, 2.46, 0.0, 19.83)
_WITH_COSINE_BIAS = -16.51
_WITHOUT_COSINE = (3.27, 1.38, 3.95, 3.92, 4.33, 0.81, 0.77, 2.77, -1.98, 0.0)
_WITHOUT_COSINE_BIAS = -9.73

# What the reranker's probability of the best chunk adds, and what a name costs that nothing stored
# holds, that no chunk found holds, or none of those that are quoted; any other word that nothing
# stored holds costs as much as the last. Fitted on the even lines of bench/questions.py.
_OWN_SHARE, _RANK_SHARE, _RANK_BIAS = 0.5, 0.6, 1.0
_NAME_UNKNOWN, _NAME_NOWHERE, _NAME_FAR = 7.0, 4.7, 3.2
# What the words' support and the reader's odds add up to, chosen on the absent and answerable
# questions of three sets (bench/reports/questions.md). Words that hardly support anything count
# in full: the reader never learned what questions about something else altogether look like.
_WORDS_SHARE, _READ_SHARE, _READ_BIAS = 0.2, 0.9, -0.08
_HARDLY_SUPPORTED = -4.0
# How many units were usually read: a short page has fewer chances to seem to answer.
_USUAL_UNITS = 30
# How often the best quote answers, given the support: fitted on bench/questions.py. On questions
# that took no part in any fit, 14 of 18 quotes of .7 and more are right.
_QUOTE_SLOPE, _QUOTE_BIAS = 0.36, -0.78
# The same where a reader read them, given also how much of the odds of all units the quote holds:
# fitted on the looked-at sets (bench/reports/questions.md).
_READ_QUOTE_SLOPE, _CHANCE_WEIGHT, _READ_QUOTE_BIAS = 0.32, 2.3, 0.5
_LEAST_CHANCE = 0.001

_CANDIDATES = 80
_NAMED_WORDS = 5
_BEST = 5
# A question may join two things that no one chunk holds; more would cover its words by chance.
_TOGETHER = 2
# Words that say what kind of answer is wanted rather than what the question is about. In Japanese
# a bigram with a hiragana letter is grammar, or straddles a word and its particle.
_ASKING = frozenset(
    "about after also anyth becom befor between both call common consid describ did differ do doe "
    "dure each exampl explain find first follow gener get give happen import kind know known long "
    "made main make mani mean most much name need new number often old one other over part refer "
    "relat requir say sever show someth sort take tell thing three time two type under usual "
    "variou want way which when whose year use".split()
)
_HIRAGANA = re.compile(r"[\u3041-\u309f]")
_ASKING_WORTH = 0.4
_HIRAGANA_WORTH = 0.3
# What share of a question's words its evidence must hold at all: a small library ranks something
# first for any question. Of the answerable ones of bench/questions.py none has less than .42 once
# its slips are corrected.
_LEAST_HELD = 1 / 3
# What share of it may be words that nothing stored holds: of the questions of six sets that were
# answered rightly, none has more than .31.
_MOST_UNKNOWN = 0.4


@frozen
class _Asked:
    worth: Mapping[str, float]
    """Of each word of the question; they sum to 1."""
    pairs: frozenset[tuple[str, str]]
    is_cjk: bool


@frozen
class Judgement:
    """How well chunks support a question."""

    support: float
    """The probability that they hold what it asks for."""
    missing: Mapping[str, float]
    """The words of the question that the best two lack, with the share each has in it."""
    is_read: bool = False
    """Whether a reader had a say."""

    @property
    def is_supported(self) -> bool:
        """Whether the question can be said to have been answered."""
        return self.support >= SUPPORTED

    def confidence_in(self, *, chance: float, share: float) -> float:
        """Return the probability that a quote answers.

        `chance` is that of the answer standing in it if it stands anywhere, `share` its standing
        beside the best quote, which decides where no reader had a say.
        """
        support = log_odds(self.support)
        if not self.is_read:
            return share * from_log_odds(_QUOTE_SLOPE * support + _QUOTE_BIAS)
        held = _CHANCE_WEIGHT * math.log(max(chance, _LEAST_CHANCE))
        return from_log_odds(_READ_QUOTE_SLOPE * support + held + _READ_QUOTE_BIAS)

    def least_chance(self, confidence: float) -> float:
        """Return the chance from which on the best quote answers with this confidence."""
        if not self.is_read:
            return 0.0 if self.confidence_in(chance=1.0, share=1.0) >= confidence else math.inf
        odds = log_odds(confidence) - _READ_QUOTE_SLOPE * log_odds(self.support) - _READ_QUOTE_BIAS
        return math.exp(odds / _CHANCE_WEIGHT)

    @property
    def is_settled(self) -> bool:
        """Whether it is certain, and no word of the question is missing."""
        return self.support >= _SETTLED and sum(self.missing.values()) <= _MOST_MISSING

    @property
    def is_enough(self) -> bool:
        """Whether there is nothing to look for on further pages.

        A reader that found the answer need not find every word of the question.
        """
        return self.is_settled or (self.is_read and self.support >= _SETTLED)


def judge(
    query: str,
    chunks: Sequence[RankedChunk],
    *,
    cosine: float | None,
    unknown_words: Sequence[str] = (),
    reads: Sequence[float] = (),
) -> Judgement:
    """Return how well `chunks`, best first, support `query`.

    `cosine` is the highest of any chunk with the query, by the model KNOWN_MODEL names; None when
    it is unknown. `unknown_words` are those of the question that nothing stored holds. `reads` are
    the reader's log-odds for the units it read; none where there is no reader.
    """
    found = [ranked.chunk for ranked in chunks]
    row = support_features(query, found, cosine=cosine)
    asked = _read(query)
    support = 0.0
    held = [_words_of(chunk).intersection(asked.worth) for chunk in found[:_CANDIDATES]]
    is_near = _coverage(asked.worth, frozenset[str]().union(*held)) >= _LEAST_HELD or asked.is_cjk
    unknown = [word for word in unknown_words if word in query]
    is_unknown = _coverage(asked.worth, _word_set(" ".join(unknown))) > _MOST_UNKNOWN
    if row is not None and is_near and not is_unknown:
        support = _probability(row, knows_cosine=cosine is not None)
        support = _with_names_and_rank(query, support, chunks[:_CANDIDATES], unknown=unknown)
        support = _with_reads(support, reads)
    is_defined = bool(chunks) and chunks[0].defines_at is not None and not unknown
    if is_defined and (asked_terms(query) or asks_signature(query)):
        support = max(support, _DEFINED)
    return Judgement(
        support=support,
        missing=_missing(asked.worth, held),
        is_read=bool(reads),
    )


def support_features(
    query: str, chunks: Sequence[StoredChunk], *, cosine: float | None
) -> list[float] | None:
    """Return a number per name in FEATURES; None when there is nothing to judge."""
    asked = _read(query)
    candidates = chunks[:_CANDIDATES]
    if not candidates or not asked.worth:
        return None
    held = {chunk.chunk_id: _words_of(chunk).intersection(asked.worth) for chunk in candidates}
    covered = {at: _coverage(asked.worth, own) for at, own in held.items()}
    # A reranker may have put the one that says it word for word below others.
    best = sorted(candidates, key=lambda chunk: -covered[chunk.chunk_id])[:_BEST]
    return [
        covered[best[0].chunk_id],
        _coverage(_by_rarity(asked.worth, list(held.values())), held[best[0].chunk_id]),
        max(_window_coverage(asked, chunk) for chunk in best),
        max(_phrase_share(asked, chunk) for chunk in best),
        _coverage(asked.worth, held[candidates[0].chunk_id]),
        _coverage(asked.worth, frozenset().union(*held.values())),
        math.log2(1 + len(asked.worth)),
        1.0 / (1.0 + math.log2(len(held))),
        float(asked.is_cjk),
        cosine if cosine is not None else 0.0,
    ]


def absent_words(
    query: str,
    chunks: Iterable[RankedChunk],
    *,
    unknown: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> list[str]:
    """Return the names in `query` that stand in none of `chunks`, and its `unknown` words.

    A page that speaks of something alike shares the other words; who reads it should know that
    it does not speak of these. A common word that is missing says nothing, and a note can say under
    which other name something is defined.
    """
    held = [_words_of(ranked.chunk) for ranked in chunks]
    nowhere, _ = missing_names(query, held)
    absent = dict.fromkeys((*nowhere, *(word for word in unknown if word in query)))
    explained = {note.partition(f" {DEFINED_AS} ")[0] for note in notes if DEFINED_AS in note}
    return sorted((word for word in absent if word not in explained), key=query.find)


def absence_warnings(words: Sequence[str], *, has_evidence: bool = True) -> list[str]:
    """Return a sentence that warns of `absent_words`; none when there are none."""
    named = list(dict.fromkeys(one_line(word) for word in words))[:_NAMED_WORDS]
    listed = ", ".join(f'"{word}"' for word in named)
    advice = "; check that the evidence is about it" if has_evidence else ""
    return [f"No sentence found contains {listed}{advice}."] if listed else []


def _with_names_and_rank(
    query: str, support: float, chunks: Sequence[RankedChunk], *, unknown: Sequence[str]
) -> float:
    """Return the support, less where a name is missing, and moved towards what ranked the best."""
    held = [_words_of(each.chunk) for each in chunks]
    nowhere, far = missing_names(query, held)
    odds = log_odds(support)
    if chunks[0].confidence is not None:
        best = max(each.confidence or 0.0 for each in chunks)
        odds = _OWN_SHARE * odds + _RANK_SHARE * log_odds(best) + _RANK_BIAS
    if any(name in unknown for name in nowhere):
        odds -= _NAME_UNKNOWN
    elif nowhere:
        odds -= _NAME_NOWHERE
    elif far or unknown:
        odds -= _NAME_FAR
    return from_log_odds(odds)


def _with_reads(support: float, reads: Sequence[float]) -> float:
    """Return the support, moved by the reader's odds of any unit being the answer."""
    if not reads:
        return support
    any_odds = any_log_odds(reads) - math.log(len(reads) / _USUAL_UNITS) / 2
    words = log_odds(support)
    words = _WORDS_SHARE * max(words, _HARDLY_SUPPORTED) + min(words - _HARDLY_SUPPORTED, 0.0)
    odds = words + _READ_SHARE * any_odds + _READ_BIAS
    return from_log_odds(odds)


def _probability(row: Sequence[float], *, knows_cosine: bool) -> float:
    weights = _WITH_COSINE if knows_cosine else _WITHOUT_COSINE
    bias = _WITH_COSINE_BIAS if knows_cosine else _WITHOUT_COSINE_BIAS
    return from_log_odds(bias + sum(map(float.__mul__, weights, row)))


def _missing(worth: Mapping[str, float], held: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return the words that the two chunks which together hold most of them lack."""
    missing = dict(worth)
    for _ in range(_TOGETHER):
        best = max(held, key=lambda own: _coverage(missing, own), default=frozenset[str]())
        missing = {word: value for word, value in missing.items() if word not in best}
    return missing


@lru_cache(maxsize=256)
def _read(query: str) -> _Asked:
    every = content_words(without_asking(query))
    worth = {word: _worth(word) for word in every}
    whole = sum(worth.values())
    return _Asked(
        worth={word: value / whole for word, value in worth.items()},
        pairs=frozenset((a, b) for a, b in pairwise(every) if a != b),
        is_cjk=has_cjk(query),
    )


def _worth(word: str) -> float:
    if _HIRAGANA.search(word):
        return _HIRAGANA_WORTH
    return _ASKING_WORTH if word in _ASKING else 1.0


def _coverage(worth: Mapping[str, float], held: frozenset[str]) -> float:
    return sum(value for word, value in worth.items() if word in held)


def _by_rarity(worth: Mapping[str, float], held: Sequence[frozenset[str]]) -> dict[str, float]:
    total = len(held) + 1
    weighed = {
        word: value * math.log1p(total / (0.5 + sum(word in each for each in held)))
        for word, value in worth.items()
    }
    whole = sum(weighed.values())
    return {word: value / whole for word, value in weighed.items()}


def _window_coverage(asked: _Asked, chunk: StoredChunk) -> float:
    above = _word_set(_headings(chunk))
    sentences = _sentence_words(chunk.text)
    return max(
        (
            _coverage(asked.worth, above.union(*sentences[first : first + 2]))
            for first in range(len(sentences))
        ),
        default=0.0,
    )


def _phrase_share(asked: _Asked, chunk: StoredChunk) -> float:
    if not asked.pairs:
        return 0.0
    return len(asked.pairs & _neighbours(chunk.title, chunk.heading_path, chunk.text)) / len(
        asked.pairs
    )


def _words_of(chunk: StoredChunk) -> frozenset[str]:
    """Return the words of a chunk's headings and prose."""
    return _words_in(_headings(chunk), chunk.text, chunk.words)


def _headings(chunk: StoredChunk) -> str:
    return " ".join((chunk.title, *chunk.heading_path))


# A loop that follows links judges the same chunks in every round.
@lru_cache(maxsize=1024)
def _words_in(headings: str, text: str, stored: str | None) -> frozenset[str]:
    if "](" in text:
        prose = words("\n".join(prose_sentences(text)))
    else:
        # Without links all of it is prose, as it was indexed.
        prose = words(text) if stored is None else stored.split()
    return _word_set(headings).union(prose)


@lru_cache(maxsize=2048)
def _word_set(text: str) -> frozenset[str]:
    return frozenset(words(text))


@lru_cache(maxsize=256)
def _sentence_words(text: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(words(sentence)) for sentence in prose_sentences(text))


@lru_cache(maxsize=512)
def _neighbours(title: str, heading_path: Iterable[str], text: str) -> frozenset[tuple[str, str]]:
    parts = (title, *heading_path, *prose_sentences(text))
    return frozenset(pair for part in parts for pair in pairwise(content_words(part)))
