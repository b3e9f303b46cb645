"""What a slice of a page's Markdown lacks to be read alone: its table's header, its code's end."""

from __future__ import annotations

import re

_BLANK_ROWS = re.compile(r"(?:\|[-:| ]*+(?:\n|\Z))*+")
_DELIMITER_ROW = re.compile(r"\|[-:| ]*+")
# What a sentence, a clause or a bracket ends with, as Markdown writes it.
_ENDS_CLAUSE = re.compile(r"[.!?:;…。！？：；][\"'”’»」』)\]*_`]{0,6}+\s*+\Z")
# What can stand before the first sentence of a line: signs of items, quotations and headings.
_LINE_MARKS = " \t>-*+#0123456789.)"
# Code can stand in an item or in a block quote.
_FENCE_LINE = re.compile(r"^ *+((?:> *+)*+`{3,})([^`\n]*+)$", re.MULTILINE)


def table_header(text: str, start: int) -> tuple[str, str] | None:
    """Return the header row and the delimiter row of the table that `start` lies in the body of."""
    row = text.rfind("\n", 0, start) + 1
    if not text.startswith("|", row):
        return None
    blank = text.rfind("\n\n", 0, row)
    header, delimiter, *_ = [*text[blank + 2 if blank >= 0 else 0 : row].split("\n", 2), "", ""]
    is_header = header.startswith("|") and _DELIMITER_ROW.fullmatch(delimiter) is not None
    return (header, delimiter) if is_header else None


def after_blank_rows(text: str, start: int, end: int) -> int:
    """Return where a slice begins to say something: after the blank header of a table without one.

    It is `start` where the slice has nothing but such rows.
    """
    match = _BLANK_ROWS.match(text, start, end)
    return start if match is None or match.end() >= end else match.end()


def column_names(text: str, start: int) -> str:
    """Return the names of the columns of the table that `start` lies in the body of, or ""."""
    header = table_header(text, start)
    if header is None:
        return ""
    return " | ".join(cell.strip() for cell in header[0].strip("| ").split(" | "))


def stops_inside(text: str, end: int) -> bool:
    """Return whether `end` lies inside a table or a code block that goes on after it."""
    following = text[end : end + 2].lstrip("\n")[:1]
    is_row = following == "|" and text.rfind("\n|", 0, end) > text.rfind("\n\n", 0, end)
    return is_row or bool(open_fence(text[:end]))


def stops_in_sentence(text: str, end: int) -> bool:
    """Return whether the line that `end` lies in goes on with more of the same sentence."""
    line_end = text.find("\n", end)
    goes_on = bool(text[end : line_end if line_end >= 0 else None].strip())
    return goes_on and _ENDS_CLAUSE.search(text, max(0, end - 20), end) is None


def starts_inside(text: str, start: int) -> bool:
    """Return whether `start` lies inside a sentence, after its beginning, or inside a table row."""
    line = text.rfind("\n", 0, start) + 1
    before = text[line:start]
    if not before.strip(_LINE_MARKS):
        return False
    return before.startswith("|") or _ENDS_CLAUSE.search(before[-20:]) is None


def opening_of(text: str, start: int) -> str:
    """Return what makes Markdown of a slice that begins at `start` inside code or a table.

    It is the line that opens the code, or the header and the delimiter row of the table, each with
    its newline; "" where the slice needs none.
    """
    if opening := fence_line(text, start):
        return f"{opening}\n"
    header = None if text[start - 1 : start].strip("\n") else table_header(text, start)
    return "" if header is None else "\n".join((*header, ""))


def fence_line(text: str, offset: int) -> str:
    """Return the line that opens the code that `offset` lies in, "" outside of code."""
    opening: re.Match[str] | None = None
    for match in _FENCE_LINE.finditer(text, 0, offset):
        if opening is None:
            opening = match
        elif _closes(match, opening[1]):
            opening = None
    return "" if opening is None else opening[0]


def open_fence(text: str, fence: str = "") -> str:
    """Return the fence that is open at the end of `text`, where `fence` is open at its start.

    In a block quote it begins with the quotation's sign.
    """
    for match in _FENCE_LINE.finditer(text):
        if not fence:
            fence = match[1]
        elif _closes(match, fence):
            fence = ""
    return fence


def _closes(line: re.Match[str], fence: str) -> bool:
    return line[1].count("`") == fence.count("`") and not line[2]
