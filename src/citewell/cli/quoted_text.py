"""Quotes as a terminal shows them: code and tables as such, also where a quote is a part of one."""

from __future__ import annotations

import re
from itertools import dropwhile
from typing import TYPE_CHECKING, ClassVar

from rich import box
from rich.markdown import CodeBlock, Markdown, MarkdownElement, TableElement
from rich.segment import Segment
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from citewell.core.text import show_controls

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

_MOST_LINES = 14
# If the cut would leave fewer lines of code than this, the quote is shown from the code on.
_LEAST_CODE = 4
_FENCE = re.compile(r"([ >]*+)(`{3,})")
# Code is matched first: it is shown as it is. Rich drops HTML, but a page that writes of <title>
# means the word; and it prints an address that it does not link beside the text of the link.
_FOR_RICH = re.compile(
    r"(?P<code>^[ >]*+```.*?(?:\n[ >]*+```|\Z)|(?<!`)(?P<ticks>`++)[^`\n]++(?P=ticks))"
    r"|\[(?P<linked>[^\[\]\n]*)\]\((?!https?:)[^()\s]*\)"
    r"|(?P<tag><)(?=[A-Za-z/!?])",
    re.DOTALL | re.MULTILINE,
)
_DELIMITER_ROW = re.compile(r"\|[-:| ]*+(?:\n|\Z)")
_CELL_END = re.compile(r"(?<!\\)\|")


def shorten(text: str, opening: str = "") -> tuple[str, int]:
    """Return the first lines of a quote, and how many more there are; blank ones do not count.

    `opening` is what `opening_of` returns for the quote.
    """
    lines = text.split("\n")
    codes = _code_numbers(lines, is_code=_FENCE.match(opening) is not None)
    counting = [place for place, code in enumerate(codes) if code is not None]
    if len(counting) <= _MOST_LINES + 2:
        return text, 0
    end = counting[_MOST_LINES]
    kept = _MOST_LINES
    if 0 < (codes[end] or 0) <= _LEAST_CODE:
        # What leads in to code says little without it.
        while kept < 2 * _MOST_LINES and kept < len(counting) and codes[counting[kept]]:
            kept += 1
        if kept == len(counting):
            return text, 0
        end = counting[kept]
    return "\n".join(lines[:end]).rstrip(), len(counting) - kept


def as_markdown(text: str, opening: str = "") -> Markdown:
    """Return a quote that rich can print."""
    shown = _FOR_RICH.sub(_for_rich, show_controls(_opened(text, opening)))
    return _QuoteMarkdown(shown, code_theme="ansi_dark")


def _for_rich(match: re.Match[str]) -> str:
    if match["code"]:
        return match["code"]
    return r"\<" if match["tag"] else _FOR_RICH.sub(_for_rich, match["linked"])


def _code_numbers(lines: list[str], *, is_code: bool) -> list[int | None]:
    """Return the place of each line in its code, 0 outside; None for fences and blank lines."""
    numbers: list[int | None] = []
    place = 0
    for line in lines:
        if _FENCE.match(line):
            is_code, place = not is_code, 0
            numbers.append(None)
        elif line.strip():
            place = place + 1 if is_code else 0
            numbers.append(place)
        else:
            numbers.append(None)
    return numbers


def _opened(text: str, opening: str) -> str:
    """Return the quote with its opening; rows without a header get one that is empty."""
    fence = _FENCE.match(opening)
    if fence is not None:
        # Behind four spaces a fence would be parsed as text.
        before, ticks = fence.groups()
        code, closing, after = _until_closed(text, ticks)
        bare = _without_prefix(code, before)
        return opening.removeprefix(before) + bare + closing.lstrip(" >") + after
    first, _, rest = text.partition("\n")
    if opening or not first.startswith("|") or _DELIMITER_ROW.match(rest):
        return opening + text
    columns = max(1, len(_CELL_END.findall(first.rstrip())) - first.rstrip().endswith("|"))
    return f"|{'  |' * columns}\n|{' --- |' * columns}\n{text}"


def _until_closed(text: str, fence: str) -> tuple[str, str, str]:
    closing = re.compile(rf"^[ >]*+{fence}$", re.MULTILINE).search(text)
    if closing is None:
        return text, "", ""
    return text[: closing.start()], closing[0], text[closing.end() :]


def _without_prefix(code: str, prefix: str) -> str:
    """Return the code without what stands before its fence: spaces, or the sign of a quotation."""
    if not prefix:
        return code
    signs = prefix.rstrip()
    pattern = rf"^{signs} ?" if signs else rf"^ {{1,{len(prefix)}}}"
    return re.sub(pattern, "", code, flags=re.MULTILINE)


class _Code(CodeBlock):
    """Code without blank lines of its own: rich's Markdown puts one before it and one after."""

    @override
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, padding=(0, 1))


class _Table(TableElement):
    """A table without blank lines of its own, whose header is shown only if it says anything."""

    @override
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        header = None if self.header is None else self.header.row
        names = [] if header is None else [cell.content for cell in header.cells]
        names = names if any(name.plain.strip() for name in names) else []
        table = Table(
            box=box.SIMPLE if names else None,
            show_header=bool(names),
            show_edge=False,
            pad_edge=False,
            padding=(0, 1) if names else (0, 2, 0, 0),
            collapse_padding=bool(names),
        )
        for name in names:
            table.add_column(Text.assemble((name.plain, "bold")))
        for row in self.body.rows if self.body is not None else ():
            table.add_row(*(cell.content for cell in row.cells))
        yield table


class _QuoteMarkdown(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "fence": _Code,
        "code_block": _Code,
        "table_open": _Table,
    }

    @override
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # Rich begins a table with a blank line, also where nothing stands before it.
        rendered = super().__rich_console__(console, options)
        return dropwhile(lambda each: isinstance(each, Segment) and each.text == "\n", rendered)
