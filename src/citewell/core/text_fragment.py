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

from citewell.core.page_words import FIRST_CJK, joins_words, lies_in, strip_marks, words_around

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
_TERM_WORDS = (3, 5, 8, 12, 20)
_CONTEXT_WORDS = (2, 4, 8)
_TELLING_CHARACTERS = 5
_CJK_CHARACTERS_PER_WORD = 3
# Cells of canonical tables are padded.
_MOST_SPACE = 120
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
    whole = _term(words, first, last)
    if words.lines[first] == words.lines[last] and whole[1] - whole[0] <= _WHOLE_CHARACTERS:
        return _name_whole(words, first, last)
    return _name_ends(words, first, last)


def _name_whole(words: PageWords, first: int, last: int) -> str | None:
    for before, after in (0, 0), (2, 0), (0, 2), (2, 2), (4, 4), (8, 8):
        term = _term(words, first, last)
        term = _from_line_start(words, term) if before else term
        term = _to_line_end(words, term) if after else term
        prefix, suffix = _before(words, term, first, before), _after(words, term, last, after)
        if _fits_first(words, term, prefix=prefix, suffix=suffix):
            return _write(words, prefix, term, None, suffix)
    return None


def _name_ends(words: PageWords, first: int, last: int) -> str | None:
    below = first
    opening = None if _is_title(words, first, last) else _choose_start(words, first, last)
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
    if reached == last:
        directives.append(_write(words, prefix, start, None, None))
    else:
        endings = _choose_ends(words, start, last, after=reached)
        directives += [_write(words, prefix, start, end, suffix) for end, suffix in endings]
    # A browser highlights what any of the directives names.
    return _AND.join(filter(None, directives))


def _is_title(words: PageWords, first: int, last: int) -> bool:
    """Return whether a quote begins with a line that a menu of the page may well have: `Notes`."""
    below = bisect_right(words.lines, words.lines[first])
    if below > last or words.fenced[first] or words.marks[first] == "|":
        return False
    is_link = words.marks[first] not in _ITEM_MARKS and lies_in(
        words.links, words.sources[first][0], words.sources[below - 1][1]
    )
    weight = sum(_weight(words, word) for word in range(first, min(below, first + _FEW_WORDS + 1)))
    line = words.text[slice(*_from_line_start(words, _term(words, first, below - 1)))]
    is_common = weight <= _FEW_WORDS and line.replace(" ", "").isalpha()
    return (is_link or is_common) and _touch(words, below)


def _touch(words: PageWords, word: int) -> bool:
    """Return whether no line without words, such as an image or dashes, stands before a word."""
    between = words.text[words.spans[word - 1][1] : words.spans[word][0]]
    return not any(line.strip() for line in between.split("\n")[1:-1])


def _name_above(words: PageWords, first: int, below: int, last: int, end: Span) -> str | None:
    """Return a directive from word `first` to `below`, of lines that others on the page are like.

    What follows them makes them unique, or else the heading; the match then runs to `end`.
    """
    if all(words.fenced[first : below + 1]):
        for count in _TERM_WORDS:
            term = _term(words, first, _advance(words, below, last, count))
            if _fits_first(words, term):
                return _write(words, None, term, None, None)
    is_next = words.lines[below - 1] == words.lines[first] and _touch(words, below)
    if is_next and not any(words.unsure[first:below]):
        term = _to_line_end(words, _from_line_start(words, _term(words, first, below - 1)))
        for count in _CONTEXT_WORDS:
            next_words = _term(words, below, _advance(words, below, last, count))
            suffix = _from_line_start(words, next_words)
            if _fits_first(words, term, suffix=suffix):
                return _write(words, None, term, None, suffix)
    opening = _choose_start(words, first, last, over_heading=True)
    if opening is None or opening[0] is None or opening[2] >= below:
        return None
    return _write(words, opening[0], opening[1], end, None)


def _choose_ends(
    words: PageWords, start: Span, last: int, *, after: int
) -> list[tuple[Span, Span | None]]:
    """Return the term that a quote ends with, and its suffix; behind one that may not fit, another.

    Without any that comes first, the browser ends the highlight at an earlier place of the quote
    that reads the same.
    """
    terms = list(_terms_back(words, last, after=after))
    whole_line = _to_line_end(words, _from_line_start(words, terms[-1]))
    for end in *terms, whole_line:
        if _fits_first(words, end, after=start[1]):
            return [(end, None)]
    early: list[tuple[Span, Span | None]] = [(terms[0], None)]
    for count in _TERM_WORDS:
        first = max(after + 1, last - count)
        end = _to_line_end(words, _term(words, first, last))
        if all(words.fenced[first : last + 1]) and _fits_first(words, end, after=start[1]):
            return [(end, None), *early]
    end = _to_line_end(words, terms[0])
    for count in _CONTEXT_WORDS:
        suffix = _after(words, end, last, count)
        if suffix and _fits_first(words, end, suffix=suffix, after=start[1]):
            return [(end, suffix), *early]
    return early


def _choose_start(
    words: PageWords, first: int, last: int, *, over_heading: bool = False
) -> tuple[Span | None, Span, int] | None:
    """Return the shortest term that the page has here first, its prefix and its last word.

    With `over_heading`, the prefix may be a heading, which often ends with a sign that links to it:
    where that is visible, the prefix fits nothing.
    """
    # Menus are lists, too: what begins an item of a list is named by some more words.
    sizes = _term_sizes(words, first)[words.marks[first] in _ITEM_MARKS :]
    ends = [_advance(words, first, last, count) for count in sizes]
    # Menus, which canonical text leaves out, have links and headers of tables before the quote.
    line = _to_line_end(words, _from_line_start(words, words.spans[first]))
    is_cell = words.marks[first] == "|" and words.text[slice(*line)].isalpha() and ends[-1] == first
    for end in ends:
        source = words.sources[first][0], words.sources[end][1]
        is_link = lies_in(words.links, *source) and end < ends[-1]
        term = _term(words, first, end)
        if not is_cell and not is_link and _fits_first(words, term):
            return None, term, end
    for count in _CONTEXT_WORDS:
        for end in ends[0], ends[-1]:
            term = _from_line_start(words, _term(words, first, end))
            prefix = _before(words, term, first, count, over_heading=over_heading)
            if prefix is not None and _fits_first(words, term, prefix=prefix):
                return prefix, term, end
    return None


def _term_sizes(words: PageWords, word: int) -> tuple[int, ...]:
    """Return how many words to try; a cell may hold several blocks, which only one word is sure.

    A short cell, as of a header, is one block; a menu may well have its first word.
    """
    start, end = words.spans[word]
    is_telling = words.marks[word] == "|" and end - start >= _TELLING_CHARACTERS
    is_short = _advance(words, word, len(words.spans) - 1, _TERM_WORDS[0]) - word < _FEW_WORDS
    return (1, *_TERM_WORDS) if is_telling and not is_short else _TERM_WORDS


def _terms_back(words: PageWords, last: int, *, after: int) -> Iterator[Span]:
    """Give the terms that end at word `last`, shortest first, beginning behind word `after`."""
    # The range is short: of a cell, which may hold several blocks, one word is enough.
    sizes = (1, *_TERM_WORDS) if words.marks[last] == "|" else _TERM_WORDS
    for count in sizes:
        first, weight = last, _weight(words, last)
        while (
            weight < count
            and first - 1 > after
            and words.lines[first - 1] == words.lines[last]
            and not words.unsure[first - 1]
        ):
            first -= 1
            weight += _weight(words, first)
        yield _term(words, first, last)


def _advance(words: PageWords, first: int, last: int, count: int) -> int:
    """Return the last word of a term of about `count` words from `first` on, within its line."""
    end, weight = first, _weight(words, first)
    while (
        weight < count
        and end < last
        and words.lines[end + 1] == words.lines[first]
        and not words.unsure[end + 1]
    ):
        end += 1
        weight += _weight(words, end)
    return end


def _before(
    words: PageWords, term: Span, first: int, count: int, *, over_heading: bool = True
) -> Span | None:
    """Return up to `count` words that stand right before a term, on one line."""
    crosses = first > 0 and words.lines[first - 1] != words.lines[first]
    if crosses and words.marks[first - 1] == "#" and not over_heading:
        return None
    begin = first
    while (
        first - begin < count
        and begin > 0
        and (begin == first or words.lines[begin - 1] == words.lines[first - 1])
        and not words.unsure[begin - 1]
    ):
        begin -= 1
    return None if begin == first else _within_line(words, words.spans[begin][0], term[0])


def _from_line_start(words: PageWords, term: Span) -> Span:
    """Return the term with the punctuation that its line begins with: a prefix must touch it."""
    line = words.text.rfind("\n", 0, term[0]) + 1
    if any(map(joins_words, words.text[line : term[0]])):
        return term
    opening = _within_line(words, line, term[0])
    return (term[0] if opening is None else opening[0]), term[1]


def _to_line_end(words: PageWords, term: Span) -> Span:
    """Return the term with the punctuation that its line ends with."""
    line_end = words.text.find("\n", term[1])
    closing = _within_line(words, term[1], len(words.text) if line_end < 0 else line_end)
    if closing is None or any(map(joins_words, words.text[slice(*closing)])):
        return term
    return term[0], closing[1]


def _after(words: PageWords, term: Span, last: int, count: int) -> Span | None:
    """Return up to `count` words that stand right after a term, on one line."""
    first = last + 1
    if not count or first >= len(words.spans) or words.unsure[first]:
        return None
    end = _advance(words, first, len(words.spans) - 1, count)
    return _within_line(words, term[1], words.spans[end][1])


def _within_line(words: PageWords, start: int, end: int) -> Span | None:
    """Return the span without white space around it; None when it crosses lines all the same."""
    text = words.text
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end and "\n" not in text[start:end] else None


def _fits_first(
    words: PageWords,
    term: Span,
    *,
    prefix: Span | None = None,
    suffix: Span | None = None,
    after: int = 0,
) -> bool:
    """Return whether a browser that looks for the term, from `after` on, finds it where it is."""
    text = words.folded
    wanted, before, behind = (
        "" if span is None else text[slice(*span)] for span in (term, prefix, suffix)
    )
    if not after and _occurs(
        strip_marks(wanted), words.above, strip_marks(before), strip_marks(behind)
    ):
        return False
    return not _occurs(wanted, text, before, behind, after=after, until=term[0])


def _occurs(
    wanted: str, text: str, before: str, behind: str, *, after: int = 0, until: int | None = None
) -> bool:
    """Return whether `wanted` begins in `text` before `until`, with the given words around it."""
    place = text.find(wanted, after)
    while place >= 0 and (until is None or place < until):
        end = place + len(wanted)
        reach = place - len(before) - _MOST_SPACE
        if (
            _is_whole(text, place, end)
            and text[max(reach, 0) : place].rstrip().endswith(before)
            and text[end : end + len(behind) + _MOST_SPACE].lstrip().startswith(behind)
        ):
            return True
        place = text.find(wanted, place + 1)
    return False


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether words begin at `start` and end at `end`; in CJK text any place may be so."""
    opens = start == 0 or not (_is_latin(text[start - 1]) and _is_latin(text[start]))
    return opens and (end == len(text) or not (_is_latin(text[end - 1]) and _is_latin(text[end])))


def _is_latin(character: str) -> bool:
    return character < FIRST_CJK and joins_words(character)


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


def _term(words: PageWords, first: int, last: int) -> Span:
    return words.spans[first][0], words.spans[last][1]


def _weight(words: PageWords, word: int) -> int:
    """Return how many words a run of characters counts for."""
    start, end = words.spans[word]
    if words.text[start] < FIRST_CJK:
        return 1
    return max(1, (end - start) // _CJK_CHARACTERS_PER_WORD)
