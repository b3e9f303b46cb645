"""Colours and moving lines, for whoever sits at a terminal."""

from __future__ import annotations

import re
import textwrap
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as ProgressBars
from rich.table import Column
from rich.text import Text
from typing_extensions import override

from citewell.core.boundary import unbracketed
from citewell.core.text import show_controls

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType
    from rich.progress import Task

    from citewell.core.progress import OnProgress, Phase, Progress

_FINDING = re.compile(r"[^\w\s] \w+ {2,}+")
_HEADER = re.compile(r"^\[[A-Z][A-Z_ ]+\]$", re.MULTILINE)


def print_styled_text(text: str, *, wraps: bool) -> None:
    """Print `text` on stdout with its section headers standing out, and no control obeyed.

    `wraps` breaks lines between words. Addresses and commands stay whole, to be copied.
    """
    console = Console(soft_wrap=True, highlight=False)
    shown = show_controls(text)
    styled = Text(_wrapped(shown, console.width) if wraps else shown)
    styled.highlight_regex(_HEADER, style="bold cyan")
    console.print(styled)


def _wrapped(text: str, width: int) -> str:
    """Break long lines between words, and indent what follows as far as the line, and two more.

    What follows a mark, a name and a gap is indented as far as the text after the gap.
    """
    wrapped = []
    for line in text.splitlines():
        if line.startswith("  citewell "):
            wrapped.append(line)
            continue
        column = _FINDING.match(line)
        indent = " " * (column.end() if column else len(line) - len(line.lstrip()) + 2)
        wrapped += textwrap.wrap(
            line,
            width,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
    return "\n".join(wrapped)


def print_styled_error(error: Mapping[str, object]) -> None:
    """Print on stderr what went wrong and what to try; in colour if that is a terminal."""
    lines = {"error: ": ("bold red", f"{error['message']} [{error['code']}]")}
    if error["suggestion"]:
        lines["try: "] = ("bold", str(error["suggestion"]))
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    for head, (style, said) in lines.items():
        line = head + show_controls(said)
        text = Text(_wrapped(line, console.width) if console.is_terminal else line)
        text.stylize(style, 0, len(head))
        console.print(text)


_WIDE = 70
_SHORTENED = Column(ratio=1, no_wrap=True, overflow="ellipsis")


@contextmanager
def showing_lines() -> Iterator[OnProgress]:
    """Show a line for each phase of the work on stderr while it goes on."""
    console = Console(stderr=True)
    columns: list[ProgressColumn] = [
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description}", markup=False, table_column=_SHORTENED),
        _IfCounted(BarColumn(bar_width=24 if console.width >= _WIDE else 10)),
        _IfCounted(MofNCompleteColumn()),
    ]
    is_wide = console.width >= _WIDE
    if is_wide:
        columns += [_IfCounted(_RateColumn()), _IfCounted(_TimeLeftColumn()), _BytesColumn()]
    bars = ProgressBars(
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        # Only the description gives way on a narrow terminal.
        expand=not is_wide,
    )
    try:
        yield _Lines(bars).show
    finally:
        bars.stop()


class _Lines:
    """One line of progress for each phase, in the order they began."""

    def __init__(self, bars: ProgressBars) -> None:
        self._bars = bars
        self._tasks: dict[Phase, TaskID] = {}

    async def show(self, progress: Progress) -> None:
        """Add or update the line of the phase that `progress` reports."""
        message = show_controls(" ".join(unbracketed(progress.message).split()))
        # Started late, because a command can ask the user something before its first progress.
        self._bars.start()
        if progress.phase not in self._tasks:
            self._hide_uncounted()
            self._tasks[progress.phase] = self._bars.add_task(
                message, total=None, bytes_done=0, done_before=progress.done or 0
            )
        task = self._tasks[progress.phase]
        self._bars.update(task, description=message, completed=progress.done, total=progress.total)
        # A step without a byte count keeps the count of the previous one.
        if progress.bytes_done:
            self._bars.update(task, bytes_done=progress.bytes_done)

    def _hide_uncounted(self) -> None:
        # A phase without a total never reports its end; the start of the next one ends it.
        for task in self._bars.tasks:
            if task.total is None:
                self._bars.update(task.id, visible=False)


class _RateColumn(ProgressColumn):
    """How many are done in a second, or in a minute where that is few."""

    @override
    def render(self, task: Task) -> RenderableType:
        rate = rate_of(task)
        if not rate:
            return Text()
        return Text(f"{rate:.0f}/s" if rate >= 2 else f"{60 * rate:.0f}/min", style="dim")


class _TimeLeftColumn(ProgressColumn):
    """How long the rest takes at this rate."""

    @override
    def render(self, task: Task) -> RenderableType:
        rate = rate_of(task)
        if not rate:
            return Text()
        seconds = round((task.remaining or 0) / rate)
        return Text(f"{seconds // 60}:{seconds % 60:02} left", style="cyan")


def rate_of(task: Task) -> float:
    """Return how many are done in a second since the line began.

    rich forgets its samples when the total grows, and between batches that take long.
    """
    done: float = task.completed - task.fields["done_before"]
    return done / task.elapsed if task.elapsed else 0.0


class _BytesColumn(ProgressColumn):
    """How many bytes were read or embedded."""

    @override
    def render(self, task: Task) -> RenderableType:
        count = task.fields["bytes_done"]
        return Text(decimal(count) if count else "", style="dim")


class _IfCounted(ProgressColumn):
    """Another column, shown only for a phase that knows how much there is to do."""

    def __init__(self, column: ProgressColumn) -> None:
        super().__init__()
        self._column = column

    @override
    def render(self, task: Task) -> RenderableType:
        return self._column(task) if task.total is not None else Text()
