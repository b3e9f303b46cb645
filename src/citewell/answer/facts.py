"""What can be compared of a sentence: its words, names, numbers, units and negations."""

from __future__ import annotations

import re
from collections import Counter

from citewell.core.folding import fold
from citewell.core.frozen import frozen
from citewell.core.words import content_words

_NUMBER = re.compile(r"(?<![\w.])[-+−]?\d[\d,_]*+(?:\.\d+)*+(?:%|[a-zA-Z]{1,3}(?![a-zA-Z]))?")
_NAME = re.compile(
    r"`([^`\n]{1,80}+)`|(?<![\w-])(--?[a-zA-Z][\w-]*+)|(?<!\w)(\w+(?:[._:/]+\w+)+|[a-z]+[A-Z]\w*+"
    r"|[A-Z]\w*[A-Z]\w*+)(?!\w)"
)
_PROPER = re.compile(r"(?<=[a-z,;] )([A-Z][a-z]{2,}\w*+)")
# Two hyphens between words are a dash; one joins them, and `--no` is an option.
_NEGATION = re.compile(
    r"(?:(?<![-\w])|(?<=\w--))"
    r"(?:not|never|no|none|nothing|cannot|without|neither|nor|unable|fails? to)"
    r"(?:(?![-\w])|(?=--\w))"
    r"|n['’]t\b"
    r"|(?:ない|ません|ず(?:に|、))",
    re.IGNORECASE,
)
_OPPOSITES = """
true/false enabled/disabled enable/disable enables/disables on/off yes/no always/never before/after
first/last minimum/maximum min/max lower/upper increase/decrease increases/decreases
ascending/descending required/optional must/may synchronous/asynchronous success/failure
succeed/fail succeeds/fails allow/deny allowed/forbidden allows/forbids read/write left/right
older/newer earlier/later less/more fewer/greater mutable/immutable local/remote client/server
start/end begin/end open/closed public/private all/none include/exclude includes/excludes
signed/unsigned input/output
"""


def _opposites_by_word() -> dict[str, frozenset[str]]:
    pairs = [pair.split("/") for pair in _OPPOSITES.split()]
    both = [*pairs, *(pair[::-1] for pair in pairs)]
    return {word: frozenset(other for one, other in both if one == word) for word, _ in both}


_OPPOSITES_OF = _opposites_by_word()
_WORD = re.compile(r"[A-Za-z]+")
_UNIT = re.compile(
    r"\b(?P<stem>nanosecond|microsecond|millisecond|second|minute|hour|day|week|month|year|bit|byte"
    r"|kilobyte|megabyte|gigabyte|terabyte|kibibyte|mebibyte|gibibyte|pixel|percent|line|character)s?\b"
    r"|\b(?P<short>ms|kb|mb|gb|tb|kib|mib|gib)\b"
)
_UNIT_OF = {
    "ms": "millisecond", "kb": "kilobyte", "mb": "megabyte", "gb": "gigabyte", "tb": "terabyte",
    "kib": "kibibyte", "mib": "mebibyte", "gib": "gibibyte",
}  # fmt: skip
_DEFAULT = re.compile(
    r"\bdefault(?:s to|(?: [\w.-]{1,40}){0,6}? (?:is|are))"
    r"(?: typically| usually| normally| currently)? [\"'`]?([\w./:+-]{1,80})",
    re.IGNORECASE,
)


@frozen
class Facts:
    """What can be compared of a sentence."""

    words: Counter[str]
    numbers: Counter[str]
    units: Counter[str]
    """Units of time and size, by their full names."""
    names: frozenset[str]
    negations: int
    tokens: Counter[str]
    text: str
    """Folded, in small letters."""


def parse_facts(text: str) -> Facts:
    """Return the numbers, names and words of a sentence that can be compared."""
    plain = fold(text).text
    return Facts(
        words=Counter(content_words(plain)),
        numbers=Counter(
            match.replace(",", "").replace("_", "") for match in _NUMBER.findall(plain)
        ),
        units=Counter(
            match["stem"] or _UNIT_OF[match["short"]] for match in _UNIT.finditer(plain.casefold())
        ),
        names=names_in(text, plain),
        negations=len(_NEGATION.findall(plain)),
        tokens=Counter(word.casefold() for word in _WORD.findall(plain)),
        text=plain.casefold(),
    )


def names_in(text: str, plain: str) -> frozenset[str]:
    """Return the names in a text, which is `plain` when folded."""
    names = {next(group for group in match.groups() if group) for match in _NAME.finditer(text)}
    names |= set(_PROPER.findall(plain))
    # A version is a number.
    return frozenset(
        bare
        for name in names
        if (bare := name.strip("().,:;").casefold()) and not bare[0].isdigit()
    )


def holds_name(place: Facts, name: str) -> bool:
    """Return whether a place has a name, alone or between other signs."""
    if name in place.names:
        return True
    start = place.text.find(name)
    while start >= 0:
        around = (
            place.text[start - 1 : start] + place.text[start + len(name) : start + len(name) + 1]
        )
        if not any(character.isalnum() for character in around):
            return True
        start = place.text.find(name, start + 1)
    return False


def default_of(facts: Facts) -> str | None:
    """Return what a sentence says that the default is, where that is one word."""
    match = _DEFAULT.search(facts.text)
    return None if match is None else match[1].strip(".").casefold()


def differing_default(one: Facts, other: Facts) -> tuple[str, str] | None:
    """Return the two values where both sentences say what a default is, and differ."""
    own, its = default_of(one), default_of(other)
    # "defaults to show" and "defaults to showing" are one.
    if own is None or its is None or content_words(own) == content_words(its):
        return None
    return own, its


def opposites_between(own: Facts, place: Facts) -> list[tuple[str, str]]:
    """Return words that the claim has more often than the place, and the place their opposite."""
    there = place.tokens - own.tokens
    return [
        (word, other)
        for word in sorted(own.tokens - place.tokens)
        for other in sorted(_OPPOSITES_OF.get(word, frozenset()).intersection(there))
    ]
