"""Links that open a page at a quote: `url#anchor:~:text=prefix-,start,end,-suffix`.

Built by the WICG's URL Fragment Text Directives. A browser highlights the first stretch of the page
that fits, ignoring case and accents: `start` and `end` each lie within one block (a paragraph, a
cell, a line of code) and begin and end at a word; anything may stand between the two. So the terms
are taken from the visible words of canonical Markdown, and grown until they fit the quote first.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING
from urllib.parse import quote as percent_encode

from citewell.core.page_words import joins_words, lies_in, words_around
from citewell.core.text_fragment_terms import (
    fits_first,
    from_line_start,
    last_word_of_term,
    term_of,
    to_line_end,
    weight_of,
    words_after,
    words_before,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.core.page_words import PageWords
    from citewell.core.text import Span

DIRECTIVE = ":~:text="
_AND = "&text="
# A quote this short is its own term; a longer one is named by its first and last words.
_WHOLE_CHARACTERS = 32
_FEW_WORDS = 2
_ITEM_MARKS = "-+*"
# Terms and signatures that are defined below them are bold.
_DEFINES = "*"
_CELL = "|"
_TERM_WORDS = (3, 5, 8, 12, 20)
_CONTEXT_WORDS = (2, 4, 8)
# Programs repeat whole lines: there, what stands before a term can be several of them.
_CONTEXT_WORDS_OF_CODE = (2, 4, 8, 16, 32)
# Sphinx begins a block inside of a program with this link.
_BLOCK_OF_CODE = "\n[docs]"
# What Sphinx shows after a signature, and canonical text leaves out.
_SOURCE_LINK = "[source]"
_OPENS_SIGNATURE = frozenset({"class", "exception", "function", "method", "property", "attribute"})
_JAVA_MODIFIERS = frozenset({"public", "protected", "private", "static", "default", "abstract"})
_TELLING_CHARACTERS = 5
_WHITE_SPACE = re.compile(r"\s")
# Others than these could end a link, or mean something in Markdown or in the directive.
_LITERAL = "/:;=?@!$+"


def link_to_quote(url: str, anchor: str | None, text: str, start: int, end: int) -> str:
    """Return a link that opens a page and highlights its canonical `text` from `start` to `end`.

    Where no short fragment names the quote alone, the link leads to its section.
    """
    fragment = text_fragment(text, start, end)
    if fragment is None:
        return link_to_section(url, anchor)
    return f"{link_to_section(url, anchor) if anchor else url + '#'}{DIRECTIVE}{fragment}"


def link_to_section(url: str, anchor: str | None) -> str:
    """Return a link to the section of a page that has the anchor; to the page without one."""
    return f"{url}#{_WHITE_SPACE.sub('%20', anchor)}" if anchor else url


def text_fragment(text: str, start: int, end: int) -> str | None:
    """Return the text directive of a slice of canonical text; None when nothing short is unique."""
    words = words_around(text, start, end)
    first = bisect_right(words.sources, start, key=lambda span: span[1])
    last = bisect_left(words.sources, end, key=lambda span: span[0]) - 1
    sure = [word for word in range(first, last + 1) if not words.unsure[word]]
    if not sure:
        return None
    directives = [_name(words, sure[0], sure[-1])]
    if directives[0] and (first, last) != (sure[0], sure[-1]):
        # Where the page does have the words at the ends, this highlights them as well.
        directives.insert(0, _name(words, first, last))
    return _AND.join(dict.fromkeys(filter(None, directives))) or None


def _name(words: PageWords, first: int, last: int) -> str | None:
    whole = term_of(words, first, last)
    if words.lines[first] == words.lines[last] and whole[1] - whole[0] <= _WHOLE_CHARACTERS:
        return _name_whole(words, first, last)
    return _name_ends(words, first, last)


def _name_whole(words: PageWords, first: int, last: int) -> str | None:
    for before, after in (0, 0), (2, 0), (0, 2), (2, 2), (4, 4), (8, 8):
        term = term_of(words, first, last)
        term = from_line_start(words, term) if before else term
        term = to_line_end(words, term) if after else term
        prefix, suffix = (
            words_before(words, term, first, before),
            words_after(words, term, last, after),
        )
        if fits_first(words, term, prefix=prefix, suffix=suffix):
            return _write(words, prefix, term, None, suffix)
    opening = _choose_start_in_code(words, first, last)
    if opening is None or opening[2] != last:
        return None
    return _write(words, opening[0], opening[1], None, None)


def _name_ends(words: PageWords, first: int, last: int) -> str | None:
    below = first
    opening = None if _is_title(words, first, last) else _choose_start(words, first, last)
    if opening is None:
        opening = _choose_start_in_code(words, first, last)
    while opening is None:
        # What opens a program may open others: this directive then begins some lines below.
        below = bisect_right(words.lines, words.lines[below])
        if below > last:
            break
        if not words.unsure[below]:
            opening = _choose_start(words, below, last)
    if opening is None:
        below = first
        opening = _choose_start(words, first, last, over_heading=True)
    if opening is None:
        return None
    prefix, start, reached = opening
    directives = [_name_above(words, first, below, last, start)] if below > first else []
    bracket = _opening_bracket(words, start)
    if prefix is None and bracket > 0:
        prefix, start = (start[0], bracket), (bracket, start[1])
        directives.append(_write(words, None, prefix, None, start))
    if reached == last:
        directives.append(_write(words, prefix, start, None, None))
    else:
        directives += _name_to_end(words, prefix, start, last, after=reached)
    # A browser highlights what any of the directives names.
    return _AND.join(filter(None, directives))


def _opening_bracket(words: PageWords, start: Span) -> int:
    """Return where the arguments begin in a signature of Javadoc, which shows them as a block."""
    bracket = words.text.find("(", *start)
    is_signature = words.text[slice(*start)].split(maxsplit=1)[0] in _JAVA_MODIFIERS
    return bracket if is_signature and joins_words(words.text[bracket - 1]) else -1


def _is_title(words: PageWords, first: int, last: int) -> bool:
    """Return whether a quote begins with a line that a menu of the page may well have: `Notes`."""
    below = bisect_right(words.lines, words.lines[first])
    if below > last or words.fenced[first] or words.marks[first] == _CELL:
        return False
    is_link = words.marks[first] not in _ITEM_MARKS and lies_in(
        words.links, words.sources[first][0], words.sources[below - 1][1]
    )
    weight = sum(
        weight_of(words, word) for word in range(first, min(below, first + _FEW_WORDS + 1))
    )
    line = from_line_start(words, term_of(words, first, below - 1))
    is_plain = words.text[slice(*line)].replace(" ", "").isalpha()
    is_common = weight <= _FEW_WORDS and is_plain and not _is_signature(words, first, line)
    return (is_link or is_common) and _touch(words, below)


def _is_signature(words: PageWords, first: int, line: Span) -> bool:
    """Return whether a bold line reads like code: `class Heron`, `Heron.wade()`."""
    text = words.text[slice(*line)]
    is_plain = text.replace(" ", "").isalpha()
    return words.marks[first] == _DEFINES and (not is_plain or text.split()[0] in _OPENS_SIGNATURE)


def _touch(words: PageWords, word: int) -> bool:
    """Return whether no line without words, such as an image or dashes, stands before a word."""
    between = words.text[words.spans[word - 1][1] : words.spans[word][0]]
    return not any(line.strip() for line in between.split("\n")[1:-1])


def _name_above(words: PageWords, first: int, below: int, last: int, end: Span) -> str | None:
    """Return a directive from word `first` to `below`, of lines that others on the page are like.

    What follows them makes them unique, or else the heading; the match then runs to `end`.
    """
    if _is_one_program(words, first, below):
        for count in _TERM_WORDS:
            term = term_of(words, first, last_word_of_term(words, below, last, count))
            if fits_first(words, term):
                return _write(words, None, term, None, None)
    is_next = words.lines[below - 1] == words.lines[first] and _touch(words, below)
    if is_next and not any(words.unsure[first:below]):
        term = to_line_end(words, from_line_start(words, term_of(words, first, below - 1)))
        for count in _CONTEXT_WORDS:
            next_words = term_of(words, below, last_word_of_term(words, below, last, count))
            suffix = from_line_start(words, next_words)
            if fits_first(words, term, suffix=suffix):
                directive = _write(words, None, term, None, suffix)
                if not _is_signature(words, first, term):
                    return directive
                signature = _encode(words.text[slice(*term)])
                return f"{signature},-{_encode(_SOURCE_LINK)}{_AND}{directive}"
    opening = _choose_start(words, first, last, over_heading=True)
    if opening is None or opening[0] is None or opening[2] >= below:
        return None
    return _write(words, opening[0], opening[1], end, None)


def _name_to_end(
    words: PageWords, prefix: Span | None, start: Span, last: int, *, after: int
) -> list[str]:
    """Return directives that lead from a start, whose last word is `after`, to word `last`.

    Without an end that comes first, the browser ends the highlight at an earlier place of the quote
    that reads the same; so a second directive begins at a term in between.
    """
    terms = list(_terms_back(words, last, after=after))
    sure = terms[:1] if words.marks[last] == _CELL else terms
    for end in sure:
        if fits_first(words, end, after=start[1]):
            return [_write(words, prefix, start, end, None)]
    early = _write(words, prefix, start, terms[0], None)
    if end_in_code := _choose_end_in_code(words, start, last, after=after):
        return [_write(words, prefix, start, end_in_code, None), early]
    if middle := _choose_middle(words, last, after=after):
        return [
            _write(words, prefix, start, middle[0], None),
            _write(words, None, *middle, None),
        ]
    whole_line = to_line_end(words, from_line_start(words, terms[-1]))
    for end in *terms, whole_line:
        if fits_first(words, end, after=start[1]):
            return [_write(words, prefix, start, end, None)]
    end = to_line_end(words, terms[0])
    for count in _CONTEXT_WORDS:
        suffix = words_after(words, end, last, count)
        if suffix and fits_first(words, end, suffix=suffix, after=start[1]):
            return [_write(words, prefix, start, end, suffix), early]
    return [early]


def _choose_end_in_code(words: PageWords, start: Span, last: int, *, after: int) -> Span | None:
    """Return an end that crosses the lines of a program."""
    for count in _TERM_WORDS:
        first = max(after + 1, last - count)
        end = to_line_end(words, term_of(words, first, last))
        if _is_one_program(words, first, last) and fits_first(words, end, after=start[1]):
            return end
    return None


def _choose_middle(words: PageWords, last: int, *, after: int) -> tuple[Span, Span] | None:
    """Return a term that the page has within the quote first, and the end that follows it first."""
    for word in range(last - 1, after, -1):
        if words.unsure[word]:
            continue
        size = 1 if words.marks[word] == _CELL else _TERM_WORDS[0]
        middle_last = last_word_of_term(words, word, last - 1, size)
        middle = term_of(words, word, middle_last)
        # A menu, which canonical text leaves out, may well have a common word.
        is_common = middle_last - word < _FEW_WORDS and words.text[slice(*middle)].isalpha()
        if is_common or middle[1] - middle[0] < _TELLING_CHARACTERS:
            continue
        if not fits_first(words, middle):
            continue
        for end in _terms_back(words, last, after=middle_last):
            if fits_first(words, end, after=middle[1]):
                return middle, end
            if words.marks[last] == _CELL:
                break
    return None


def _choose_start(
    words: PageWords, first: int, last: int, *, over_heading: bool = False
) -> tuple[Span | None, Span, int] | None:
    """Return the shortest term that the page has here first, its prefix and its last word.

    With `over_heading`, the prefix may be a heading, which often ends with a sign that links to it:
    where that is visible, the prefix fits nothing.
    """
    # Menus are lists, too: what begins an item of a list is named by some more words.
    sizes = _term_sizes(words, first)[words.marks[first] in _ITEM_MARKS :]
    ends = [last_word_of_term(words, first, last, count) for count in sizes]
    # Menus, which canonical text leaves out, have links and headers of tables before the quote.
    line = to_line_end(words, from_line_start(words, words.spans[first]))
    is_word = words.text[slice(*line)].isalpha() and ends[-1] == first
    is_cell = words.marks[first] == _CELL and is_word
    for end in ends:
        source = words.sources[first][0], words.sources[end][1]
        is_link = lies_in(words.links, *source) and end < ends[-1]
        term = term_of(words, first, end)
        if not is_cell and not is_link and fits_first(words, term):
            return None, term, end
    for count in _CONTEXT_WORDS:
        for end in ends[0], ends[-1]:
            term = from_line_start(words, term_of(words, first, end))
            prefix = words_before(words, term, first, count, over_heading=over_heading)
            if prefix is not None and fits_first(words, term, prefix=prefix):
                return prefix, term, end
    return None


def _choose_start_in_code(
    words: PageWords, first: int, last: int
) -> tuple[Span | None, Span, int] | None:
    """Return a term of code that the lines before it make unique, its prefix and its last word."""
    if not words.fenced[first]:
        return None
    end = last_word_of_term(words, first, last, _TERM_WORDS[1])
    term = from_line_start(words, term_of(words, first, end))
    for count in _CONTEXT_WORDS_OF_CODE:
        begin = first
        while first - begin < count and _is_one_program(words, begin - 1, first):
            begin -= 1
        prefix = words.spans[begin][0], len(words.text[: term[0]].rstrip())
        if begin < first and fits_first(words, term, prefix=prefix):
            return prefix, term, end
    return None


def _is_one_program(words: PageWords, first: int, last: int) -> bool:
    """Return whether words are of one block of code, which a term can cross the lines of."""
    if first < 0 or not words.fenced[first] or words.fenced[first] != words.fenced[last]:
        return False
    return words.text.find(_BLOCK_OF_CODE, *term_of(words, first, last)) < 0


def _term_sizes(words: PageWords, word: int) -> tuple[int, ...]:
    """Return how many words to try; a cell may hold several blocks, which only one word is sure.

    A short cell, as of a header, is one block; a menu may well have its first word.
    """
    start, end = words.spans[word]
    is_telling = words.marks[word] == _CELL and end - start >= _TELLING_CHARACTERS
    is_short = (
        last_word_of_term(words, word, len(words.spans) - 1, _TERM_WORDS[0]) - word < _FEW_WORDS
    )
    return (1, *_TERM_WORDS) if is_telling and not is_short else _TERM_WORDS


def _terms_back(words: PageWords, last: int, *, after: int) -> Iterator[Span]:
    """Yield the terms that end at word `last`, shortest first, each beginning after `after`."""
    # The range is short: of a cell, which may hold several blocks, one word is enough.
    sizes = (1, *_TERM_WORDS) if words.marks[last] == _CELL else _TERM_WORDS
    for count in sizes:
        first, weight = last, weight_of(words, last)
        while (
            weight < count
            and first - 1 > after
            and words.lines[first - 1] == words.lines[last]
            and not words.unsure[first - 1]
        ):
            first -= 1
            weight += weight_of(words, first)
        yield term_of(words, first, last)


def _write(
    words: PageWords, prefix: Span | None, start: Span, end: Span | None, suffix: Span | None
) -> str:
    parts = [_encode(words.text[slice(*start)])]
    if prefix is not None:
        parts.insert(0, _encode(words.text[slice(*prefix)]) + "-")
    if end is not None:
        parts.append(_encode(words.text[slice(*end)]))
    if suffix is not None:
        parts.append("-" + _encode(words.text[slice(*suffix)]))
    return ",".join(parts)


def _encode(term: str) -> str:
    """Return a term percent-encoded; letters of any script stay as they are, and legible."""
    return "".join(
        character if character.isalnum() else percent_encode(character, safe=_LITERAL)
        for character in term
    ).replace("-", "%2D")
