"""Pieces of a page's Markdown, each readable without the others."""

from __future__ import annotations

import re

from citewell.core.page_slice import open_fence, table_header
from citewell.core.tokens import count_tokens, truncate_to_tokens

# No ordinary text has more characters to a token; cutting here first keeps counting cheap.
_CHARACTERS_PER_TOKEN = 12
_FENCE = re.compile(r"(`{3,})[^`\n]*+\n")
# A table's header is repeated over each piece of it, unless it takes this much room.
_MAX_HEADER_CHARACTERS = 1_000


def cut_piece(text: str, start: int, *, max_tokens: int) -> str:
    """Return the whole paragraphs from `start` on that fit.

    A paragraph that does not fit is cut where the others leave half of the room or more. A code
    block counts as one paragraph. It is cut after a line, as tables and lists are.
    """
    left = max_tokens
    end = start
    reach = start + _CHARACTERS_PER_TOKEN * max_tokens
    while end < len(text) and left > 0:
        stop = _paragraph_end(text, end, reach)
        paragraph = text[end : stop if stop is not None else reach]
        cost = count_tokens(paragraph)
        if cost > left or (stop is None and reach < len(text)):
            if 2 * left >= max_tokens:
                end += len(_begin(paragraph, left))
            break
        end += len(paragraph)
        left -= cost
    return text[start:end]


def as_whole_blocks(text: str, start: int, piece: str) -> str:
    """Return the piece of `text` at `start` so that the code and tables which it cuts stay such.

    Code is fenced, and the rows of a table stand under its header.
    """
    before = open_fence(text[:start])
    after = open_fence(piece, before)
    shown = piece.strip("\n")
    if before and start:
        shown = f"{before}\n{shown}"
    elif start:
        shown = _table_head(text, start) + shown
    return f"{shown}\n{after}" if after else shown


def _begin(paragraph: str, max_tokens: int) -> str:
    """Return the beginning of a paragraph, up to a line's or a sentence's end if one is near."""
    cut = truncate_to_tokens(paragraph, max_tokens)
    for end in (cut.rfind("\n") + 1, cut.rfind(". ") + 2):
        if 2 * end > len(cut):
            return cut[:end]
    return cut


def _paragraph_end(text: str, start: int, reach: int) -> int | None:
    """Return where the paragraph ends, the blank line after it included; None beyond `reach`."""
    fence = _FENCE.match(text, start)
    if fence is not None:
        closing = text.find(f"\n{fence.group(1)}\n", start, reach)
        start = start if closing < 0 else closing + 1
        if closing < 0 and len(text) > reach:
            return None
    stop = text.find("\n\n", start, reach)
    return stop + 2 if stop >= 0 else None


def _table_head(text: str, start: int) -> str:
    """Return what a piece that begins inside a table lacks: its header, and its row's beginning."""
    row = text.rfind("\n", 0, start) + 1
    if not text.startswith("|", row):
        return ""
    header = table_header(text, start)
    is_short = header is not None and len(header[0]) <= _MAX_HEADER_CHARACTERS
    head = "".join(f"{line}\n" for line in header) if header is not None and is_short else ""
    if row == start:
        return head
    # The cells before the one that was cut say what the rest of it is about.
    cells = text[row:start].rpartition(" | ")[0]
    return f"{head}{cells[:_MAX_HEADER_CHARACTERS]} | … " if cells else f"{head}| … "
