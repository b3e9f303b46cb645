"""Links that open a page at a quote: `url#anchor:~:text=prefix-,start,end,-suffix`.

Built by the WICG's URL Fragment Text Directives. A browser highlights the first stretch of the page
that fits, ignoring case and accents: `start` and `end` each lie within one block (a paragraph, a
cell, a program) and begin and end at a word; anything may stand between the two. So the terms are
taken from the words of the page's screen, and grown until a browser finds the quote first. Terms
that lie inside of one element come first: no style sheet can tear those.
"""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import quote as percent_encode

from citewell.core.screen import NUMBER, find_on_screen, open_screen, screen_of_markdown
from citewell.core.screen_words import (
    first_folded,
    is_found_first,
    is_one_node,
    is_sure,
    term_of,
    with_edge,
    with_marks,
    words_after,
    words_back,
    words_before,
    words_on,
    words_on_screen,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.core.screen_words import ScreenWords, Term

DIRECTIVE = ":~:text="
_AND = "&text="
# A quote this short is its own term; a longer one is named by its first and last words.
_WHOLE_CHARACTERS = 32
# A block that only what follows tells apart has to be named whole.
_LONGEST_WHOLE = 240
_TERM_WORDS = (3, 5, 8, 12, 20, 40)
_CONTEXT_WORDS = (2, 4, 8, 16, 40)
# So many blocks that repeat are passed over until one is found that begins what can be named …
_MOST_REPEATED = 12
# … and so many directives make a link, the last ones.
_MOST_PARTS = 4
_MIDDLE_TRIES = 12
# A quote that repeats is highlighted with so many characters above it, if these do not.
_MOST_ABOVE = 90
# A single word of a longer line has so many letters: scripts can add one to a menu above.
_LEAST_LETTERS = 12
_LEAST_LETTERS_ABOVE = 8
_WHITE_SPACE = re.compile(r"\s")
# Others than these could end a link, or mean something in Markdown or in the directive.
_LITERAL = "/:;=?@!$+"


def link_to_quote(
    url: str, anchor: str | None, text: str, start: int, end: int, *, screen: bytes = b""
) -> str:
    """Return a link that opens a page and highlights its canonical `text` from `start` to `end`.

    `screen` has the words of the page as a browser shows them, packed. Where no short fragment
    names the quote alone, or the page does not show it, the link leads to its section.
    """
    fragment = text_fragment(text, start, end, screen=screen)
    if fragment is None:
        return link_to_section(url, anchor)
    if screen and open_screen(screen).jumps_again:
        anchor = None
    return f"{link_to_section(url, anchor) if anchor else url + '#'}{DIRECTIVE}{fragment}"


def link_to_section(url: str, anchor: str | None) -> str:
    """Return a link to the section of a page that has the anchor; to the page without one."""
    return f"{url}#{_WHITE_SPACE.sub('%20', anchor)}" if anchor else url


def text_fragment(text: str, start: int, end: int, *, screen: bytes = b"") -> str | None:
    """Return the text directive of a slice of canonical text; None when nothing short is unique."""
    shown = open_screen(screen) if screen else screen_of_markdown(text)
    place = find_on_screen(shown, text, start, end)
    if place is None:
        return None
    words = words_on_screen(shown, place)
    if words.first > words.last:
        return None
    fold = first_folded(words, words.first, words.last)
    directives = _name(words, words.first, (fold or words.last + 1) - 1, parts=_MOST_REPEATED)
    if fold is not None:
        directives += _name(words, fold, words.last, parts=_MOST_REPEATED)
    return _AND.join(list(dict.fromkeys(directives))[-_MOST_PARTS:]) or None


def _name(words: ScreenWords, first: int, last: int, *, parts: int) -> list[str]:
    """Return directives that together highlight the words from `first` to `last`, or most."""
    whole = term_of(words, first, last)
    is_one_block = words.blocks[first] == words.blocks[last]
    if is_one_block and whole[1] - whole[0] <= _WHOLE_CHARACTERS:
        return (
            _name_torn(words, first, last)
            or _name_whole(words, first, last)
            or _name_from_above(words, first, last)
        )
    opening = _choose_start(words, first, last)
    if opening is None:
        if is_one_block:
            return _name_whole(words, first, last) or _name_from_above(words, first, last)
        below = words_on(words, first, last, len(words.spans)) + 1
        named = _name_whole(words, first, below - 1)
        if not named and (wider := _name_from_above(words, first, last)):
            return wider
        rest = _name(words, below, last, parts=parts - 1) if parts else []
        return named + rest
    if ended := _name_to_end(words, opening, last):
        return [ended]
    if is_one_block and (named := _name_whole(words, first, last)):
        return named
    return _name_by_middle(words, opening, first, last)


def _name_torn(words: ScreenWords, first: int, last: int) -> list[str]:
    """Return the directive of a few words that several elements share: their first and last."""
    if is_one_node(words, term_of(words, first, last)):
        return []
    opening = _choose_opening(words, first, last, one_node=True)
    if opening is None or opening[2] == last:
        return []
    ended = _name_to_end(words, opening, last)
    return [ended] if ended else []


def _name_whole(words: ScreenWords, first: int, last: int) -> list[str]:
    """Return the directive of words of one block that has them all, where they are few."""
    bare = term_of(words, first, last)
    if bare[1] - bare[0] > _LONGEST_WHOLE:
        return []
    around = (0, 0), (2, 0), (0, 2), (2, 2), (4, 4), (8, 8), (16, 16), (40, 40)
    for one_node, (before, after) in product((True, False), around):
        prefix = words_before(words, first, before, one_node=one_node)
        suffix = words_after(words, last, after, one_node=one_node)
        if (before and prefix is None) or (after and suffix is None and prefix is None):
            continue
        term = with_edge(words, bare, before=prefix is not None, after=suffix is not None)
        if prefix is None and suffix is None and not is_found_first(words, term):
            term = with_marks(words, term)
        if is_found_first(words, term, prefix=prefix, suffix=suffix):
            return [_write(words, prefix, term, None, suffix)]
    return []


def _choose_start(
    words: ScreenWords, first: int, last: int
) -> tuple[Term | None, Term, int] | None:
    """Return the shortest opening that a browser finds here first, its prefix and last word."""
    return _choose_opening(words, first, last, one_node=True) or _choose_opening(
        words, first, last, one_node=False
    )


def _choose_opening(
    words: ScreenWords, first: int, last: int, *, one_node: bool
) -> tuple[Term | None, Term, int] | None:
    if one_node and not is_one_node(words, term_of(words, first, first)):
        return None
    ends = list(
        dict.fromkeys(
            words_on(words, first, last, count, one_node=one_node) for count in _TERM_WORDS
        )
    )
    least = words_on(words, first, last, _TERM_WORDS[0])
    for marked, end in product((False, True), ends):
        bare = term_of(words, first, end)
        term = with_marks(words, bare) if marked else bare
        if one_node and not is_one_node(words, term):
            continue
        is_long_enough = end >= min(first + 1, least) or bare[1] - bare[0] >= _LEAST_LETTERS
        if is_long_enough and is_found_first(words, term):
            return None, term, end
    for count in _CONTEXT_WORDS:
        prefix = words_before(words, first, count, one_node=one_node)
        if prefix is None:
            return None
        for end in ends[0], ends[-1]:
            term = with_edge(words, term_of(words, first, end), before=True)
            if is_found_first(words, term, prefix=prefix):
                return prefix, term, end
    return None


def _name_from_above(words: ScreenWords, first: int, last: int) -> list[str]:
    """Return the directive of a quote that repeats, with the nearest words above that do not."""
    place = words.spans[first][0]
    for begin in range(first - 1, -1, -1):
        start = words.spans[begin][0]
        if place - start > _MOST_ABOVE or not is_sure(words, (start, place)):
            break
        opening = _choose_opening(words, begin, first - 1, one_node=True)
        if opening is None or opening[1][1] - opening[1][0] < _LEAST_LETTERS_ABOVE:
            continue
        if opening[0] is None and (ended := _name_to_end(words, opening, last)):
            return [ended]
    return []


def _name_to_end(
    words: ScreenWords, opening: tuple[Term | None, Term, int], last: int
) -> str | None:
    prefix, start, after = opening
    if after == last:
        return _write(words, prefix, start, None, None)
    terms = list(_terms_back(words, last, after=after))
    for end in [*terms, *(with_marks(words, term) for term in terms)]:
        if is_found_first(words, end, after=start[1]):
            return _write(words, prefix, start, end, None)
    for one_node, count in product((True, False), _CONTEXT_WORDS):
        suffix = words_after(words, last, count, one_node=one_node)
        if suffix is None:
            return None
        for bare in terms[0], terms[-1]:
            end = with_edge(words, bare, after=True)
            if is_found_first(words, end, after=start[1], suffix=suffix):
                return _write(words, prefix, start, end, suffix)
    return None


def _name_by_middle(
    words: ScreenWords, opening: tuple[Term | None, Term, int], first: int, last: int
) -> list[str]:
    """Return two directives that meet at a term in between, after which the end comes first."""
    tries = 0
    for middle in range(last, opening[2], -1):
        if words.blocks[middle] == words.blocks[middle - 1] and middle != last:
            continue
        tries += 1
        reopening = _choose_start(words, middle, last)
        if reopening and (second := _name_to_end(words, reopening, last)):
            one = _name_to_end(words, opening, reopening[2])
            if one is None and middle - 1 > opening[2]:
                one = _name_to_end(words, opening, middle - 1)
            return [one, second] if one else [second]
        if tries == _MIDDLE_TRIES:
            break
    # The browser stops at the first end that it finds, inside of the quote.
    nearest = next(_terms_back(words, last, after=opening[2]))
    return [_write(words, opening[0], opening[1], nearest, None)]


def _terms_back(words: ScreenWords, last: int, *, after: int) -> Iterator[Term]:
    """Yield the terms that end at word `last`, shortest first, each beginning after `after`.

    Those inside of one element come first.
    """
    firsts = (
        words_back(words, last, after, count, one_node=one_node)
        for one_node, count in product((True, False), _TERM_WORDS)
    )
    for first in dict.fromkeys(firsts):
        yield term_of(words, first, last)


def _write(
    words: ScreenWords, prefix: Term | None, start: Term, end: Term | None, suffix: Term | None
) -> str:
    text = words.screen.text
    parts = [_encode(text[slice(*start)])]
    if prefix is not None:
        parts.insert(0, _encode(text[slice(*prefix)]) + "-")
    if end is not None:
        parts.append(_encode(text[slice(*end)]))
    if suffix is not None:
        parts.append("-" + _encode(text[slice(*suffix)]))
    return ",".join(parts)


def _encode(term: str) -> str:
    """Return a term percent-encoded; letters of any script stay as they are, and legible."""
    return "".join(
        character if character.isalnum() else percent_encode(character, safe=_LITERAL)
        for character in term
        if character != NUMBER
    ).replace("-", "%2D")
