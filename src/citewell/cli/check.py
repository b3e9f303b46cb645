"""`citewell check`: whether documents still quote and link what is there."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from citewell.cli.work import Outcome, add_json_option, run_work
from citewell.core.errors import InvalidArgument
from citewell.core.text import counted, join_lines, one_line
from citewell.ingest.regular_file import read_regular_file

if TYPE_CHECKING:
    import argparse

    from citewell.app.citation_check import CheckedReference
    from citewell.app.open import App
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings

DESCRIPTION = """\
Check every quote and link of documents: Markdown, HTML, BibTeX or text. Pages come from the
library, and those that are not in it from the web; each is read once. A quote is compared with the
page whose address stands beside it. Relative links of Markdown and HTML files must lead to a file,
and to an anchor that it has. The exit code is 1 if a quote has changed or gone, or a link leads
nowhere: good for CI."""

EXAMPLES = """\
  citewell check README.md docs/*.md
  citewell check --live paper.bib
  gh pr view 12 --json body -q .body | citewell check -"""

MAX_DOCUMENT_BYTES = 2_000_000
_SHOWN_CHARACTERS = 140


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `check`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="document to check; - is stdin")
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--live",
        dest="against",
        action="store_const",
        const="live",
        default="auto",
        help="fetch every page again, whatever is in the library",
    )
    group.add_argument(
        "--library",
        dest="against",
        action="store_const",
        const="library",
        help="use the library alone; fetch nothing",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Check the documents and print each reference that does not hold."""
    return run_work(partial(_check, arguments, settings), arguments, settings)


async def _check(
    arguments: argparse.Namespace, settings: Settings, app: App, on_progress: OnProgress
) -> Outcome:
    from citewell.app.citation_check import FAILURES, CitationChecker
    from citewell.app.documents import document_text
    from citewell.cli.local_links import check_local_links

    parts = await app.open("store", "ingester", "fetcher")
    checker = CitationChecker(
        parts.store, parts.ingester, project=settings.project, against=arguments.against
    )
    rows: list[tuple[str, CheckedReference]] = []
    for name in arguments.files:
        data = await to_thread.run_sync(read_file, name)
        document = await document_text(data, name=name, sandbox=parts.fetcher.sandbox)
        text = data.decode("utf-8", "replace")
        local = await to_thread.run_sync(check_local_links, text, Path(name))
        checked = [*await checker.check(document), *local]
        rows += [(name, each) for each in sorted(checked, key=lambda each: each.reference.line)]
    counts = Counter[str](checked.verdict for _, checked in rows)
    return Outcome(
        text=join_lines([*_lines(rows), _summary(counts)]),
        structured={
            "counts": dict(counts),
            "references": [{"file": name, **_shape(checked)} for name, checked in rows],
        },
        has_failed=any(checked.verdict in FAILURES for _, checked in rows),
    )


def read_file(name: str) -> bytes:
    """Return the bytes of a document; "-" is stdin.

    Raises:
        InvalidArgument: it cannot be read, or is too large.
    """
    try:
        if name == "-":
            with Path("/dev/stdin").open("rb") as stdin:
                data = stdin.read(MAX_DOCUMENT_BYTES + 1)
        else:
            data = read_regular_file(Path(name), max_bytes=MAX_DOCUMENT_BYTES)
    except OSError as error:
        raise InvalidArgument(
            f"{name} cannot be read: {error.strerror}",
            suggestion="Give the path of a file, or - to read a pipe.",
        ) from error
    if len(data) > MAX_DOCUMENT_BYTES:
        raise InvalidArgument(
            f"{name} has more than {MAX_DOCUMENT_BYTES:,} bytes", suggestion="Check it in parts."
        )
    return data


def _lines(rows: list[tuple[str, CheckedReference]]) -> list[str]:
    lines: list[str] = []
    for name, checked in rows:
        if checked.verdict in ("exact", "found"):
            continue
        reference = checked.reference
        what = f"“{one_line(reference.quote, limit=_SHOWN_CHARACTERS)}”" if reference.quote else ""
        shown = " — ".join(part for part in (what, reference.url) if part)
        lines.append(f"{name}:{reference.line}: {checked.verdict}: {shown}")
        lines.append(f"    {' '.join((checked.difference or checked.explanation).split())}")
    return lines


def _summary(counts: Counter[str]) -> str:
    if not counts:
        return "No quote or link found."
    listed = ", ".join(f"{count} {verdict.replace('_', ' ')}" for verdict, count in counts.items())
    return f"{counted(counts.total(), 'quote or link', 'quotes and links')}: {listed}."


def _shape(checked: CheckedReference) -> dict[str, Any]:
    return {
        "line": checked.reference.line,
        "url": checked.reference.url,
        "quote": checked.reference.quote,
        "verdict": checked.verdict,
        "explanation": checked.explanation,
        "difference": checked.difference,
        "live": checked.is_live,
        "supplied": checked.is_supplied,
    }
