"""Judging a sentence of a draft by sentences of pages: what they share, and where they differ.

No model is asked. A sentence is `supported` when one place of a page has nearly all of its words
and no other word in the place of one, all of its names, numbers and versions, and denies as much;
it is `contradicted` when such a place has another number, version or opposite instead, or denies
what the sentence says.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

from citewell.answer.facts import (
    differing_default,
    holds_name,
    opposites_between,
    parse_facts,
)
from citewell.core.folding import fold, is_typesetting
from citewell.core.frozen import frozen
from citewell.core.sequence_match import find_opcodes
from citewell.core.text import sentence_spans
from citewell.core.words import content_words, weight_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from citewell.answer.facts import Facts
    from citewell.core.text import Span

ClaimVerdict = Literal["quoted", "supported", "partly", "unsupported", "contradicted"]

# Shares of a claim's words that a place must hold; fitted on the even sentences of bench/drafts.py.
_SUPPORTED_SHARE = 0.85
_CONTRADICTED_SHARE = 0.7
_PARTLY_SHARE = 0.5
# Of somebody or something else, few common words say nothing of the claim.
_PARTLY_NAMED_SHARE = 0.65
_OPPOSED_SHARE = 0.9
# Of the nearest place's share, what another one for the claim must have.
_BESIDE_SHARE = 0.75
# A list of parameters that is many times as long holds most words, and denies something else.
_MOST_LENGTH = 4
_LEAST_WORDS = 5
# "TLS is optional." A heading, a name or an instruction of so few words is no claim.
_SHORT_CLAIM = re.compile(
    r"(?:\S+[ \t]+){1,3}?(?:is|are|was|were|has|have|can|cannot|must|may|does|do|will|[a-z]+s)"
    r"(?:[ \t]+\S+){1,2}[.!]"
)
_LEAST_QUOTED_CHARACTERS = 20
_MOST_LISTED = 8
_MOST_PLACES = 2
_BACKED: tuple[ClaimVerdict, ...] = ("quoted", "supported")


# "For instance" is "for example".
_SAME = ({"example", "instance"}, {"may", "can"})

_TOKEN = re.compile(r"\w+")
# Whose word it is changes nothing about the claim.
_ATTRIBUTION = re.compile(
    r"(?:according to|as stated in|as described in|as documented in|per) [^,.;]{1,80}+,\s*"
    r"|(?:the )?(?:docs?|documentation|manual|page|guide|reference)s? "
    r"(?:says?|states?|notes?|explains?|mentions?)(?: that)?,?\s+",
    re.IGNORECASE,
)
# The sentence before names what this one is about, and elsewhere that is something else.
_NAMED_BEFORE = re.compile(r"\W*(?:this|that|these|those|it|its|they|their)\b", re.IGNORECASE)
_NUMBER_GOES_ON = re.compile(r"[.,]?\d|\w")


@frozen
class ClaimPlace:
    """A place of a passage that says something about a claim."""

    verdict: ClaimVerdict
    """The verdict by this place alone."""
    passage: int
    """Which passage holds the place, …"""
    span: Span
    """… and where in it."""
    share: float
    """How much of the claim's words, but for those that differ, the place holds, by weight."""
    missing: tuple[str, ...] = ()
    """Names, numbers and words of the claim that the place does not hold."""
    differing: tuple[tuple[str, str], ...] = ()
    """What the claim says and what the place says instead."""
    denies: bool = False
    """Whether it denies what the claim says, of something that may be another thing."""


@frozen
class ClaimJudgement:
    """What the evidence says of a claim: the best places for it and against it, best first."""

    verdict: ClaimVerdict = "unsupported"
    supporting: tuple[ClaimPlace, ...] = ()
    opposing: tuple[ClaimPlace, ...] = ()


def claims_of(draft: str) -> Iterator[Span]:
    """Give where the factual sentences of a draft stand; questions, headings and code are none."""
    for start, end in sentence_spans(draft):
        sentence = draft[start:end]
        if sentence.startswith(("```", "~~~", "#", "|")) or sentence.rstrip("*_\"'”)").endswith(
            "?"
        ):
            continue
        if _has_words_enough(sentence) or _SHORT_CLAIM.fullmatch(sentence):
            yield start, end


def _has_words_enough(sentence: str) -> bool:
    return len(sentence.split()) >= _LEAST_WORDS or len(content_words(sentence)) >= _LEAST_WORDS


def judge_claim(
    claim: str, passages: Sequence[str], headings: Sequence[str] = ()
) -> ClaimJudgement:
    """Return the verdict on a claim, with the best places for and against it.

    `headings` are the titles that each passage stands under: they name what it is about.
    """
    attribution = _ATTRIBUTION.match(claim)
    claim = claim[attribution.end() :] if attribution else claim
    found = [*_find_quoted(claim, passages), *_find_near(claim, passages, headings)]
    places = sorted(found, key=_rank, reverse=True)
    if not places:
        return ClaimJudgement()
    verdict = places[0].verdict
    backed = [place for place in places if place.verdict in _BACKED]
    # The sentence after the one that says it has its words from there.
    supporting = [place for place in backed if place.share >= _BESIDE_SHARE * backed[0].share]
    # What is said elsewhere on the page is often near, and about something else.
    least = _OPPOSED_SHARE if supporting else 0.0
    opposing = [
        place
        for place in places
        if place.verdict == "contradicted"
        and place.share >= least
        and not (supporting and _NAMED_BEFORE.match(claim))
    ]
    if not supporting and not opposing:
        # What only shares words is no evidence for a claim that a nearer place denies.
        opposing = [place for place in places if place.denies]
        least = opposing[0].share if opposing else 0.0
        supporting = [place for place in places if not place.denies and place.share >= least]
    return ClaimJudgement(
        verdict=verdict,
        supporting=_best_apart(supporting, passages),
        opposing=_best_apart(opposing, passages),
    )


def _best_apart(places: Iterable[ClaimPlace], passages: Sequence[str]) -> tuple[ClaimPlace, ...]:
    """Return the first few places that read differently: versions of a page repeat sentences."""
    kept: dict[str, ClaimPlace] = {}
    for place in places:
        text = fold(passages[place.passage][slice(*place.span)]).text.strip().casefold()
        if not any(text.startswith(other.rstrip(".。")) for other in kept):
            kept[text] = place
    return tuple(kept.values())[:_MOST_PLACES]


def _find_near(
    claim: str, passages: Sequence[str], headings: Sequence[str]
) -> Iterator[ClaimPlace]:
    own = parse_facts(claim)
    for number, (passage, heading) in enumerate(zip_longest(passages, headings, fillvalue="")):
        topic = parse_facts(heading)
        title = before = parse_facts("")
        for span in sentence_spans(passage):
            sentence = passage[span[0] : span[1]]
            place = parse_facts(sentence)
            if _only_names(sentence):
                title = before = place
                continue
            judged = _compare(own, place, (topic, title, before), passage=number, span=span)
            if judged.verdict != "unsupported":
                yield judged
            before = place


def _only_names(sentence: str) -> bool:
    """Return whether a heading or term says what the text below it is about, and no more."""
    return sentence.startswith("#") or not _has_words_enough(sentence)


def _find_quoted(claim: str, passages: Sequence[str]) -> Iterator[ClaimPlace]:
    """Give where passages hold the claim word for word, but for its typesetting."""
    wanted = fold(claim).text.strip().rstrip(".。")
    if len(wanted) < _LEAST_QUOTED_CHARACTERS:
        return
    for number, passage in enumerate(passages):
        folded = fold(passage)
        place = folded.text.find(wanted)
        if place < 0 or _NUMBER_GOES_ON.match(folded.text, place + len(wanted)):
            continue
        start, end = folded.span(place, place + len(wanted))
        begin = _sentence_start(passage, start)
        if begin is not None:
            yield ClaimPlace(verdict="quoted", passage=number, span=(begin, end), share=1.0)


def _sentence_start(passage: str, place: int) -> int | None:
    """Return where the sentence begins, marks included, whose first word stands at a place.

    None for a later word: what stands before it could deny the rest.
    """
    starts = [start for start, _ in sentence_spans(passage) if start <= place]
    is_first = bool(starts) and is_typesetting(passage[starts[-1] : place])
    return starts[-1] if is_first else None


def _compare(
    own: Facts, place: Facts, above: tuple[Facts, Facts, Facts], *, passage: int, span: Span
) -> ClaimPlace:
    """Return what one sentence says of a claim.

    The titles of the page and of the passage and the sentence before it, `above`, may name its
    subject. Numbers, opposites and negations count only where they stand in the sentence itself.
    """
    topic, title, before = above
    around = place.words + topic.words + title.words + before.words
    numbers, others = _apart(own.numbers, place.numbers)
    # A name that the place has instead is another one, even if this one is a word in it: `for`.
    is_swapped = any(not holds_name(own, name) for name in place.names - own.names)
    names = sorted(
        name
        for name in own.names - place.names
        if (is_swapped or not holds_name(place, name))
        and not any(name in other.split() for other in place.names)
        and not any(holds_name(facts, name) for facts in above)
    )
    opposites = opposites_between(own, place)
    is_denied = own.negations != place.negations
    # What is not so of one thing is often said to be so of another, as a contrast.
    denies = place.negations > own.negations == 0
    differing: list[tuple[str, str]] = list(opposites)
    if numbers and len(numbers) == len(others):
        differing += zip(numbers, others, strict=True)
    units, other_units = _apart(own.units, place.units)
    if units and len(units) == len(other_units):
        differing += zip(units, other_units, strict=True)
    if (default := differing_default(own, place)) and default not in differing:
        differing.append(default)
    # Of something else that the place names, the denial is no other statement.
    if is_denied and not differing and not is_swapped:
        differing.append((_count_negations(own), _count_negations(place)))
    apart = {word for pair in differing for word in content_words(pair[0])}
    rest = Counter({word: 1 for word in own.words if word not in apart})
    # What the titles name is not repeated below them.
    below = Counter(
        {word: 1 for word in rest if word not in title.words and word not in topic.words}
    )
    is_about = share_of(below, place.words) >= _PARTLY_SHARE
    share = share_of(own.words, around) if is_about else 0.0
    alone = share_of(own.words, place.words)
    stems = own.words.keys() - around.keys()
    # As the claim writes them, not as they are indexed.
    absent = [
        token for token in _TOKEN.findall(own.text) if stems.intersection(content_words(token))
    ]
    verdict: ClaimVerdict = "unsupported"
    is_short = place.words.total() <= _MOST_LENGTH * own.words.total()
    is_near = share >= _CONTRADICTED_SHARE or (
        is_about and share_of(rest, around) >= _SUPPORTED_SHARE
    )
    # Below the title of something else, the sentence before only mentions what the claim names.
    is_elsewhere = bool(title.names and own.names) and not any(
        holds_name(facts, name) for facts in (title, place) for name in own.names
    )
    if differing and is_short and not names and is_near and not is_elsewhere:
        verdict = "contradicted"
        alone = share_of(rest, place.words)
    elif share >= _SUPPORTED_SHARE and not (numbers or units or names or differing or is_denied):
        verdict = "partly" if absent and _has_swapped(own, place, absent) else "supported"
    elif share >= (_PARTLY_NAMED_SHARE if names else _PARTLY_SHARE) and (
        not is_denied or (denies and is_short and alone >= _PARTLY_NAMED_SHARE and not is_elsewhere)
    ):
        verdict = "partly"
    return ClaimPlace(
        verdict=verdict,
        passage=passage,
        span=span,
        share=round(alone, 2),
        missing=tuple(dict.fromkeys([*numbers, *names, *absent]))[:_MOST_LISTED],
        differing=tuple(differing) if verdict == "contradicted" else (),
        denies=denies and verdict == "partly",
    )


def _has_swapped(own: Facts, place: Facts, absent: Sequence[str]) -> bool:
    """Return whether the place has another word where the claim has one that it lacks.

    "Proportional to temperature" says nothing of what is "proportional to pressure".
    """
    ours, theirs = _TOKEN.findall(own.text), _TOKEN.findall(place.text)
    return any(
        operation == "replace"
        and b - a == d - c == 1
        and ours[a] in absent
        and not own.words.keys() & set(content_words(theirs[c]))
        and {ours[a], theirs[c]} not in _SAME
        for operation, a, b, c, d in find_opcodes(ours, theirs)
    )


def _apart(own: Counter[str], place: Counter[str]) -> tuple[list[str], list[str]]:
    """Return what the claim has more of, and what the place has more of."""
    return list((own - place).elements()), list((place - own).elements())


def share_of(own: Counter[str], place: Counter[str]) -> float:
    """Return how much of the claim's words a place holds, by their weight."""
    total = sum(weight_of(word) for word in own)
    held = sum(weight_of(word) for word in own if word in place)
    return held / total if total else 0.0


def _count_negations(facts: Facts) -> str:
    return f"{facts.negations or 'no'} negation{'' if facts.negations == 1 else 's'}"


def _rank(place: ClaimPlace) -> tuple[int, float, bool]:
    """Return how much a place says of the claim; the nearest decides between support and denial."""
    order = {"unsupported": 0, "partly": 1, "contradicted": 2, "supported": 2, "quoted": 3}
    return order[place.verdict], place.share, place.verdict == "supported"
