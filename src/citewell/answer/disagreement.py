"""Two sentences that give different values for the same thing: a default, a limit, a status.

Precision comes first. Both must speak of a value, name the same things, and have the same words
but for one value. What the value is of must be the same beyond doubt: a name that both sentences
hold, or headings that both stand under.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.answer.facts import (
    differing_default,
    holds_name,
    names_in,
    opposites_between,
    parse_facts,
)
from citewell.answer.listed_values import differing_listed, parse_listed
from citewell.core.folding import fold
from citewell.core.frozen import frozen
from citewell.core.words import content_words

if TYPE_CHECKING:
    from citewell.answer.facts import Facts
    from citewell.answer.listed_values import ListedValues

_LEAST_WORDS = 4
_LEAST_WORDS_IN_PLACE = 2
_LONGEST_CHARACTERS = 400
_VALUE_WORD = re.compile(
    r"\b(?:defaults?|limit(?:s|ed)?|max(?:imum)?|min(?:imum)?|at (?:most|least)|up to|no more than"
    r"|required?|requires|optional|deprecated|support(?:s|ed)?|recommend(?:s|ed)?|enabled|disabled"
    r"|expires?|timeout|size|length|port|range|takes? effect|ignored|allowed)\b"
    r"|既定|デフォルト|最大|最小|上限|下限|推奨|非推奨|必須",
    re.IGNORECASE,
)
# What comes of an example, of history, or of counting sections and steps is no value of a thing.
_NO_STATEMENT = re.compile(
    r"\be\.g\.|\b(?:examples?|for instance|such as|suppose|assum(?:e|ing)"
    r"|(?:since|in|before|changed in|added in|new in) version|section|chapter|figure|table|step"
    r"|available (?:in|since|from)|page|rfc|pep|bpo|bug|issue|copyright"
    r"|(?:case|note|lines?|items?|listing|appendix|part|option|phase) \d[\d.]*"
    r"|since (?:\w+ ){0,3}v?\d[\d.]*|was|were|used to|(?:has|have|had) been)\b|例えば|たとえば"
    # The number of an item, and a subject that another sentence names.
    r"|^[> \t]*+\d{1,3}[.)]$|\A[-*>\s]*+(?:this|that|these|those|it|its|they|their)\b",
    re.IGNORECASE | re.MULTILINE,
)
# A number in brackets refers to a note or a part of the document; a sentence that is a link is the
# title of one.
_REFERENCE = re.compile(r"\[\d[\d.]*\]|\A[-*>\s]*\[[^\[\]]*\]\([^()\s]*\)\W*\Z")
# Opposites that tell two things apart, rather than two states of one thing.
_NO_VALUES = frozenset(
    "before after first last minimum maximum min max lower upper read write left right older newer "
    "earlier later less more fewer greater local remote client server start end begin input "
    "output".split()
)
_LISTS = ("|", "**")
_AMOUNT = re.compile(r"(?P<number>[-+−]?\d++(?:\.\d++)*+)(?P<unit>%|[a-zA-Z]*+)")


@frozen
class Statement:
    """A sentence that states a value, and what stands above it."""

    text: str
    headings: tuple[str, ...]
    """From the title of the page to the section."""
    facts: Facts
    subject: frozenset[str]
    """The names in the last heading: what the section defines."""
    listed: ListedValues | None = None
    """The values of a row of a table, or of a signature."""


@frozen
class DifferingValue:
    """What one statement says, and what the other says instead."""

    one: str
    other: str


def parse_statement(
    sentence: str, headings: tuple[str, ...], *, names: frozenset[str] | None = None
) -> Statement | None:
    """Return a sentence as a statement of a value; None where it states none.

    With `names`, a sentence that has none of them is left out too.
    """
    if names is None and sentence.startswith(_LISTS) and (listed := parse_listed(sentence)):
        return Statement(
            text=sentence,
            headings=tuple(_bare(heading) for heading in headings),
            facts=parse_facts(""),
            subject=frozenset(),
            listed=listed,
        )
    # Folding is slow, and most sentences hold no such word as they stand.
    if len(sentence) > _LONGEST_CHARACTERS or _VALUE_WORD.search(sentence) is None:
        return None
    said = fold(sentence).text
    if not _may_disagree(sentence, said):
        return None
    if names is not None and names.isdisjoint(names_in(sentence, said)):
        return None
    return Statement(
        text=sentence,
        headings=tuple(_bare(heading) for heading in headings),
        facts=parse_facts(sentence),
        subject=_names_of_heading(headings[-1]) if headings else frozenset(),
    )


def _may_disagree(sentence: str, said: str) -> bool:
    """Return whether a sentence, which is `said` when folded, states a value."""
    # The address of a link is no statement.
    return (
        _VALUE_WORD.search(said) is not None
        and not any(map(_NO_STATEMENT.search, (said, sentence)))
        and _REFERENCE.search(sentence) is None
        and not sentence.startswith(("```", "~~~", "#", "|", "**"))
        and not sentence.rstrip().endswith(("?", ":"))
    )


def find_difference(one: Statement, other: Statement, *, same_page: bool) -> DifferingValue | None:
    """Return the one value that two statements differ in; None unless they surely disagree.

    `same_page`: both are of the same page, in two versions; under the same headings they are about
    the same thing. Otherwise the statements themselves must name it, and so must what a heading
    above one of them defines be named with the other.
    """
    same_place = same_page and one.headings[1:] == other.headings[1:]
    if one.listed is not None and other.listed is not None:
        listed = differing_listed(one.listed, other.listed) if same_place else None
        value = None if listed is None else DifferingValue(one=listed[0], other=listed[1])
        return value if value is not None and _is_sure(value) else None
    if not same_place and not _name_the_same(one, other):
        return None
    values = _differing_values(one.facts, other.facts)
    if len(values) != 1:
        return None
    first, second = (_words_without(each.facts, values[0]) for each in (one, other))
    if min(len(first), len(second)) < (_LEAST_WORDS_IN_PLACE if same_place else _LEAST_WORDS):
        return None
    if first != second or _is_of_title(one, values[0].one) or _is_of_title(other, values[0].other):
        return None
    return values[0]


def says_so(page: str, sentence: str) -> bool:
    """Return whether a page makes a statement, but for its typesetting."""
    return fold(sentence).text.strip() in fold(page).text


def _name_the_same(one: Statement, other: Statement) -> bool:
    """Return whether two statements of different places name the same thing."""
    if not one.facts.names & other.facts.names:
        return False
    return all(
        holds_name(its.facts, name) or any(name in heading for heading in its.headings)
        for own, its in ((one, other), (other, one))
        for name in own.subject
    )


def _is_of_title(statement: Statement, value: str) -> bool:
    """Return whether a value is in a heading: `Pond 2.9` is the version that is documented."""
    return any(value in heading.split() for heading in statement.headings)


@lru_cache(maxsize=512)
def _names_of_heading(heading: str) -> frozenset[str]:
    return names_in(heading, fold(heading).text)


@lru_cache(maxsize=512)
def _bare(heading: str) -> str:
    return fold(heading).text.strip().casefold()


def _differing_values(one: Facts, other: Facts) -> list[DifferingValue]:
    """Return all that two statements differ in; nothing where it cannot be paired, or is no value.

    Two defaults are one value, whatever they consist of.
    """
    names, default = one.names ^ other.names, differing_default(one, other)
    ignored = "" if default is None else " ".join(default)
    opposites = [pair for pair in opposites_between(one, other) if pair[0] not in ignored]
    numbers = [each for each in (one.numbers - other.numbers).elements() if each not in ignored]
    others = [each for each in (other.numbers - one.numbers).elements() if each not in ignored]
    is_vague = any(word in _NO_VALUES for pair in opposites for word in pair)
    if is_vague or len(numbers) != len(others) or any(name not in ignored for name in names):
        return []
    pairs = [*opposites, *zip(numbers, others, strict=True)]
    if one.negations != other.negations:
        is_denied = one.negations > other.negations
        pairs.append(("denied", "said") if is_denied else ("said", "denied"))
    found = [DifferingValue(one=own, other=its) for own, its in pairs]
    found += [] if default is None else [DifferingValue(one=default[0], other=default[1])]
    return found if all(map(_is_sure, found)) else []


def _is_sure(value: DifferingValue) -> bool:
    """Return whether two values differ for sure: `120.000` and `2m`, or `10` and `10s`, may not."""
    own, its = _AMOUNT.fullmatch(value.one), _AMOUNT.fullmatch(value.other)
    if own is None or its is None:
        return True
    if own["unit"].casefold() != its["unit"].casefold():
        return False
    return _without_zeros(own["number"]) != _without_zeros(its["number"])


def _without_zeros(number: str) -> list[str]:
    """Return the parts of a number or version, without those at its end that are zero."""
    parts = number.split(".")
    while len(parts) > 1 and not parts[-1].strip("0"):
        parts.pop()
    return parts


def _words_without(facts: Facts, value: DifferingValue) -> Counter[str]:
    """Return the words of a statement without those of the value."""
    left_out = {word for text in (value.one, value.other) for word in content_words(text)}
    return Counter({word: count for word, count in facts.words.items() if word not in left_out})
