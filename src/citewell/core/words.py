"""Text as search words: the one tokenisation that stores, queries and ranking features share.

English words are lower-cased and stemmed. Runs of Chinese, Japanese or Korean letters become
overlapping bigrams, since such text has no spaces to split at. A dotted or underscored symbol
(`os.path.join`) is kept whole and also given as its parts, so both ways of asking find it.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import chain

import Stemmer

_CJK = (
    r"\u3041-\u3096\u30a1-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\uac00-\ud7af\U00020000-\U0003134f々〆"
)
_TOKEN = re.compile(
    rf"[{_CJK}]+"
    r"|(?:__)?[^\W_]+(?:(?:\._*|_+)[^\W_]+)*(?:__)?(?:'[^\W_]+)?"
)
# The same for ASCII text, in classes that are quicker to match.
_ASCII_TOKEN = re.compile(
    r"(?:__)?[A-Za-z0-9]+(?:(?:\._*|_+)[A-Za-z0-9]+)*(?:__)?(?:'[A-Za-z0-9]+)?"
)
_CJK_RUN = re.compile(rf"[{_CJK}]")
_NOT_CJK_SPLIT = re.compile(rf"([{_CJK}]+)")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SYMBOL = re.compile(r"(?P<name>[A-Za-z_]\w*(?:(?:\.|::|->|#)[A-Za-z_]\w*)*)(?P<call>\([^()]*\))?")
_SYMBOL_JOINT = re.compile(r"::|->|#")
_MAX_WORD_CHARACTERS = 64
_HIRAGANA = re.compile(r"[\u3041-\u3096]")
# Found by words, nDCG@10 with 1 and with a half: Kubernetes glossary .720, .757; JSQuAD .943, .949;
# FastAPI's sections by their first sentence .764, .787. Anything from .3 to .6 does as well.
_HIRAGANA_WEIGHT = 0.5
# The address of a Markdown link or image: nobody searches for its words, and they would crowd
# out those that readers see.
_LINK_TARGET = re.compile(r"\]\((?:https?:|mailto:|data:)[^()\s]*(?:\([^()\s]*\)[^()\s]*)*[^()]*\)")

STOP_WORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have how i if in "
    "into is it its itself me my not of on or our should so some such than that the their them "
    "then there these they this those to was we were what when where which who whom why will "
    "with would you your".split()
)

_stemmers = threading.local()


def words(text: str) -> list[str]:
    """Return the search words of `text`, in order, repeats included."""
    return list(chain.from_iterable(map(_split, _forms(text))))


def count_forms(text: str) -> dict[str, int]:
    """Return how often each word stands in `text` as it is written; for `words_of_form`."""
    return Counter(_forms(text))


def text_words(markdown: str) -> list[str]:
    """Return the search words of Markdown as its reader sees it, link targets left out."""
    return words(_LINK_TARGET.sub("] ", markdown) if "](" in markdown else markdown)


def content_words(text: str) -> list[str]:
    """Return the words of `text` that carry meaning; all of them where only stop words stand."""
    every = words(text)
    return [word for word in every if word not in STOP_STEMS] or every


def weight_of(word: str) -> float:
    """Return what a search word counts beside others that are as rare.

    A bigram with hiragana is mostly a particle or an ending, which says how the query is put rather
    than what it is about; and a phrase has more of such bigrams than of others.
    """
    return _HIRAGANA_WEIGHT if _HIRAGANA.search(word) else 1.0


def as_symbol(text: str) -> str | None:
    """Return the symbol that `text` is, lower-cased and dotted: `Path::join()` → `path.join`.

    None when `text` is ordinary words; a single word counts only where its case, an underscore or
    a call's brackets show that it is code.
    """
    match = _SYMBOL.fullmatch(text.strip().strip("`"))
    if match is None:
        return None
    name = match["name"]
    looks_like_code = match["call"] is not None or not name.isalnum() or bool(_CAMEL.search(name))
    return _SYMBOL_JOINT.sub(".", name).lower() if looks_like_code else None


def _forms(text: str) -> list[str]:
    """Return the words of `text` as they are written."""
    if text.isascii():
        return _ASCII_TOKEN.findall(text)
    return _TOKEN.findall(unicodedata.normalize("NFKC", text))


@lru_cache(maxsize=65_536)
def _split(token: str) -> tuple[str, ...]:
    if _CJK_RUN.match(token):
        return _bigrams(token)
    if _CJK_RUN.search(token):
        pieces = [piece for piece in _NOT_CJK_SPLIT.split(token) if piece]
        return tuple(word for piece in pieces for word in _split(piece.strip("._")) if word)
    joint = "." if "." in token else "_"
    if joint in token:
        whole = token.lower()[:_MAX_WORD_CHARACTERS]
        return (whole, *(word for part in token.split(joint) if part for word in _split(part)))
    return _latin(token)


def _latin(token: str) -> tuple[str, ...]:
    plain = token.split("'")[0] if "'" in token else token
    whole = _stem(plain.lower()[:_MAX_WORD_CHARACTERS])
    humps = _CAMEL.split(plain)
    if len(humps) < 2 or len(plain) > _MAX_WORD_CHARACTERS:
        return (whole,)
    return (whole, *(_stem(hump.lower()) for hump in humps if len(hump) > 1))


def _bigrams(run: str) -> tuple[str, ...]:
    if len(run) == 1:
        return (run,)
    return tuple(run[i : i + 2] for i in range(len(run) - 1))


def _stem(word: str) -> str:
    # A stemmer keeps state between calls, so each thread has its own.
    stemmer = getattr(_stemmers, "english", None)
    if stemmer is None:
        stemmer = _stemmers.english = Stemmer.Stemmer("english")
    return str(stemmer.stemWord(word))


words_of_form = _split
"""Returns the search words of one word as it is written; remembers those it was asked for."""

STOP_STEMS = STOP_WORDS | {_stem(word) for word in STOP_WORDS}
