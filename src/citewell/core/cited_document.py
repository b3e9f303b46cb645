"""Finding what a document cites: its quotes, each with the address beside it, and its links.

Reads Markdown, BibTeX and plain text line by line; all searches are linear, since anybody may send
a document.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING
from urllib.parse import unquote

from citewell.core.frozen import frozen
from citewell.core.text_fragment import DIRECTIVE

if TYPE_CHECKING:
    from collections.abc import Iterator

# Pages of packages have addresses with a version; `npm:react` alone is none of them.
_REST = r"[^\s<>\"'`|\\{}\]]"
_URL = re.compile(
    # Of an IPv6 address, the brackets belong to it; others end it, for they are Markdown's.
    rf"https?://\[[\da-fA-F:.]{{2,45}}+\]{_REST}{{0,2000}}+"
    r"|(?:https?://|(?<!\w)(?:pypi|npm):(?:@[\w.-]{1,200}+/)?[\w.-]{1,200}+@\d[\w.+-]{0,100}+/)"
    rf"{_REST}{{1,2000}}+"
)
_QUOTED = re.compile(
    r"“([^“”]{1,3000}+)”|„([^„“”]{1,3000}+)[“”]|«([^«»]{1,3000}+)»|「([^「」]{1,3000}+)」"
    r"|\"([^\"]{1,3000}+)\"|``([^`']{1,3000}+(?:'[^`']{1,3000}+){0,20}+)''"
)
_SIGNED = re.compile(r"\s*(?:[-*+>]\s+)?(?:[—–]|--(?!\w))")
_ATTRIBUTION = re.compile(
    r"\s*(?:[-*+>]\s+)?(?:[(\[]|source\b|from\b|see\b|https?:|pypi:|npm:)", re.IGNORECASE
)
# The same as a paragraph: an item that is a link belongs to a list, and "see" leads elsewhere.
_SOURCE = re.compile(
    r"\s*(?:(?:[-*+]\s+)?[(<*_]*(?:source|from)\b|[(<]?(?:\[|https?:|pypi:|npm:))", re.IGNORECASE
)
_LINK = re.compile(r"\[[^\[\]]{0,300}+\]\([^()\s]{0,2000}+\)")
_WORD = re.compile(r"[^\W_]+")
_OF_SOURCES = frozenset("source from in on of at by and the p pp accessed retrieved".split())
_MOST_SIGNED_WORDS = 12
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_RULE = re.compile(r" {0,3}(?:-{3,}|={3,}|(?:[*_] *){3,}|(?:- +){2,}-?)\s*\Z")
# A line that begins something of its own: a heading, an item, a row, a BibTeX entry.
_OPENS = re.compile(r"\s*(?:#{1,6}\s|[-*+]\s|\|)|@\w{1,40}\{")
_NUMBERED = re.compile(r"\s*(\d{1,9})[.)]\s")
_LEAST_WORDS, _LEAST_CJK = 4, 8
_TRAILING = ".,;:!?*_'’”\""


@frozen
class Reference:
    """A quote with its address, a quote alone, or a link alone."""

    line: int
    """From 1 on."""
    url: str | None
    quote: str | None = None
    ends: tuple[str, str] | None = None
    """The first and last words that a link's text fragment names."""


@frozen
class _Paragraph:
    line: int
    text: str
    is_quote: bool
    urls: list[tuple[int, str]]
    """Each with its place in the text."""
    breaks: list[int]
    """Where its lines end."""

    def line_at(self, place: int) -> int:
        """Return the line of the document that a place of the text is in."""
        return self.line + bisect_left(self.breaks, place)


def parse_references(document: str) -> list[Reference]:
    """Return the quotes and links of a document in their order, none twice."""
    paragraphs = list(_paragraphs(document))
    references: dict[tuple[str | None, str | None], Reference] = {}
    for place, paragraph in enumerate(paragraphs):
        following = paragraphs[place + 1] if place + 1 < len(paragraphs) else None
        previous = paragraphs[place - 1] if place else None
        for reference in _references_of(paragraph, previous, following):
            references.setdefault((reference.url, reference.quote), reference)
    quoted = {reference.url for reference in references.values() if reference.quote}
    return [
        reference
        for reference in references.values()
        # The address of a quote is checked with it.
        if reference.quote is not None or reference.ends is not None or reference.url not in quoted
    ]


def _references_of(
    paragraph: _Paragraph, previous: _Paragraph | None, following: _Paragraph | None
) -> Iterator[Reference]:
    beside = _address_beside(previous, following)
    if paragraph.is_quote:
        yield from _block_quote(paragraph, beside)
    else:
        for match in _QUOTED.finditer(paragraph.text):
            quote = next(group for group in match.groups() if group is not None)
            if _is_a_quote(quote):
                line = paragraph.line_at(match.start())
                url = _nearest_url(paragraph, match.end()) or beside
                yield Reference(line=line, url=url, quote=" ".join(quote.split()))
    for start, url in paragraph.urls:
        yield Reference(line=paragraph.line_at(start), url=url, ends=_fragment_ends(url))


def _block_quote(paragraph: _Paragraph, beside: str | None) -> Iterator[Reference]:
    lines = paragraph.text.split("\n")
    while len(lines) > 1 and _is_attribution_line(lines[-1]):
        lines.pop()
    quote = " ".join(" ".join(lines).split())
    url = paragraph.urls[0][1] if paragraph.urls else beside
    if _is_a_quote(quote):
        yield Reference(line=paragraph.line, url=url, quote=quote)


def _address_beside(previous: _Paragraph | None, following: _Paragraph | None) -> str | None:
    """Return the address that the next paragraph attributes to, or the one before leads up to."""
    if following is not None and following.urls and _is_source(following.text):
        return following.urls[0][1]
    if previous is not None and previous.urls and previous.text.rstrip().endswith(":"):
        return previous.urls[-1][1]
    return None


def _is_attribution_line(line: str) -> bool:
    """Return whether a line below a block quotation says where it is from."""
    is_linked = _ATTRIBUTION.match(line) is not None and _URL.search(line) is not None
    return is_linked or _SIGNED.match(line) is not None


def _is_source(text: str) -> bool:
    """Return whether a paragraph with an address is nothing but a source.

    That is a dash and a few words, or a link with no more than names and dates: a sentence that
    has a link, a list of links and what begins a new section attribute nothing.
    """
    words = _WORD.findall(_URL.sub(" ", _LINK.sub(" ", text)))
    if _SIGNED.match(text):
        return len(words) <= _MOST_SIGNED_WORDS
    return _SOURCE.match(text) is not None and all(map(_is_of_a_source, words))


def _is_of_a_source(word: str) -> bool:
    return word.lower() in _OF_SOURCES or word[0].isupper() or word.isdecimal()


def _nearest_url(paragraph: _Paragraph, end: int) -> str | None:
    """Return the first address after a quote, else the last one before it."""
    urls = paragraph.urls
    if not urls:
        return None
    place = bisect_left(urls, end, key=lambda placed: placed[0])
    return urls[min(place, len(urls) - 1)][1]


def _is_a_quote(text: str) -> bool:
    """Return whether quotation marks hold somebody's sentence, not a word or a string."""
    if any("\u3040" <= character <= "\u9fff" for character in text):
        return len(text) >= _LEAST_CJK
    return len(text.split()) >= _LEAST_WORDS


def _fragment_ends(url: str) -> tuple[str, str] | None:
    _, directive, terms = url.partition(DIRECTIVE)
    if not directive:
        return None
    # Several directives may name one quote together.
    named_by = [part[5:] for part in f"text={terms}".split("&") if part.startswith("text=")]
    parts = [part for part in ",".join(named_by).split(",") if not part.startswith("-")]
    named = [unquote(part) for part in parts if not part.endswith("-")]
    return (named[0], named[-1]) if named else None


def _trim_url(url: str) -> str:
    """Return an address without the signs that end the sentence, or a bracket, around it."""
    end = len(url)
    unopened = url.count(")") - url.count("(")
    while end:
        if url[end - 1] == ")" and unopened > 0:
            unopened -= 1
        elif url[end - 1] not in _TRAILING:
            break
        end -= 1
    return url[:end]


def _paragraphs(document: str) -> Iterator[_Paragraph]:
    """Yield runs of lines of one kind; code, rules and blank lines separate them.

    Each heading, item of a list, row of a table and BibTeX entry is one by itself.
    """
    lines: list[str] = []
    first, kind, in_code = 1, False, False
    for number, line in enumerate([*document.splitlines(), ""], 1):
        is_fence = _FENCE.match(line) is not None
        is_quote = line.lstrip().startswith(">") and not in_code
        is_blank = not line.strip() or is_fence or in_code or _RULE.match(line) is not None
        begins = is_quote != kind or (not is_quote and _begins_anew(line, lines))
        if lines and (is_blank or begins):
            yield _make_paragraph(first, "\n".join(lines), is_quote=kind)
            lines = []
        in_code ^= is_fence
        if is_blank:
            continue
        if not lines:
            first, kind = number, is_quote
        lines.append(line.lstrip().removeprefix(">").strip() if is_quote else line)


def _begins_anew(line: str, lines: list[str]) -> bool:
    """Return whether a line is not one more of a paragraph with the given lines."""
    if lines and lines[0].lstrip().startswith("#"):
        return True
    number = _NUMBERED.match(line)
    if number is None:
        return _OPENS.match(line) is not None
    # A year can begin a line of a sentence: only in a list does any number begin an item.
    return number[1] == "1" or (bool(lines) and _NUMBERED.match(lines[0]) is not None)


def _make_paragraph(line: int, text: str, *, is_quote: bool) -> _Paragraph:
    urls = [(match.start(), _trim_url(match.group())) for match in _URL.finditer(text)]
    breaks = [place for place, character in enumerate(text) if character == "\n"]
    return _Paragraph(line=line, text=text, is_quote=is_quote, urls=urls, breaks=breaks)
