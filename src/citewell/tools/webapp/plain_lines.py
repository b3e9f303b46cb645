"""Stored text as a person reads it where it cannot be rendered: line by line, without marks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.ingest.extract.canonical import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCE = re.compile(r"[ \t]*+(?:```|~~~)")
_RULE_OF_TABLE = re.compile(r"[ \t]*+\|?+(?:[ \t]*+:?+-++:?+[ \t]*+\|)++[ \t:|-]*+")
_CELL_END = re.compile(r"(?<!\\)\|")
# An item that was added or removed has the mark of that before its own.
_ITEM = re.compile(r"([ \t]*+(?:\{\+|\[-)?+)[-*+][ \t]++")
_BLOCK_MARK = re.compile(r"[ \t]*+(?:#{1,6}|>)[ \t]++")


def plain_lines(text: str) -> str:
    """Return the text without the marks of Markdown; code stays as it is."""
    return "\n".join(_plain_lines(text)).strip("\n")


def _plain_lines(text: str) -> Iterator[str]:
    is_code = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            is_code = not is_code
        elif is_code:
            yield line
        elif not _RULE_OF_TABLE.fullmatch(line):
            yield _plain_line(line)


def _plain_line(line: str) -> str:
    if line.lstrip().startswith("|"):
        cells = _CELL_END.split(line.strip().strip("|"))
        return " · ".join(plain_text(cell.replace("\\|", "|")) for cell in cells)
    item = _ITEM.match(line)
    if item is not None:
        return f"{item[1]}• {plain_text(line[item.end() :])}"
    mark = _BLOCK_MARK.match(line)
    return plain_text(line[mark.end() :] if mark else line)
