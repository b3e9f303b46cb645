"""Which lines of a Markdown file are code: between fences, or indented."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

FENCE = re.compile(r"^([ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*)(`{3,}(?=[^`]*$)|~{3,})")
_QUOTE = re.compile(r"(?:[ ]{0,3}>[ ]?)*+")
_LIST_ITEM = re.compile(r"([-*+]|\d{1,9}[.)])([ \t]++)(?=\S)")
# Their content is indented too: call-outs and tabs of MkDocs, definitions, footnotes.
_OTHER_CONTAINER = re.compile(r"(?:!!!|\?\?\?\+?|===\+?|:|\[\^[^\]\s]{1,100}\]:)[ \t]")
_HEADING = re.compile(r"#{1,6}[ \t]")
_CODE_COLUMNS = 4


def fence_end(lines: Sequence[str], at: int, marks: str) -> int:
    """Return the line after the closing fence; an open fence ends with the file."""
    for i in range(at, len(lines)):
        words = lines[i].strip(" \t>")
        if words.startswith(marks) and not words.strip(marks[0]):
            return i + 1
    return len(lines)


class IndentedCode:
    """Told line by line, says which is code because it is indented."""

    def __init__(self) -> None:
        self._columns: list[int] = []
        """Where the content of each open list item or call-out begins."""
        self._quote = 0
        self._is_after_blank = self._can_begin = True

    def holds(self, line: str) -> bool:
        """Return whether the next line is code."""
        prefix = _QUOTE.match(line)
        assert prefix is not None, "it may be empty"
        words = line[prefix.end() :].expandtabs(_CODE_COLUMNS)
        depth = prefix.group().count(">")
        if depth != self._quote:
            self._quote, self._is_after_blank, self._can_begin = depth, True, True
            self._columns.clear()
        if not words.strip():
            self._is_after_blank = self._can_begin = True
            return False
        column = len(words) - len(words.lstrip())
        words = words.lstrip()
        item = _LIST_ITEM.match(words)
        if self._is_after_blank or item or _HEADING.match(words):
            while self._columns and column < self._columns[-1]:
                self._columns.pop()
        if self._can_begin and column - (self._columns[-1] if self._columns else 0) >= 4:
            self._is_after_blank = False
            return True
        self._is_after_blank = False
        self._can_begin = bool(_HEADING.match(words))
        self._open(words, column)
        return False

    def pass_block(self) -> None:
        """Go on after a block that is no paragraph, so that code may follow at once."""
        self._is_after_blank = self._can_begin = True

    def _open(self, words: str, column: int) -> None:
        if _OTHER_CONTAINER.match(words):
            self._columns.append(column + _CODE_COLUMNS)
            return
        position = 0
        while item := _LIST_ITEM.match(words, position):
            mark, spaces = item.groups()
            width = len(spaces) if len(spaces) <= _CODE_COLUMNS else 1
            self._columns.append(column + item.start() + len(mark) + width)
            position = item.end()
