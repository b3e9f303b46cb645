"""Answers as a person at a terminal reads them: the best quotes, their sources, and what to try."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from rich.cells import cell_len
from rich.console import Console, Group
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from citewell.cli.openings import OPENING
from citewell.cli.quoted_text import as_markdown, shorten
from citewell.cli.shell_errors import translated
from citewell.core.boundary import unbracketed
from citewell.core.frozen import frozen
from citewell.core.question import parse_query
from citewell.core.text import counted, show_controls
from citewell.core.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import ConsoleOptions, RenderableType, RenderResult

Shape = Mapping[str, Any]

_MOST_QUOTES = 5
_SURE_QUOTES = 3
# From the fourth on, a quote is shown only if it has this share of the best one's relevance.
_LEAST_SHARE = 1 / 3
_MOST_LINKS = 3
_WORTH_BOLD = 0.4
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_BOLD = Style(bold=True)
# Rich's own style has a black background, which is a blot on a white terminal.
THEME = Theme({"markdown.code": "cyan", "markdown.link_url": "none", "markdown.link": "none"})
_MARK_WIDTH = 4
_BETWEEN = " · "
_LEVEL = " › "
# For models, which can ask to follow more links; people see how many pages were fetched.
_NO_LINKS_FOLLOWED = "No expansion performed"


def print_answer(result: Shape, *, question: str, is_full: bool, seconds: float) -> None:
    """Print the best quotes of a research result, or everything that was quoted when `is_full`.

    `seconds` is how long the person waited, with reading the files that were asked.
    """
    console = Console(highlight=False, theme=THEME)
    console.print(AnswerView(result=result, question=question, is_full=is_full, seconds=seconds))


@frozen
class AnswerView:
    """A research result that rich can print."""

    result: Shape
    question: str
    seconds: float
    is_full: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the quotes, or that there are none, and a line on what was searched."""
        quotes = self.result["evidence"]
        shown = quotes if self.is_full else _best(quotes)
        if shown:
            yield from self._cautions()
            sources = {source["number"]: source for source in self.result["sources"]}
            asked = _words_asked(self.question)
            for number, quote in enumerate(shown, start=1):
                yield self._quote(number, quote, sources[quote["source"]], asked)
        else:
            yield from self._abstention()
        yield from self._failures()
        yield self._summary(shown=len(shown))

    def _quote(self, number: int, quote: Shape, source: Shape, asked: frozenset[str]) -> Group:
        text, opening = quote["text"], quote.get(OPENING, "")
        text, omitted = (text, 0) if self.is_full else shorten(text, opening)
        body: list[RenderableType] = []
        if quote.get("is_cut_before"):
            body.append(Text("cut before this …", style="dim"))
        body.append(_Emphasised(as_markdown(text, opening), asked))
        if omitted:
            body.append(Text(f"… {counted(omitted, 'more line')}", style="dim"))
        elif quote.get("is_cut"):
            body.append(Text("… cut here", style="dim"))
        body.append(_SourceLine(quote, source))
        if self.is_full and quote.get("id"):
            sure = quote.get("confidence") or quote["relevance"]
            body.append(Text(f"{quote['id']}{_BETWEEN}confidence {sure:.2f}", style="dim"))
        mark = Text(f"{number:>2}  ", style="bold cyan")
        return Group(_Marked(Group(*body), mark), Text())

    def _cautions(self) -> Iterator[Text]:
        if notice := self.result.get("notice"):
            yield Text.assemble(("Careful: ", "bold yellow"), show_controls(unbracketed(notice)))
            yield Text()

    def _abstention(self) -> Iterator[Text]:
        searched = self.result["stats"]["documents_searched"]
        if not searched:
            yield Text("Nothing is indexed, so nothing was searched.", style="bold")
            yield Text('Try: citewell ask URL "…", or citewell ingest URL first.\n')
            return
        checked = self.result.get("pages_checked") or []
        # Of a whole library, the first few say nothing.
        titles = ", ".join(map(_title, checked)) if searched <= _MOST_LINKS else ""
        pages = counted(searched, "page") if searched > 1 else "page"
        yield Text.assemble(
            (f"Nothing in the {pages} searched answers this", "bold"),
            f" ({titles})." if titles else ".",
            " ",
            show_controls(unbracketed(self.result.get("notice") or "")),
        )
        links = (self.result.get("links_not_followed") or [])[:_MOST_LINKS]
        if links:
            yield Text("Try other words, or a page that is linked from there:")
            yield from (Text.assemble("  ", _linked(_title(link), link["url"])) for link in links)
        else:
            yield Text('Try other words, or citewell ask URL "…" with another page.')
        yield Text()

    def _failures(self) -> Iterator[Text]:
        for failure in (*(self.result.get("failures") or ()), *(self.result.get("warnings") or ())):
            reason = show_controls(failure["reason"].replace(failure["url"], "it"))
            url = _linked(show_controls(failure["url"]), failure["url"])
            yield Text.assemble(("not read: ", "bold red"), url, f" — {reason}")

    def _summary(self, *, shown: int) -> Text:
        stats = self.result["stats"]
        parts = [f"{counted(stats['documents_searched'], 'page')} searched"]
        if stats["urls_ingested"]:
            parts.append(f"{stats['urls_ingested']} fetched")
        parts.append(f"{self.seconds:.1f} s")
        if (left := len(self.result["evidence"]) - shown) > 0:
            parts.append(f"{counted(left, 'more quote')}: --full")
        elif not self.is_full and shown:
            parts.append("--full shows whole quotes with their ids")
        # Pages that could not be read are listed above; notes about them would repeat that.
        failed = tuple(f"{failure['url']} " for failure in self.result.get("failures") or ())
        notes = [
            f"\n{show_controls(translated(note))}"
            for note in stats.get("notes") or []
            if not note.startswith((*failed, _NO_LINKS_FOLLOWED))
        ]
        return Text(_BETWEEN.join(parts) + "".join(notes), style="dim")


@dataclass(frozen=True, slots=True)
class _Marked:
    """Something with a mark before its first line, and the other lines below the first."""

    body: RenderableType
    mark: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines, without the blanks that fill them up."""
        inner = options.update_width(max(1, options.max_width - _MARK_WIDTH))
        for number, line in enumerate(console.render_lines(self.body, inner, pad=False)):
            while line and not line[-1].text.strip():
                line.pop()
            line[-1:] = [Segment(last.text.rstrip(), last.style) for last in line[-1:]]
            yield from self.mark.render(console) if number == 0 else (Segment(" " * _MARK_WIDTH),)
            yield from line
            yield Segment.line()


@dataclass(frozen=True, slots=True)
class _Emphasised:
    """Something with some of its words in bold, and no link but to the web."""

    body: RenderableType
    words: frozenset[str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the segments, cut where a word begins and ends."""
        for segment in console.render(self.body, options):
            if segment.control:
                continue
            style = _safe_style(segment.style)
            position = 0
            for match in _WORD.finditer(segment.text):
                if not self.words.isdisjoint(words(match[0])):
                    yield Segment(segment.text[position : match.start()], style)
                    yield Segment(match[0], _BOLD if style is None else style + _BOLD)
                    position = match.end()
            yield Segment(segment.text[position:], style)


def _best(quotes: Sequence[Shape]) -> Sequence[Shape]:
    """Return the first three, and up to two more that are not much less relevant."""
    least = quotes[0]["relevance"] * _LEAST_SHARE if quotes else 0
    return [
        quote
        for place, quote in enumerate(quotes[:_MOST_QUOTES])
        if place < _SURE_QUOTES or quote["relevance"] >= least
    ]


def _words_asked(question: str) -> frozenset[str]:
    """Return the search words of the question that say what it is about."""
    weights = parse_query(question).weights
    return frozenset(word for word, weight in weights.items() if weight >= _WORTH_BOLD)


@dataclass(frozen=True, slots=True)
class _SourceLine:
    """Where a quote stands, on one line if that is wide enough."""

    quote: Shape
    source: Shape

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the section and the address, both shortened where the line is too short."""
        anchor = self.quote.get("anchor")
        url = self.quote.get("link") or self.source["url"] + (f"#{anchor}" if anchor else "")
        section = show_controls(self.quote["section"]) or _title(self.source)
        address, room = _short_address(self.source["url"]), options.max_width - len(_BETWEEN)
        if cell_len(section) + cell_len(address) > room:
            section = _ends(section.split(_LEVEL), _LEVEL)
        # The last heading says most: it is not the one that a narrow line leaves out.
        if cell_len(section) > options.max_width and _LEVEL in section:
            section = f"…{_LEVEL}{section.rpartition(_LEVEL)[2]}"
        if cell_len(section) + cell_len(address) > room:
            address = _ends(address.split("/"), "/")
        lines = [_linked(section, url, "green"), _linked(address, url)]
        if cell_len(section) + cell_len(address) <= room:
            lines = [Text(_BETWEEN).join(lines)]
        for line in lines:
            line.truncate(options.max_width, overflow="ellipsis")
            yield line


def _ends(parts: Sequence[str], separator: str) -> str:
    """Return the first and the last part; the first may stand for others already."""
    if len(parts) < 3:
        return separator.join(parts)
    return separator.join(("…", parts[-1]) if parts[0] == "…" else (parts[0], "…", parts[-1]))


def _linked(text: str, url: str, color: str = "cyan") -> Text:
    is_safe = urlsplit(url).scheme in ("http", "https", "file")
    return Text(text, style=Style(link=show_controls(url) if is_safe else None, color=color))


def _short_address(url: str) -> str:
    parts = urlsplit(url)
    shown = parts.path if parts.scheme == "file" else f"{parts.netloc}{parts.path}"
    return show_controls(unquote(shown.rstrip("/") or url))


def _title(page: Shape) -> str:
    return show_controls(page["title"]) or _short_address(page["url"])


def _safe_style(style: Style | None) -> Style | None:
    if style is None or style.link is None or style.link.startswith(("https://", "http://")):
        return style
    return style.update_link(None)
