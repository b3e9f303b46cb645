"""Whether a text defines what a question asks about, rather than mentions it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.core.words import as_symbol, content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

# A question about a name wants its definition, which says the name once, before the texts that
# mention it often: the best definitions come within a tenth of the best text, the rest steps back.
_TOWARDS_BEST = 0.9
_MERELY_MENTIONS = 0.75
# One that is much weaker than the best text defines something else of this name.
_LEAST_SHARE_OF_BEST = 0.04
_MOST_RAISED = 2
_MAX_TERM_WORDS = 4
# Longer ones name nothing, and the patterns below take the square of the length.
_MAX_QUESTION_CHARACTERS = 300
_MAX_NAME_CHARACTERS = 200
_LETTERS_OF_STEM = 4
_ASKS_WHAT = re.compile(
    r"\W*(?:what(?:['’]s| is| are| does)(?: meant by)?|define|definition of|meaning of)\s+"
    r"(?:an?\s+|the\s+)?(?P<term>.+?)"
    r"(?:\s+(?:in|of|for|on)\s+.+?)?(?:\s+(?:do|mean|stand for))?\W*$",
    re.IGNORECASE,
)
_ASKS_WHAT_IN_JAPANESE = re.compile(r"(?P<term>.{1,40}?)(?:とは|って(?:何|なに)|の(?:意味|定義))")
_ASKS_OTHERWISE = re.compile(
    r"\W*(?:how|when|where|which|who|whose|why|is|are|can|could|do|does|did|should|will)\b",
    re.IGNORECASE,
)
# "the default of the fall parameter", "the rise option": a name and the word for its kind.
_NAMED_KIND = re.compile(
    r"(?<![\w.-])[`'\"]?(?P<name>\w[\w.-]*+)[`'\"]? "
    r"(?:parameter|option|setting|directive|variable|keyword|flag|attribute|argument|field|property"
    r"|function|method|class|macro|operator|statement|command)(?:'s)?(?![\w-])",
    re.IGNORECASE,
)
# Words that stand before the word for a kind and name nothing.
_NO_NAMES = frozenset(
    "a all an and another any build builtin class command config configuration default each "
    "environment every first following function global instance its keyword local main member "
    "method my named new no of one optional or other positional required same second shell "
    "some static that the this these those which what your".split()
)
_ASKS_SIGNATURE = re.compile(
    r"\b(?:signature|parameters?|arguments?|args|defaults?|returns?|takes?|accepts?|raises?"
    r"|types?|declaration|defined|definition|documentation)\b",
    re.IGNORECASE,
)
# A name that is set off from the text: a heading, a term of a list, a signature.
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)(?:\s[—–-]\s.*)?$", re.MULTILINE)
_NAMES = re.compile(r"^[ \t]*(?:[-*] )?(\*\*\S.*)$", re.MULTILINE)
_NAME = re.compile(r"\*\*(.+?)\*\*(?:, |$)?")
_MARKUP = re.compile(r"[`*@“”\"]|^(?:class|exception|property) ")
_FLAG = re.compile(r"--?[A-Za-z][\w-]*")
_ARGUMENTS = re.compile(r"[(\[=<].*")


def asks_signature(question: str) -> bool:
    """Return whether a question asks what a signature says: arguments, defaults, types."""
    return bool(_ASKS_SIGNATURE.search(question[:_MAX_QUESTION_CHARACTERS]))


def asked_terms(query: str) -> tuple[str, ...]:
    """Return the names whose definition is the answer to `query`, without their markup.

    They are what "the X option" names, or what "What is X?" is about; where nothing is asked, the
    code symbols and flags of the query, and all of it where it has only a few words.
    """
    if len(query) > _MAX_QUESTION_CHARACTERS:
        return ()
    if named := _names_with_kind(query):
        return named
    if _ASKS_OTHERWISE.match(query):
        return ()
    question = _ASKS_WHAT.match(query) or _ASKS_WHAT_IN_JAPANESE.match(query)
    term = question["term"] if question else query
    is_name = " " not in term.strip() or len(content_words(term)) <= _MAX_TERM_WORDS
    symbols = _symbols(term) if is_name or not question else []
    plain = [_plain(name) for name in (*symbols, *([term] if is_name else []))]
    return tuple(dict.fromkeys(name for name in plain if name))


def defines(text: str, terms: Sequence[str], *, in_any_case: bool = False) -> bool:
    """Return whether one of `terms` is the name of something that `text` describes.

    Then it stands set off before the description, or in a sentence that says what it is. Code
    distinguishes `Field` from `field`; `in_any_case` takes either.
    """
    lowered = text.lower()
    terms = [term for term in terms if _beginning_of_last_word(term) in lowered]
    if not terms:
        return False
    names = _names_set_off(text)
    if in_any_case:
        names = tuple(name.lower() for name in names)
        terms = [term.lower() for term in terms]
    return any(_is_name(name, term) for name in names for term in terms) or any(
        _says_what_it_is(term).search(text) for term in terms
    )


def raise_definitions(
    scores: Sequence[float], texts: Sequence[str], terms: Sequence[str]
) -> list[float]:
    """Return the scores, those of texts that define one of `terms` raised above the rest."""
    best = max(scores, default=0.0)
    near = [i for i, score in enumerate(scores) if score > _LEAST_SHARE_OF_BEST * best]
    defining = [i for i in near if defines(texts[i], terms)] or [
        i for i in near if defines(texts[i], terms, in_any_case=True)
    ]
    raised = sorted(defining, key=lambda i: -scores[i])[:_MOST_RAISED]
    if not raised:
        return list(scores)
    return [
        score + _TOWARDS_BEST * (best - score) if i in raised else score * _MERELY_MENTIONS
        for i, score in enumerate(scores)
    ]


@lru_cache(maxsize=64)
def _beginning_of_last_word(term: str) -> str:
    """Return what every text that defines `term` holds: most do not, and need not be read."""
    return re.split(r"[\s.]+", term.lower())[-1][:_LETTERS_OF_STEM]


def _names_with_kind(query: str) -> tuple[str, ...]:
    names = [match["name"] for match in _NAMED_KIND.finditer(query)]
    return tuple(dict.fromkeys(name for name in names if name.lower() not in _NO_NAMES))


def _symbols(text: str) -> list[str]:
    tokens = [word.strip("`'\"(),;:?？!。").rstrip(".") for word in text.split()]
    return [word for word in tokens if as_symbol(word) or _FLAG.fullmatch(word)]


@lru_cache(maxsize=512)
def _names_set_off(text: str) -> tuple[str, ...]:
    names = _HEADING.findall(text)
    for line in _NAMES.findall(text):
        names += _NAME.findall(line)
    return tuple({_plain(name) for name in names if len(name) <= _MAX_NAME_CHARACTERS})


@lru_cache(maxsize=64)
def _says_what_it_is(term: str) -> re.Pattern[str]:
    name = r"\s+".join(rf"[`*]*{re.escape(word)}[`*]*" for word in term.split())
    return re.compile(
        rf"(?:^|[.!?]\s)(?:an?\s|the\s)?{name}\s(?:is|are|means|refers to|describes)\s(?:an?|the)\s"
        rf"|(?:^|。){name}とは",
        re.IGNORECASE | re.MULTILINE,
    )


def _is_name(name: str, term: str) -> bool:
    """Return whether both name the same; one may be written with its module, or in the plural."""
    if name == term or name.endswith(f".{term}") or term.endswith(f".{name}"):
        return True
    return " " in name + term and content_words(name) == content_words(term)


def _plain(name: str) -> str:
    """Return a name without its markup, its arguments and the word for its kind."""
    bare = _name_of_signature(_MARKUP.sub("", name))
    return _ARGUMENTS.sub("", bare).strip(" .:")


def _name_of_signature(name: str) -> str:
    """Return the name that is called: `async def run(self)` → `run`."""
    before, bracket, _ = name.partition("(")
    is_call = bool(bracket) and before != "" and not before[-1].isspace()
    return before.split()[-1] if is_call else name
