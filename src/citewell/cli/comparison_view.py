"""A comparison of two versions as a person at a terminal reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from citewell.cli.openings import OPENING
from citewell.core.text import counted, show_controls
from citewell.tools.webapp.plain_lines import plain_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Shape = Mapping[str, Any]

_REMOVED = r"(?s)\[-.*?-\]"
_ADDED = r"(?s)\{\+.*?\+\}"


def print_comparison(result: Shape) -> None:
    """Print each pair with its difference marked and coloured, under where both stand."""
    console = Console(highlight=False)
    for line in _lines(result):
        console.print(line)


def _lines(result: Shape) -> Iterator[Text]:
    versions = f"{result['old_version']} → {result['new_version']}"
    yield Text(show_controls(f"{result['product']} {versions}".strip()), style="bold")
    marks = Text("Only the old version has [-this-], only the new one {+this+}.", style="dim")
    yield _coloured(marks)
    for number, pair in enumerate(result["pairs"], start=1):
        yield Text()
        for name in ("old", "new"):
            if quote := pair.get(name):
                yield Text.assemble((f"{number:>2}  {name}: ", "bold cyan"), _place(quote))
        yield _coloured(_plain(pair["difference"], pair.get(OPENING, "")))
    if omitted := result.get("omitted_pairs"):
        yield Text(f"\n{counted(omitted, 'more difference')} left out", style="dim")
    for quote in result["release_notes"]:
        yield Text.assemble(("\nRelease notes: ", "bold cyan"), _place(quote))
        yield _plain(quote["text"])
    for note in result.get("notes") or ():
        yield Text(f"\n{show_controls(note)}", style="dim")


def _place(quote: Shape) -> Text:
    said = " (supplied text)" if quote.get("supplied") else ""
    section = f"{quote['section']} · " if quote["section"] else ""
    return Text(show_controls(f"{section}{quote['url']}{said}"), style="green")


def _plain(text: str, opening: str = "") -> Text:
    return Text(show_controls(plain_lines(opening + text)))


def _coloured(text: Text) -> Text:
    text.highlight_regex(_REMOVED, style="red")
    text.highlight_regex(_ADDED, style="green")
    return text
