"""The place of a page that answers a query best, and a few words from around it."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from citewell.core.text import one_line
from citewell.docsite.pages import plain_heading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.docsite.outline import Outline, OutlineEntry
    from citewell.docsite.search import Term

# In one page, shared by the words of the query: the first places of a common word are as good as
# the later ones. Asked for headings of the fastapi docs without their last word, the first hit
# shows that section for .30; with half as many for .26, with 120 for .31.
MAX_MATCHES = 80
_MIN_MATCHES_OF_A_WORD = 3

# Only a page that holds nothing before it is searched beyond: a few are longer than a book.
_NEAR_BYTES = 60_000

# Marks of Markdown that begin a line, lines that are nothing else, notes, comments and attributes.
_UNSEEN = re.compile(
    r"^[ \t]*+(?:>[ \t]*+)*+(?:#{1,6}[ \t]+|[-*+][ \t]+(?:\[[ xX]\][ \t])?"
    r"|(?:!!!|\?\?\?\+?)[ \t]+[a-z-]+|\[[^\[\]\n]+\]:[ \t][^\n]*+$"
    r"|(?:`{3,}|~{3,}|:{3,}|/{3,}|={3,}|-{3,})[^\n]*+$|\|?[ \t:|-]+\|[ \t]*+$)"
    r"|^[ \t]*+>[> \t]*+|\[![A-Za-z]+\][+-]?|\[\^[^\[\]\s]+\]:?"
    r"|<!--(?:(?!-->|<!--).)*+-->|\{[ \t]*+[#.*!%:][^{}\n]*+\}"
    r"|<(?:style|script)\b(?:(?!</(?:style|script)).)*+|<[A-Za-z/!][^<>]*+\Z",
    re.MULTILINE | re.DOTALL,
)
# A bar parts cells, but not in code: `str | None`.
_CELL_BORDER = re.compile(r"(`[^`\n]{1,200}`)|\|")
# Links, attributes and boxes of tasks whose beginning or end is not in the excerpt.
_END_OF_MARKUP = re.compile(
    r"\A(?:([^\[\]\n]*+)\]\([^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)?\)"
    r"|[^\s()\[\]]*?/[^\s()\[\]]*+\)|\[[ xX]\][ \t])"
)
_BEGINNING_OF_MARKUP = re.compile(
    r"(?:!?\[((?:[^\[\]\n]|\[[^\[\]\n]*+\])*+)(?:\]\([^()\s]*+)?|\{[ \t]*+[#.*!%:][^{}\n]*+)\Z"
)
_ENTITY = re.compile("&(nbsp|amp|lt|gt|quot|#39);")
_MEANT = {"nbsp": " ", "amp": "&", "lt": "<", "gt": ">", "quot": '"', "#39": "'"}
# CJK text has no spaces to cut at.
_CUT_WORD = re.compile(r"[ ][!-~]{1,30}…\Z")
_DIAGRAM = b"```mermaid"
_WHOLE_DIAGRAM = re.compile(r"```mermaid(?:(?!\n```)[\s\S])*+(?:\n```)?")
_HIDDEN_ELEMENTS = (b"style", b"script")
# A longer one is no tag that somebody wrote by hand.
_MAX_TAG_BYTES = 400
# Shorter ones begin too many other words: "us" is all that is left of "using".
_SHORTEST_MARK = 4
_LETTERS = frozenset(b"0123456789abcdefghijklmnopqrstuvwxyz")


class Place(NamedTuple):
    """Where a page matches."""

    section: OutlineEntry | None
    """None for what stands before the first heading."""
    snippet: str


_Match = tuple[int, int]
"""The place of a term in a page, in bytes, and the term."""


class _Needle(NamedTuple):
    """Bytes that show where a term stands."""

    written: bytes
    term: int
    begins_word: bool
    """False in text without spaces, where a word may stand anywhere."""


class PlaceFinder:
    """Finds the place of a page that answers one query best; prepared once for many pages."""

    def __init__(self, query: str, terms: Sequence[Term], *, length: int) -> None:
        self._heading = one_line(query)
        self._length = length
        beginnings = {
            _beginning(word): number for number, term in enumerate(terms) for word in term.words
        }
        self.marks = tuple(word for word in beginnings if len(word) >= _SHORTEST_MARK)
        """What the words of a snippet begin with that the page was found by."""
        self._most = max(MAX_MATCHES // max(len(beginnings), 1), _MIN_MATCHES_OF_A_WORD)
        self._needles = [
            _Needle(written, term, beginning.isascii())
            for beginning, term in beginnings.items()
            for written in _spellings(beginning)
        ]

    def find(self, data: bytes, outline: Outline) -> Place:
        """Return the section of a page that holds most of the terms, and its words around them.

        A section that has the query itself as its heading is the one.
        """
        section = outline.section_headed(self._heading)
        if section >= 0:
            position, _ = outline.span(section, end=len(data))
            return self._show(data, outline, position)
        matches = self._matches(data, start=outline.body_start, end=_NEAR_BYTES)
        if not matches and len(data) > _NEAR_BYTES:
            matches = self._matches(data, start=outline.body_start, end=len(data))
        if not matches:
            return Place(None, self._cut(data, outline.body_start, end=len(data)))
        return self._show(data, outline, self._best(data, outline, matches))

    def _show(self, data: bytes, outline: Outline, position: int) -> Place:
        """Return the section around `position` and its words from there on, below the heading."""
        section = outline.section_at(position)
        if section < 0:
            return Place(None, self._cut(data, position, end=len(data)))
        _, end = outline.span(section, end=len(data))
        start = max(position, _end_of_heading(data, outline, section))
        return Place(outline.entry(section), self._cut(data, start, end=end))

    def _matches(self, data: bytes, *, start: int, end: int) -> list[_Match]:
        """Return where the terms stand, in order."""
        matches: list[_Match] = []
        lowered = data[:end].lower()
        for written, term, begins_word in self._needles:
            position, left = lowered.find(written, start), self._most
            while position >= 0 and left:
                if not begins_word or position == 0 or lowered[position - 1] not in _LETTERS:
                    matches.append((position, term))
                    left -= 1
                position = lowered.find(written, position + 1)
        return sorted(matches)

    def _best(self, data: bytes, outline: Outline, matches: Sequence[_Match]) -> int:
        """Return the first match that has most terms after it, near and in its section.

        One in a heading, which says what all below it is about, counts half a term more.
        """
        best, most = 0, 0.0
        ceiling = len({term for _, term in matches}) + 0.5
        for i, (position, _) in enumerate(matches):
            if most == ceiling:
                break
            section = outline.section_at(position)
            start, end = outline.span(section, end=len(data))
            last = bisect_left(matches, (min(position + self._length + 1, end),), i)
            score = len({term for _, term in matches[i:last]}) + 0.5
            if score > most and (section < 0 or data.find(b"\n", start, position) >= 0):
                score -= 0.5
            if score > most:
                best, most = position, score
        return best

    def _cut(self, data: bytes, position: int, *, end: int) -> str:
        """Return some characters from the words before `position` on, without marks."""
        length = self._length
        position = _after_markup(data, position, end=end)
        begin = data.rfind(b"\n", 0, position) + 1
        if position - begin > length // 3:
            begin = data.find(b" ", position - length // 3, position) + 1 or position
        is_inside = begin > 0 and data[begin - 1 : begin] != b"\n"
        # Letters beyond ASCII have up to four bytes; half of one at the end is dropped.
        raw = data[begin : min(begin + 5 * length, end)].decode(errors="ignore")[: 2 * length]
        plain = _UNSEEN.sub(" ", _WHOLE_DIAGRAM.sub(" ", raw))
        plain = _CELL_BORDER.sub(lambda match: match[1] or " ", plain)
        plain = _BEGINNING_OF_MARKUP.sub(r"\1", plain)
        plain = _END_OF_MARKUP.sub(r"\1", plain) if is_inside else plain
        words = _ENTITY.sub(lambda match: _MEANT[match[1]], plain_heading(plain, limit=2 * length))
        text = _CUT_WORD.sub("…", one_line(words, limit=length - is_inside))
        return f"…{text}" if is_inside else text


def _after_markup(data: bytes, position: int, *, end: int) -> int:
    """Return where text goes on after the diagram, style, script or tag `position` lies in."""
    lowered = data[:end].lower()
    opened = lowered.rfind(_DIAGRAM, 0, position + len(_DIAGRAM))
    closing = lowered.find(b"\n```", opened) if opened >= 0 else -1
    if opened >= 0 and (closing < 0 or closing + 4 > position):
        after = lowered.find(b"\n", closing + 1) + 1 if closing >= 0 else 0
        return after or end
    for name in _HIDDEN_ELEMENTS:
        opened = lowered.rfind(b"<" + name, 0, position + 1)
        closing = lowered.find(b"</" + name, opened) if opened >= 0 else -1
        if opened >= 0 and (closing < 0 or closing >= position):
            after = lowered.find(b">", closing) + 1 if closing >= 0 else 0
            return after or end
    opened = lowered.rfind(b"<", max(0, position - _MAX_TAG_BYTES), position + 1)
    is_tag = opened >= 0 and lowered[opened + 1 : opened + 2].strip(b"/!").isalpha()
    closed = lowered.find(b">", opened, opened + _MAX_TAG_BYTES) if is_tag else -1
    return closed + 1 if closed >= position else position


def _beginning(word: str) -> str:
    """Return what the written forms of a stemmed word begin with: `polici` → `polic`."""
    return word[:-1] if len(word) > 3 and word.endswith("i") else word


def _spellings(beginning: str) -> set[bytes]:
    """Return how a word may be written in a page whose ASCII letters are lower-cased.

    Lower-casing bytes leaves other letters as they are, and is much faster than decoding them.
    """
    written = (beginning, beginning.capitalize(), beginning.upper())
    return {spelling.encode().lower() for spelling in written}


def _end_of_heading(data: bytes, outline: Outline, section: int) -> int:
    """Return where the text under a heading begins; 0 when there is none."""
    start, end = outline.span(section, end=len(data))
    text_start = data.find(b"\n", start, end) + 1
    if text_start and not data[start : start + 4].lstrip(b" ").startswith(b"#"):
        # The line that underlines the heading.
        text_start = data.find(b"\n", text_start, end) + 1
    text = data[text_start:end] if text_start else b""
    stripped = text.lstrip()
    return text_start + len(text) - len(stripped) if stripped else 0
