"""`citewell citations`: the quotes that were handed out, and what became of them."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from citewell.cli.confirm import refuse_unless_agreed
from citewell.cli.parser import number_between
from citewell.cli.work import Outcome, add_json_option, run_work
from citewell.core.citations import VERDICTS
from citewell.core.text import counted, join_lines, one_line

if TYPE_CHECKING:
    import argparse

    from citewell.app.open import App
    from citewell.core.citations import Citation
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings

DESCRIPTION = """\
List the quotes that `ask`, `search` and the tools of this machine have handed out, newest first,
and whether their pages still say so: exact, moved, changed or gone. They are judged again whenever
a page changes. Those of other keys are not listed. CITEWELL_CITATION_DAYS says how long they are
remembered; --forget forgets them all."""

EXAMPLES = """\
  citewell citations
  citewell citations --verdict changed
  citewell citations --limit 500 --json
  citewell citations --forget --yes"""

DEFAULT_LIMIT = 50
_MOST = 10_000
_MOST_LINES = 6
_QUOTE_CHARACTERS = 240
_LINE_CHARACTERS = 120
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `citations`."""
    parser.add_argument("--verdict", choices=VERDICTS, help="only those with this verdict")
    parser.add_argument(
        "--limit",
        type=number_between(1, _MOST),
        default=DEFAULT_LIMIT,
        metavar="N",
        help=f"maximum citations to list (default {DEFAULT_LIMIT})",
    )
    parser.add_argument("--forget", action="store_true", help="forget all of them")
    parser.add_argument("--yes", action="store_true", help="forget without asking")
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the citations, or forget them."""
    return run_work(partial(_citations, arguments), arguments, settings)


async def _citations(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    from citewell.core.records import Caller

    owner, project = Caller(session="cli").owner, app.settings.project
    citations = (await app.open("store")).store.citations
    counts = await citations.count_citations(owner, project=project)
    if arguments.forget:
        refuse_unless_agreed([counted(counts.total, "citation")], is_agreed=arguments.yes)
        forgotten = await citations.forget(owner, project=project)
        return Outcome(text=f"forgotten: {forgotten}", structured={"forgotten": forgotten})
    listed = await citations.list_citations(
        owner,
        project=project,
        verdict=arguments.verdict,
        limit=arguments.limit,
    )
    numbers = counts.as_numbers()
    summary = ", ".join(f"{count:,} {verdict}" for verdict, count in numbers.items())
    lines = [f"Citations handed out: {summary or 'none'}", *map(_shown, listed)]
    return Outcome(
        text="\n\n".join(lines),
        structured={"counts": numbers, "citations": [_shape(each) for each in listed]},
    )


def _shown(citation: Citation) -> str:
    when = f"{citation.handed_at:%Y-%m-%d %H:%M} UTC"
    asked = f" for “{one_line(citation.question, limit=100)}”" if citation.question else ""
    first, *others = _quoted_lines(citation.quote)
    lines = [
        f"{citation.verdict.upper()}  {first}",
        *(f"    {line}" for line in others),
        f"    {citation.url}  (id {citation.citation_id})",
        f"    handed out {when}{asked}",
    ]
    if citation.verdict == "changed" and citation.difference:
        lines.append(f"    now: {one_line(citation.difference, limit=400)}")
    return join_lines(lines)


def _quoted_lines(quote: str) -> list[str]:
    """Return the first lines that say anything: those of code stay lines."""
    kept = [line.rstrip() for line in _LINK.sub(r"\1", quote).split("\n")]
    kept = [line for line in kept if line and not line.lstrip().startswith("```")] or [""]
    if len(kept) == 1:
        return [one_line(kept[0], limit=_QUOTE_CHARACTERS)]
    shown = [
        f"{line[:_LINE_CHARACTERS]}…" if len(line) > _LINE_CHARACTERS else line for line in kept
    ]
    return shown if len(kept) <= _MOST_LINES else [*shown[: _MOST_LINES - 1], "…"]


def _shape(citation: Citation) -> dict[str, Any]:
    return {
        "id": citation.citation_id,
        "verdict": citation.verdict,
        "quote": citation.quote,
        "url": citation.url,
        "title": citation.title,
        "section": citation.section,
        "tool": citation.tool,
        "question": citation.question,
        "times": citation.times,
        "handed_at": citation.handed_at.isoformat(timespec="seconds"),
        "judged_at": None
        if citation.judged_at is None
        else citation.judged_at.isoformat(timespec="seconds"),
        "difference": citation.difference,
    }
