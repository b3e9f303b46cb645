"""Canonical Markdown as a browser shows it: the words alone, one block to a line."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from citewell.core.folding import FoldedTextWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.folding import FoldedText

# An item of a list can open with code; no item closes it.
_FENCE = re.compile(r"[ \t>]{0,20}+((?:[-+*]|\d{1,3}+[.)])[ \t]{1,4}+)?+(`{3,}+|~{3,}+)")
_FENCE_AT_LINE = re.compile(rf"^(?:{_FENCE.pattern})", re.MULTILINE)
# Code inside of a block quote has the quote's mark on every line.
_QUOTED = ">"
_QUOTE_MARK = re.compile(r"[ \t]{0,20}+>[ ]?")
_LINE_MARK = re.compile(
    r"(?:[ \t]{0,40}+(?:>|(?:\#{1,6}+|[-+*]|\d{1,3}+[.)]|\[[ x]\])(?=[ \t])))*+[ \t]*+"
)
# How the extractor begins a call-out, whose own title is a block by itself.
_LABEL = re.compile(r"[ℹ⚠]\ufe0f (?:[A-Z ]{2,30}+:(?: |$))?")
_STARS = re.compile(r"\*+")
_RULE = re.compile(r"[ \t|:*_=-]*+")
# An image or a formula breaks the text around it for a browser, and so may the title of a call-out.
OBJECT = "\n\ufffc\n"
# All repeats are bounded or possessive, so that no page can make the search slow.
_MARKUP = re.compile(
    r"""(?P<code>(?<!`)(?P<ticks>`{1,3}+)(?P<inside>[^`\n]{1,2000}+)(?P=ticks)(?!`))
    |(?P<image>!\[[^\[\]\n]{0,1000}+\]\([^()\s]{0,2000}+(?:\ "[^"\n]{0,500}+")?\))
    |(?P<cell>(?<!\\)\|)
    |(?P<term>(?<!:):(?:\ |$)|(?<=\*\*),\ (?=\*\*))
    |(?P<math>(?<!\w)\${1,2}+(?=[^\s$])[^$\n]{1,1000}+(?<=\S)\${1,2}+(?!\d))
    |(?P<strong>\*{2,3}+)
    |(?P<star>(?P<opening>(?<![a-zA-Z0-9_*])\*(?=[^\s*,)][^*\n]{0,500}+\*(?:\*\*)?+(?![a-zA-Z0-9_*])))
        |(?<=[^\s*])\*(?![a-zA-Z0-9_*]))
    |(?P<dropped>\]\([^()\s]{0,20000}+\)|\\(?=[\\`*_{}\[\]()\#+.!|<>~-])|~~
        |\[(?=(?:[^\[\]\n]{1,2000}+|\[[^\[\]\n]{1,200}+\])\]\())""",
    re.VERBOSE,
)


def extract_visible_text(text: str, *, fence: str = "") -> FoldedText:
    """Return what a reader sees of canonical `text`, and where each run of it stands.

    `fence` is the code fence that is open where `text` begins, if it is a part of a page.
    """
    writer = FoldedTextWriter()
    position = 0
    for line in _lines(text):
        body = line.rstrip("\n")
        was_open, fence = bool(fence), _next_fence(fence, body)
        if was_open and fence:
            mark = _QUOTE_MARK.match(body) if fence.startswith(_QUOTED) else None
            inside = mark.end() if mark else 0
            writer.add(body[inside:], position + inside, position + len(body))
        elif not was_open and not fence and not _RULE.fullmatch(body):
            _extract_line(body, position, writer)
        writer.add("\n", position + len(body), position + len(line))
        position += len(line)
    return writer.finish()


def open_fences(text: str, line_starts: Sequence[int]) -> list[str]:
    """Return the code fence that is open at the start of each line, "" outside of code.

    A fence inside of a block quote begins with ">".
    """
    fence = ""
    fences: list[str] = []
    for mark in _FENCE_AT_LINE.finditer(text):
        fences += [fence] * (bisect_right(line_starts, mark.start()) - len(fences))
        fence = _next_fence(fence, mark.group())
    return fences + [fence] * (len(line_starts) - len(fences))


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*+\n|[^\n]++", text)


def _next_fence(fence: str, line: str) -> str:
    mark = _FENCE.match(line)
    if mark is None or (fence and mark.group(1)):
        return fence
    if not fence:
        return (_QUOTED if _QUOTED in mark.group() else "") + mark.group(2)
    return "" if mark.group(2).startswith(fence.lstrip(_QUOTED)) else fence


def _extract_line(line: str, offset: int, writer: FoldedTextWriter) -> None:
    mark = _LINE_MARK.match(line)
    position = mark.end() if mark else 0
    if label := _LABEL.match(line, position):
        writer.add(OBJECT, offset + position, offset + label.end())
        position = label.end()
    # Cells are blocks of their own, and so are a term and its definition.
    is_row, defines = line.startswith("|", position), line.startswith("**", position)
    is_open = is_strong = False
    for match in _MARKUP.finditer(line, position):
        writer.add(line[position : match.start()], offset + position, offset + match.start())
        position = match.end()
        start, end = match.span("inside") if match["code"] else match.span()
        written = match.group()
        if match["code"]:
            written = match["inside"].replace(r"\|", "|") if is_row else match["inside"]
        elif match["image"] or match["math"]:
            written = OBJECT
        elif (match["cell"] and is_row) or (match["term"] and defines):
            written = "\n"
        elif match["star"]:
            # A star without its pair is the page's own.
            opens = not is_open and match["opening"] is not None
            written = "" if is_open or opens else written
            is_open = opens
        elif match["strong"]:
            # Two stars before an argument are the page's own.
            closes = is_strong and line[start - 1] not in " \t(,["
            opens = not is_strong and "**" in line[end:] and line[end : end + 1].strip() != ""
            written = "" if closes or opens else written
            is_strong = opens or (is_strong and not closes)
            if len(match["strong"]) > len("**"):
                # Three stars open or close emphasis as well, which one star may end or begin.
                following = _STARS.search(line, end)
                is_open = opens and following is not None and following.group() == "*"
        elif match["dropped"]:
            written = ""
        writer.add(written, offset + start, offset + end)
    writer.add(line[position:], offset + position, offset + len(line))
