"""Reading a query: its words, and what kind of asking it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from citewell.core.words import as_symbol, content_words

QueryKind = Literal["symbol", "keywords", "question", "statement"]

# A query is cut here before its words are taken: what matters of a pasted page stands at its head,
# and the cost of a search grows with the number of words.
MAX_QUERY_CHARACTERS = 4_000
_MAX_WORDS = 64
_KEYWORD_LIMIT = 6
_QUESTION = re.compile(
    r"[?？]\s*$|(?:か|のか|でしょうか|ですか|ますか)[。?？]?\s*$"
    r"|^(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could"
    r"|should|would|will|has|have|had|may|must)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query with what search and fusion need to know of it."""

    text: str
    kind: QueryKind
    words: tuple[str, ...]
    """Its content words, each once, in order."""


def read_query(text: str) -> Query:
    """Return `text` as a query: a symbol, a few keywords, a question or a longer statement."""
    cut = " ".join(text[:MAX_QUERY_CHARACTERS].split())
    unique = tuple(dict.fromkeys(content_words(cut)))[:_MAX_WORDS]
    return Query(text=cut, kind=_kind_of(cut, unique), words=unique)


def _kind_of(text: str, content: tuple[str, ...]) -> QueryKind:
    if as_symbol(text) is not None:
        return "symbol"
    if _QUESTION.search(text):
        return "question"
    return "keywords" if len(content) <= _KEYWORD_LIMIT else "statement"
