"""What a product is called, and whether a question that holds the word means the product."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.core.frozen import frozen
from citewell.core.language import has_cjk
from citewell.core.releases import name_of_host

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WORD = re.compile(r"[A-Za-z0-9]+")
_PACKAGE = re.compile(r"[a-z]{2,10}:(?:@[^@/\s]{1,100}/)?([^@/\s]{1,100})@")
_ADDRESS_OF_HOST = re.compile(r"[\d.]+|\[.*\]|localhost")
_PARTS_OF_TITLE = re.compile(r"\s[-–—|·]\s|:\s|\([^()]*\)")
_VERSION = re.compile(r"v?\d+(?:[.x]\d*)*")
# `click.command`, `requests::get`
_IN_CODE = re.compile(r"(?:\.|::)[A-Za-z_]")
_SENTENCE_END = re.compile(r"[.?!:]")
_MOST_WORDS = 4
_LEAST_LETTERS = 3
# Words of a start page's title beside the name of what it is about.
_OF_TITLES = frozenset(
    "a about an and api book by center contents documentation docs for getting guide handbook help "
    "home homepage index introduction is latest manual of official on online overview page portal "
    "project reference release s site start started table the to tutorial user users version web "
    "website welcome what your".split()
)
# What stands before a name that is also an ordinary word, which would have an article there.
_BEFORE_SUBJECT = frozenset("can could did does has is should was will would".split())
_BEFORE_OBJECT = frozenset("in inside like under using via with".split())
_AFTER_OBJECT = frozenset(
    "a an and as at but by can do does for from how i if in instead is it my or should so that the "
    "then there this to we what when where which while why with without you".split()
)
_KINDS_OF_PRODUCT = frozenset(
    "app daemon docs documentation framework library manual module package program project "
    "software tool".split()
)
_BEFORE_PACKAGE = frozenset("import install require uninstall upgrade".split())


@frozen
class ProductName:
    """A name in words of small letters."""

    words: tuple[str, ...]
    is_whole: bool = True
    """False for one word of a longer name, which may be of other products' names too."""


@frozen
class Mention:
    """A name that a question holds."""

    name: ProductName
    is_proper: bool
    """Whether it is written as a name is: an ordinary word would stand there otherwise."""


def names_of_product(
    prefix: str, title: str = "", *, products: Iterable[str] = ()
) -> list[ProductName]:
    """Return what the product is called whose pages' addresses begin with `prefix`.

    `title` is that of its start page, `products` are those that its pages say they document.
    """
    said = [_words(product) for product in products]
    if package := _PACKAGE.match(prefix):
        return _with_parts([_words(package[1]), *said])
    host = urlsplit(prefix).hostname or ""
    by_host = "" if _ADDRESS_OF_HOST.fullmatch(host) else name_of_host(host)
    parts = [_own_words(part) for part in _PARTS_OF_TITLE.split(title)]
    first = next((part for part in parts if part), ())
    return _with_parts([each for each in (first, _words(by_host), *said) if each])


def find_mentions(question: str, names: Iterable[ProductName]) -> list[Mention]:
    """Return those of `names` that stand in `question`, in any case and with any separators."""
    tokens = list(_WORD.finditer(question))
    words = [token[0].lower() for token in tokens]
    mentions = []
    for name in names:
        for place in range(len(words)):
            # "openvswitch" for "Open vSwitch".
            is_joined = words[place] == "".join(name.words)
            size = 1 if is_joined else len(name.words)
            if is_joined or tuple(words[place : place + size]) == name.words:
                proper = _is_proper(question, tokens, place, size)
                mentions.append(Mention(name=name, is_proper=proper))
    return mentions


def _with_parts(names: Sequence[tuple[str, ...]]) -> list[ProductName]:
    whole = [name for name in dict.fromkeys(names) if name]
    parts = dict.fromkeys(
        (word,) for name in whole if len(name) > 1 for word in name if _can_name(word)
    )
    return [
        *(ProductName(words=name) for name in whole if len(name) > 1 or _can_name(name[0])),
        *(ProductName(words=part, is_whole=False) for part in parts if part not in whole),
    ]


def _can_name(word: str) -> bool:
    return len(word) >= _LEAST_LETTERS and not word.isdigit() and word not in _OF_TITLES


def _own_words(part: str) -> tuple[str, ...]:
    """Return the words of a title's part that are the product's own; none if it says more."""
    plain = [word for word in part.split() if not _VERSION.fullmatch(word.lower())]
    own = [word for word in _words(" ".join(plain)) if word not in _OF_TITLES]
    return tuple(own) if len(own) <= _MOST_WORDS else ()


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(text))


def _is_proper(question: str, tokens: Sequence[re.Match[str]], place: int, size: int) -> bool:
    if size > 1 or has_cjk(question):
        return True
    token = tokens[place]
    before = tokens[place - 1] if place else None
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if _is_written_as_name(question, token, before):
        return True
    previous = before[0].lower() if before else ""
    following = after[0].lower() if after else ""
    if previous in _BEFORE_SUBJECT or previous in _BEFORE_PACKAGE or following in _KINDS_OF_PRODUCT:
        return True
    is_last = after is None or not question[token.end() : after.start()].isspace()
    return previous in _BEFORE_OBJECT and (is_last or following in _AFTER_OBJECT)


def _is_written_as_name(question: str, token: re.Match[str], before: re.Match[str] | None) -> bool:
    """Return whether capitals, digits, a dot or a mark of code set the word apart."""
    word = token[0]
    if not word.isalpha() or word[1:] != word[1:].lower():
        return True
    if question[token.start() - 1 : token.start()] == "`" or _IN_CODE.match(question, token.end()):
        return True
    starts = before is None or _SENTENCE_END.search(question, before.end(), token.start())
    # In a title every word has a capital.
    return word[0].isupper() and not starts and before is not None and before[0].islower()
