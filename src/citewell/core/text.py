"""Cutting text into sentences with exact offsets, and making it safe to show."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Span = tuple[int, int]

_FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})")
_FENCE_CHARACTERS = ("`", "~")
_FENCES = ("```", "~~~")
# A word of a sentence, perhaps in quotation marks and with a comma, or a number.
_PROSE_WORD = re.compile(
    r"[\"'(]{0,2}(?:[A-Z]?[a-z]+(?:['’-][a-z]+)*|[AI]|[A-Z]{2,5}|\d+)[\"')]{0,2}[.,;:?!]?"
)
_LEAST_PROSE = 8
_PROSE_SHARE = 0.75
# What begins a span that is never split: a fence, a table row, a heading.
_WHOLE = ("```", "~~~", "|", "#")
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+")
# A run of marks is tried once, from its first mark on: a page of dots would be tried from each.
_SENTENCE_END = re.compile(r"[.?!](?<![.?!].)[.?!]*+[\"'”’)\]*_`]*+(?=\s)|[。！？]++[」』）】”’]*+")
_NEXT_LETTER = re.compile(r"\S")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|al|fig|no|vol|approx|resp|dr|mr|mrs|ms|prof|st|inc|ltd|jr|sr|u\.s)"
    r"|\b[A-Za-z]|^\s*\d{1,3})\.$",
    re.IGNORECASE,
)
_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^()\s]*(?: \"([^\"]*)\")?\)")
_TABLE_PADDING = re.compile(r"(?<! ) {2,}(?=\|)|^\|[-|: ]+\|$\n?", re.MULTILINE)
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)

# A page could otherwise move the cursor, retitle the window, or turn round what stands beside it.
_OBEYED = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CONTROL = re.compile(f"[{_OBEYED}]")
_OBEYED_IN_JSON = re.compile(f"[{_OBEYED}\u2028\u2029\ud800-\udfff]")
_CONTROL_OR_BREAK = re.compile(rf"[{_OBEYED}\t\n\u2028\u2029]")


def show_controls(text: str) -> str:
    """Return `text` with control and direction characters as pictures, so that none is obeyed.

    Line feeds and tabs stay.
    """
    return _CONTROL.sub(_control_picture, text)


def safe_json(value: object) -> str:
    """Return `value` as indented JSON, in which a terminal finds no character to obey."""
    written = json.dumps(value, ensure_ascii=False, indent=2)
    return _OBEYED_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 page", "1,200 pages"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural or f'{noun}s'}"


def join_lines(lines: Iterable[str]) -> str:
    """Return one line for each of `lines`: line breaks and controls within one become pictures."""
    return "\n".join(_CONTROL_OR_BREAK.sub(_control_picture, line) for line in lines)


def one_line(text: str, *, limit: int = 200) -> str:
    """Return `text` on one line, without characters a reader cannot see, cut to `limit`."""
    plain = " ".join(_UNSEEN.sub("", text).split())
    return plain if len(plain) <= limit else plain[: limit - 1].rstrip() + "…"


def without_closing_hashes(heading: str) -> str:
    """Return the words of a Markdown heading without the hashes that may close it."""
    words = heading.rstrip()
    bare = words.rstrip("#")
    is_closed = bare != words and (not bare or bare[-1].isspace())
    return bare.rstrip() if is_closed else words


def as_read(markdown: str) -> str:
    """Return Markdown as a model reads it: links by their words, tables without their padding.

    The address of a page must not decide what is found on it, and takes the room of its words.
    """
    text = markdown
    if "](" in text:
        # Few links have a caption; without one Python need not be called for each of them.
        text = _LINK.sub(_link_words if '"' in text else itemgetter(1), text)
    return _TABLE_PADDING.sub("", text) if "|" in text else text


def preformatted_prose(block: str) -> str | None:
    """Return the text of a fenced block that holds sentences rather than code, else None.

    Manuals that were converted from plain text put their paragraphs into such blocks.
    """
    fence = block[:3]
    if fence not in _FENCES or not block.startswith("\n", len(fence)):
        return None
    inner = block[len(fence) :].removesuffix(fence)
    tokens = inner.split()
    plain = [token for token in tokens if _PROSE_WORD.fullmatch(token)]
    has_sentence = any(token.endswith(".") for token in plain)
    is_prose = len(tokens) >= _LEAST_PROSE and len(plain) >= _PROSE_SHARE * len(tokens)
    return inner.strip("\n") if is_prose and has_sentence else None


def sentence_spans(text: str) -> list[Span]:
    """Return where the sentences of Markdown `text` stand, in order, white space trimmed.

    A fenced code block, a table row, a heading and a line in bold are one span each; a list item
    begins a new one.
    """
    spans: list[Span] = []
    for start, end in _paragraphs(text):
        if text.startswith(_WHOLE, after_quote_marks(text, start)) or _is_name(text, start, end):
            spans.append((start, end))
        else:
            spans.extend(_sentences(text, start, end))
    return spans


@lru_cache(maxsize=512)
def chunk_sentences(chunk: str) -> tuple[Span, ...]:
    """Return the `sentence_spans` of a chunk; those of a question are ranked, judged, compared."""
    return tuple(sentence_spans(chunk))


def _paragraphs(text: str) -> list[Span]:
    """Return fences, rows, headings, items and paragraphs, each as one span."""
    spans: list[Span] = []
    start, position, fence = -1, 0, ""

    def close(end: int) -> None:
        nonlocal start
        if start >= 0 and (trimmed := trim_span(text, start, end)):
            spans.append(trimmed)
        start = -1

    for line in text.splitlines(keepends=True):
        end = position + len(line)
        bare = line.lstrip("> \t")
        # Most lines begin with a letter, and are neither of these.
        first = bare[:1].strip()
        mark = _FENCE.match(line) if first in _FENCE_CHARACTERS else None
        if fence:
            if mark and mark.group(1).startswith(fence) and not line.strip("> `~\r\n"):
                fence = ""
                close(end)
        elif mark:
            close(position)
            start, fence = position, mark.group(1)
        elif not first:
            close(position)
        elif first in "|#":
            close(position)
            start = position
            close(end)
        elif start < 0 or (not first.isalpha() and _ITEM.match(bare)):
            close(position)
            start = position
        position = end
    close(len(text))
    return spans


def _is_name(text: str, start: int, end: int) -> bool:
    """Return whether all of a line is in bold: the name of a table, an example or a term."""
    is_bold = text.startswith("**", start) and text.endswith("**", start, end)
    return is_bold and text.count("**", start, end) == 2 and "\n" not in text[start:end]


def _sentences(text: str, start: int, end: int) -> list[Span]:
    spans: list[Span] = []
    begin = start
    for match in _SENTENCE_END.finditer(text, start, end):
        if _ABBREVIATION.search(text[max(begin, match.end() - 12) : match.end()]):
            continue
        # A mark before a backtick is part of the code: "`git add .` to add all".
        following = _NEXT_LETTER.search(text, match.end(), end) if "`" in match.group() else None
        if following is not None and following.group().islower():
            continue
        if trimmed := trim_span(text, begin, match.end()):
            spans.append(trimmed)
        begin = match.end()
    if trimmed := trim_span(text, begin, end):
        spans.append(trimmed)
    return spans


def after_quote_marks(text: str, start: int) -> int:
    """Return where a line that begins at `start` goes on after the marks of block quotes."""
    while text.startswith((">", " "), start):
        start += 1
    return start


def trim_span(text: str, start: int, end: int) -> Span | None:
    """Return the span without white space at either end; None when nothing else is left."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


def _link_words(link: re.Match[str]) -> str:
    words, caption = link.groups()
    return f"{words} {caption}".strip() if caption else words


def _control_picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "\N{REPLACEMENT CHARACTER}"
