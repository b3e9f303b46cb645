"""Comments in Markdown: of HTML, of MDX and of note-taking programs."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING

from citewell.ingest.extract.markdown.code_blocks import FENCE, IndentedCode, fence_end
from citewell.ingest.extract.markdown.set_aside import SetAside

if TYPE_CHECKING:
    from collections.abc import Sequence

_PREFIX = r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+"
_COMMENT_LINE = re.compile(rf"{_PREFIX}<!--")
# Between such a tag and a blank line browsers get what is written: backticks make no code of it.
_HTML_LINE = re.compile(
    rf"{_PREFIX}</?(?:address|article|aside|blockquote|center|details|dialog|dd|div|dl|dt"
    r"|fieldset|figcaption|figure|footer|form|h[1-6]|header|hr|iframe|legend|li|main|menu|nav|ol|p"
    r"|pre|script|search|section|style|summary|table|tbody|td|textarea|tfoot|th|thead|tr|ul)"
    r"(?:[\s/>]|$)",
    re.IGNORECASE,
)
# A heading, an item or a row: code and comments of a line before it have ended.
_NEW_BLOCK = re.compile(r"[ \t>]*+(?:#{1,6}[ \t]|(?:[-*+]|\d{1,9}[.)])[ \t]|\|)")
_MDX_LINE = re.compile(
    r"export\s++(?:const|default|function)\b|import\s[^\n]*?\sfrom\s++['\"]"
    r"| {0,3}</?[A-Z][\w.]*+[\s/>]"
)
_TOKEN = re.compile(r"\\[<{%`\\]|`++|<!--")
_BACKTICKS = re.compile(r"`++")

# As definitions of links that nothing can refer to.
_UNSHOWN_LINK = re.compile(r"^ {0,3}\[[^\]\n]{1,100}\]:[ \t]*<>[ \t].*$", re.MULTILINE)
# Browsers take what begins so for comments.
_DECLARATION = re.compile(r"^ {0,3}<(?:\?|!\[CDATA\[|![A-Za-z])", re.MULTILINE)
_MDX_OPENING = re.compile(r"\{[ \t]{0,9}/\*")
_MDX_CLOSING = re.compile(r"\*/[ \t]{0,9}\}")
_PERCENT = re.compile(r"(?<![%\w])%%(?!%)(?:[^%\n]|%(?!%))++%%(?![%\w])")


def without_comments(body: str, indented: SetAside, *, is_mdx: bool = False) -> str:
    """Return a file without its comments, and with indented code set aside.

    What stands in code is code, and a comment that does not end is one only where browsers hide
    the rest of the page: at the beginning of a line, and between tags of HTML.
    """
    return _CommentReader(body, indented, is_mdx=is_mdx).read()


class _CommentReader:
    """Goes through a file block by block."""

    def __init__(self, body: str, indented: SetAside, *, is_mdx: bool) -> None:
        self._body = body
        self._lines = body.split("\n")
        self._starts = list(accumulate((len(line) + 1 for line in self._lines), initial=0))
        self._indented = indented
        self._code = SetAside("\ufdd9", "\ufdda")
        self._kept: list[str] = []
        self._text: list[str] = []
        self._paragraph: list[str] = []
        # In MDX indentation is no more than that.
        self._columns = None if is_mdx or _is_mdx(self._lines) else IndentedCode()

    def read(self) -> str:
        at = 0
        while at < len(self._lines):
            at = self._read_block(at)
        self._end_text()
        return "\n".join(self._kept)

    def _read_block(self, at: int) -> int:
        """Read the line `at`, or what begins there; return where the next thing begins."""
        line = self._lines[at]
        fence = FENCE.match(line)
        if fence:
            self._end_text()
            end = fence_end(self._lines, at + 1, fence.group(2))
            self._kept.extend(self._lines[at:end])
            self._pass_block()
            return end
        if self._columns is not None and self._columns.holds(line):
            self._end_paragraph()
            words = line.lstrip(" \t>")
            self._text.append(line[: len(line) - len(words)] + self._indented.put(words))
        elif not line.strip():
            self._end_paragraph()
            self._text.append(line)
        elif "<" in line and (_COMMENT_LINE.match(line) or _HTML_LINE.match(line)):
            return self._read_html(at)
        else:
            is_new = bool(_NEW_BLOCK.match(line))
            if is_new:
                self._end_paragraph()
            self._paragraph.append(line)
            if is_new and line.lstrip(" \t>").startswith(("#", "|")):
                self._end_paragraph()
        return at + 1

    def _read_html(self, at: int) -> int:
        """Read what browsers get as it is: a comment, or the lines up to a blank one."""
        self._end_paragraph()
        end = at + 1
        if not _COMMENT_LINE.match(self._lines[at]):
            while end < len(self._lines) and self._lines[end].strip():
                if FENCE.match(self._lines[end]):
                    break
                end += 1
        pieces: list[str] = []
        position, stop = self._starts[at], self._starts[end] - 1
        while (opening := self._body.find("<!--", position, stop)) >= 0:
            pieces.append(self._body[position:opening])
            # "<!-->" is a whole one.
            closing = self._body.find("-->", opening + 2)
            if closing < 0:
                position, end = stop, len(self._lines)
                break
            position = closing + 3
            if position > stop:
                end = bisect_right(self._starts, position - 1)
                stop = self._starts[end] - 1
        pieces.append(self._body[position:stop])
        self._text.extend("".join(pieces).split("\n"))
        self._pass_block()
        return end

    def _pass_block(self) -> None:
        if self._columns is not None:
            self._columns.pass_block()

    def _end_paragraph(self) -> None:
        if self._paragraph:
            self._text.append(self._without_comments("\n".join(self._paragraph)))
            self._paragraph.clear()

    def _end_text(self) -> None:
        """Write the text between two fences."""
        self._end_paragraph()
        if self._text:
            text = _without_other_comments("\n".join(self._text))
            self._kept.append(self._code.restore(text))
            self._text.clear()

    def _without_comments(self, text: str) -> str:
        """Return a paragraph without the comments that end in it, and with its code set aside."""
        if "`" not in text and "<!--" not in text and "\\" not in text:
            return text
        runs: defaultdict[int, list[int]] = defaultdict(list)
        for run in _BACKTICKS.finditer(text):
            runs[len(run.group())].append(run.start())
        pieces: list[str] = []
        position = at = 0
        has_closing = True
        while token := _TOKEN.search(text, at):
            mark, start, at = token.group(), token.start(), token.end()
            if mark[0] == "`":
                closing = runs[len(mark)]
                place = bisect_left(closing, at)
                if place == len(closing):
                    continue
                at = closing[place] + len(mark)
            elif mark == "<!--":
                end = text.find("-->", start + 2) if has_closing else -1
                has_closing = end >= 0
                if has_closing:
                    pieces.append(text[position:start])
                    position = at = end + 3
                continue
            pieces += [text[position:start], self._code.put(text[start:at])]
            position = at
        return "".join((*pieces, text[position:]))


def _is_mdx(lines: Sequence[str]) -> bool:
    at = 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if fence:
            at = fence_end(lines, at + 1, fence.group(2))
            continue
        if _MDX_LINE.match(lines[at]):
            return True
        at += 1
    return False


def _without_other_comments(text: str) -> str:
    """Return text whose code is set aside without what is no comment of HTML."""
    if "]:" in text:
        text = _UNSHOWN_LINK.sub("", text)
    if "<!" in text or "<?" in text:
        text = _without_declarations(text)
    if "/*" in text:
        text = _without_mdx_comments(text)
    return _without_percent_comments(text) if "%%" in text else text


def _without_declarations(text: str) -> str:
    pieces: list[str] = []
    position = 0
    for opening in _DECLARATION.finditer(text):
        if opening.start() < position:
            continue
        mark = opening.group().lstrip()
        closing = "?>" if mark == "<?" else "]]>" if mark == "<![CDATA[" else ">"
        pieces.append(text[position : opening.start()])
        end = text.find(closing, opening.end())
        position = len(text) if end < 0 else end + len(closing)
    return "".join((*pieces, text[position:]))


def _without_mdx_comments(text: str) -> str:
    pieces: list[str] = []
    position = 0
    for opening in _MDX_OPENING.finditer(text):
        if opening.start() < position:
            continue
        closing = _MDX_CLOSING.search(text, opening.end())
        if closing is None:
            break
        pieces.append(text[position : opening.start()])
        position = closing.end()
    return "".join((*pieces, text[position:]))


def _without_percent_comments(text: str) -> str:
    """Return the text without `%% … %%`, as Obsidian writes comments, in a line or over lines."""
    kept: list[str] = []
    opened: int | None = None
    for source in text.split("\n"):
        line = _PERCENT.sub("", source)
        kept.append(line)
        words = line.strip()
        if opened is not None and words.endswith("%%"):
            del kept[opened:]
            opened = None
        elif opened is None and words.startswith("%%") and not words.startswith("%%%"):
            opened = len(kept) - 1
    return "\n".join(kept)
