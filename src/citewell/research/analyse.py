"""What a question asks for: its intent and the questions it is made of; rules only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import Intent

MAX_SUB_QUERIES = 4

_COMPARISON = re.compile(
    r"\b(?:compar(?:e[ds]?|ison|ing)|versus|vs\.?|difference(?:s)?|differ(?:s|ent)? from"
    r"|better than|trade-?offs?)\b|比較|違い|どちら|と比べ",
    re.IGNORECASE,
)
_HOW_TO = re.compile(
    r"^\s*(?:how (?:do|can|to|should|would|does one)\b|(?:what are )?(?:the )?steps? (?:to|for)\b"
    r"|guide to\b|(?:set up|install|configure|deploy|create|enable|disable)\b)"
    r"|方法|やり方|手順|どうやって|するには|使い方",
    re.IGNORECASE,
)
_EXPLORATORY = re.compile(
    r"\b(?:overview|explain|tell me about|everything about|what are the (?:main|options|ways)"
    r"|introduction|summar(?:y|ise|ize)|explore)\b|概要|について教えて|説明",
    re.IGNORECASE,
)

# Not within an address, and not the variable `$?` of a shell.
_QUESTION_END = re.compile(r"(?<=？)\s*|(?<=\?)(?<!\$\?)(?:\s+|$|(?=[A-Z][a-z]+ ))")
_ASKING = r"(?:how|what|why|when|where|which|who|whose|does|do|is|are|can|should)"
_CONJUNCTION = re.compile(
    rf"(?:,|(?<![\s,]))\s++(?:and|but)\s++(?:also\s++)?(?={_ASKING}\b)", re.IGNORECASE
)
_DOUBLE_ASKING = re.compile(
    r"^(?P<first>how|what|why|when|where|who)\s*(?:and|/|,)\s*(?P<second>how|what|why|when|where|who)\s+"
    r"(?P<rest>.+)$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[a-z0-9)\"'][.?!] +[A-Z]|[。？！]")
# What is longer is prose, and slow to take apart.
_LONGEST_COMPARISON = 300
_LONGEST_SUBJECT = 200
# What a question is about stands before a colon, or in the sentences before the asking one.
_SUBJECT_END = re.compile(r"(?<!^)[:.!?]\s")
_LEAST_ASKING_WORDS = 3
_REFERS_BACK = re.compile(
    r"\b(?:it|its|that|this|they|them|their|each|those|these|there|ones?|same|either|both)\b"
    r"|それ|その|これ|この|また",
    re.IGNORECASE,
)
_SIDES = (
    re.compile(r"\bcompar(?:e|ing) how (?P<a>\S+) and (?P<b>\S+)(?P<topic> \S.*)$", re.IGNORECASE),
    re.compile(
        r"\b(?:differences?|distinction|trade-?offs?|comparison) (?:between|of) (?P<a>.+?) and "
        r"(?P<b>.+?)(?P<topic> (?:in|for|when|with|regarding|on) .+)?$",
        re.IGNORECASE,
    ),
    re.compile(
        r"\bcompar(?:e|ing) (?:how )?(?P<a>.+?) (?:and|with|to|against) (?P<b>\S+(?: \S+){0,3}?)"
        r"(?P<topic> (?:in|for|when|with|regarding|on|handle|handles|support|supports) .+)?$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?:.*\bis )?(?P<a>\S+(?: \S+){0,3}?) (?:vs\.?|versus|better than) "
        r"(?P<b>\S+(?: \S+){0,3}?)(?P<topic>[,:]? (?:in|for|when|with|regarding|on) .+)?$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?P<a>.{1,30}?)(?:と|、)(?P<b>.{1,30}?)(?:の違い|を比較|の比較|はどちら|では、?どちら)(?P<topic>.*)$"
    ),
)
# What is left of a Japanese comparison when all it adds is the asking: "は何ですか", "を教えて".
_ONLY_ASKING = re.compile(
    r"[はをにがもって、]*(?:について)?(?:何|なに|なん|どう|どこ|教え|説明)[\u3041-\u309f]*"
)
_WANTS_CODE = re.compile(r"\b(?:code|snippet|example)s?\b|コード|サンプル", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:must|should|please|only)?\s*(?:include|have|contain|focus(?:ing)? on|mention|cover)\s+",
    re.IGNORECASE,
)


@frozen
class QueryAnalysis:
    """A question taken apart."""

    intent: Intent
    sub_queries: tuple[str, ...]
    """At least one; the whole question where it has no parts."""
    wants_code: bool
    focus_words: frozenset[str]
    """Words of the constraints: blocks that hold them come first."""
    known_words: frozenset[str]
    """Words of what the caller knows: blocks that say no more come last."""


def analyse_query(
    query: str,
    *,
    intent: Intent | None = None,
    constraints: Sequence[str] = (),
    known_context: str = "",
) -> QueryAnalysis:
    """Return the intent of `query`, or the one given, and what it is made of."""
    wanted = [_LEAD.sub("", constraint.strip()) for constraint in constraints]
    return QueryAnalysis(
        intent=intent or _infer_intent(query),
        sub_queries=_split(query),
        wants_code=any(_WANTS_CODE.search(constraint) for constraint in wanted),
        focus_words=frozenset(word for text in wanted for word in content_words(text)),
        known_words=frozenset(content_words(known_context))
        if known_context.strip()
        else frozenset(),
    )


def _infer_intent(query: str) -> Intent:
    if _COMPARISON.search(query):
        return "comparison"
    if _HOW_TO.search(query):
        return "how_to"
    if _EXPLORATORY.search(query):
        return "exploratory"
    return "factual"


def _split(query: str) -> tuple[str, ...]:
    whole = " ".join(query.split())
    if sides := _sides_of_comparison(whole):
        return sides
    questions = [part for part in _QUESTION_END.split(whole) if content_words(part)]
    parts = [piece for question in questions for piece in _split_question(question)]
    distinct = list(dict.fromkeys(parts))[:MAX_SUB_QUERIES]
    if len(distinct) < 2:
        # Keep the line breaks: they distinguish code from prose.
        return (query.strip(),)
    return (distinct[0], *(_with_subject(part, distinct[0]) for part in distinct[1:]))


def _with_subject(part: str, first: str) -> str:
    """Return a later part with what it is about behind it: the first, or the subject of that."""
    subject = first.rstrip(" ?？")
    # A single word asks nothing without the part before it: "and what for Polish?"
    is_elliptic = len(content_words(part)) == 1 and " " in part
    if not (is_elliptic or _REFERS_BACK.search(part)):
        subject = _subject_of(subject)
    return f"{part} ({subject})" if 0 < len(subject) <= _LONGEST_SUBJECT else part


def _subject_of(text: str) -> str:
    """Return what stands before the asking sentence; empty where that is all."""
    end = _SUBJECT_END.search(text)
    asks = end is not None and len(text[end.end() :].split()) >= _LEAST_ASKING_WORDS
    return text[: end.start()] if end is not None and asks else ""


def _split_question(question: str) -> list[str]:
    if both := _DOUBLE_ASKING.match(question):
        rest = both["rest"]
        return [f"{both['first']} {rest}", f"{both['second']} {rest}"]
    pieces = _CONJUNCTION.split(question)
    # In the story before the question "and do it again" asks nothing.
    if any(_SENTENCE_END.search(piece) for piece in pieces[1:]):
        return [question]
    # "What is X and what is Y" are two questions; a piece of one word is part of the other.
    if all(len(content_words(piece)) >= 1 and len(piece.split()) >= 3 for piece in pieces):
        return pieces
    return [question]


def _sides_of_comparison(query: str) -> tuple[str, ...]:
    plain = " ".join(query.split()).rstrip(" ?？.。")
    # In several sentences "compare" belongs to the story as often as to the question.
    if len(plain) > _LONGEST_COMPARISON or _SENTENCE_END.search(plain):
        return ()
    # A question beside the comparison would be taken for one of its sides.
    if _CONJUNCTION.search(plain):
        return ()
    for pattern in _SIDES:
        if found := pattern.search(plain):
            topic = found["topic"] or ""
            if _ONLY_ASKING.fullmatch(topic):
                topic = ""
            sides = tuple(f"{found[side].strip(' ,、')}{topic}".strip() for side in ("a", "b"))
            return sides if all(content_words(side) for side in sides) else ()
    return ()
