"""Text as search words: the one tokenisation that stores, queries and ranking features share.

English words are lower-cased and stemmed. Runs of Chinese, Japanese or Korean letters become
overlapping bigrams, since such text has no spaces to split at. A dotted or underscored symbol
(`os.path.join`) is kept whole and also given as its parts, so both ways of asking find it.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from itertools import chain
from typing import TYPE_CHECKING

import Stemmer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CJK = (
    r"\u3041-\u3096\u30a1-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\uac00-\ud7af\U00020000-\U0003134f々〆"
)
# A token begins with one class of letters (of those in _CJK, `・` alone is not in \w), and what may
# follow looks back at it: what lies between tokens is then skipped at twice the speed.
_REST = r"(?:(?:\._*|_+)[^\W_]+)*(?:__)?(?:'[^\W_]+)?"
_TOKEN = re.compile(rf"[\w・](?:(?<=[{_CJK}])[{_CJK}]*|(?<!_)[^\W_]*{_REST}|(?<=_)_[^\W_]+{_REST})")
# The same for ASCII text, in classes that are quicker to match.
_ASCII_TOKEN = re.compile(
    r"\w(?:(?<!_)[A-Za-z0-9]*|(?<=_)_[A-Za-z0-9]+)"
    r"(?:(?:\._*|_+)[A-Za-z0-9]+)*(?:__)?(?:'[A-Za-z0-9]+)?",
    re.ASCII,
)
# ASCII with a space for each character that no token has: what then stands between spaces is a
# token, perhaps with punctuation around it.
_BETWEEN_TOKENS = "".join(
    chr(code) if chr(code).isalnum() or chr(code) in "._'" else " " for code in range(128)
)
_CJK_RUN = re.compile(rf"[{_CJK}]")
_CJK_SPLIT = re.compile(rf"([{_CJK}]+)")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SYMBOL = re.compile(r"(?P<name>[A-Za-z_]\w*(?:(?:\.|::|->|#)[A-Za-z_]\w*)*)(?P<call>\([^()]*\))?")
_SYMBOL_JOINT = re.compile(r"::|->|#")
_MAX_WORD_CHARACTERS = 64
# About 290 bytes each. The pages of Django hold 50,000, and cutting all of their words takes a
# tenth longer than with room for those.
_MOST_KNOWN = 30_000
_HIRAGANA = re.compile(r"[\u3041-\u3096]")
# What a bigram counts beside a word between spaces: a Japanese word makes two or three of them,
# among which one name or number would drown. Found by words, nDCG@10 with 1 and with a half:
# Kubernetes glossary .757, .776; JSQuAD .949, .952; FastAPI's sections by a sentence .787, .800.
_BIGRAM_WEIGHT = 0.5
# With 1 and with a half of that: .720, .757; .943, .949; .764, .787. From .3 to .6 does as well.
_HIRAGANA_WEIGHT = 0.25
# The address of a Markdown link or image: nobody searches for its words, and they would crowd
# out those that readers see.
_LINK_TARGET = re.compile(
    r"\]\((?:https?:|mailto:|data:)[^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+[^()]*+\)"
)

STOP_WORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have how i if in "
    "into is it its itself me my not of on or our should so some such than that the their them "
    "then there these they this those to was we were what when where which who whom why will "
    "with would you your".split()
)

_stemmers = threading.local()


def words(text: str) -> list[str]:
    """Return the search words of `text`, in order, repeats included."""
    if text.isascii():
        return list(search_words(text.translate(_BETWEEN_TOKENS).split()))
    pieces: list[str] = []
    for line in text.split("\n"):
        pieces += line.translate(_BETWEEN_TOKENS).split() if line.isascii() else written_words(line)
    return list(search_words(pieces))


def written_words(text: str) -> list[str]:
    """Return the words of `text` as they are written, in order, repeats included."""
    if text.isascii():
        return _ASCII_TOKEN.findall(text)
    # A line that is normal already, as most are, is given back unread; nothing joins two lines.
    lines = [unicodedata.normalize("NFKC", line) for line in text.split("\n")]
    return _TOKEN.findall("\n".join(lines))


def search_words(written: Iterable[str]) -> Iterator[str]:
    """Return the search words of words as they are written."""
    return chain.from_iterable(map(_known.__getitem__, written))


def text_words(markdown: str) -> list[str]:
    """Return the search words of Markdown as its reader sees it, link targets left out."""
    return words(_LINK_TARGET.sub("] ", markdown) if "](" in markdown else markdown)


def content_words(text: str) -> list[str]:
    """Return the words of `text` that carry meaning; all of them where only stop words stand."""
    every = words(text)
    return [word for word in every if word not in STOP_STEMS] or every


def weight_of(word: str) -> float:
    """Return what a search word counts beside others that are as rare.

    Several bigrams make one word. Those with hiragana count least: they are mostly particles and
    endings, which say how the query is put rather than what it is about.
    """
    if not _CJK_RUN.match(word):
        return 1.0
    return _HIRAGANA_WEIGHT if _HIRAGANA.search(word) else _BIGRAM_WEIGHT


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


class _KnownWords(dict[str, tuple[str, ...]]):
    """The search words of what was met before, as most of a text was; it learns what is new."""

    def __missing__(self, piece: str) -> tuple[str, ...]:
        tokens = written_words(piece)
        words = _split(piece) if tokens == [piece] else tuple(search_words(tokens))
        if len(piece) <= _MAX_WORD_CHARACTERS:
            if len(self) >= _MOST_KNOWN:
                self.clear()
            self[piece] = words
        return words


_known = _KnownWords()


def _split(token: str) -> tuple[str, ...]:
    if token.isascii():
        return _latin_parts(token)
    if _CJK_RUN.match(token):
        return _bigrams(token)
    if _CJK_RUN.search(token):
        pieces = [piece for piece in _CJK_SPLIT.split(token) if piece]
        return tuple(word for piece in pieces for word in _split(piece.strip("._")) if word)
    return _latin_parts(token)


def _latin_parts(token: str) -> tuple[str, ...]:
    joint = "." if "." in token else "_"
    if joint in token:
        whole = token.lower()[:_MAX_WORD_CHARACTERS]
        parts = (word for part in token.split(joint) if part for word in _split(part))
        return (whole, *filter(None, parts))
    return _latin(token)


def _latin(token: str) -> tuple[str, ...]:
    plain = token.split("'")[0] if "'" in token else token
    whole = _stem(plain.lower()[:_MAX_WORD_CHARACTERS])
    if plain.islower() or len(plain) > _MAX_WORD_CHARACTERS:
        return (whole,)
    humps = _CAMEL.split(plain)
    if len(humps) < 2:
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
        # `_known` remembers; a second memory here would cost more than it saves.
        stemmer = _stemmers.english = Stemmer.Stemmer("english", 0)
    return str(stemmer.stemWord(word))


STOP_STEMS = STOP_WORDS | {_stem(word) for word in STOP_WORDS}
