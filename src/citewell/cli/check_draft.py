"""`citewell check-draft`: what the library says of each sentence of a text."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from citewell.cli.check import read_file
from citewell.cli.work import Outcome, add_json_option, run_work
from citewell.core.boundary import SUPPLIED
from citewell.core.records import Caller, SearchFilter
from citewell.core.text import counted, join_lines, one_line
from citewell.tools.webapp.plain_lines import plain_lines

if TYPE_CHECKING:
    import argparse

    from citewell.app.draft_check import CheckedClaim, CitedPlace
    from citewell.app.open import App
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings

DESCRIPTION = """\
Check each factual sentence of a text by the indexed pages: quoted, supported, partly (and what is
missing), unsupported, or contradicted (and what differs), with the best quotes for and against it.
Words, names, numbers, versions and negations are compared; no model is asked. The exit code is 1 if
a sentence is contradicted."""

EXAMPLES = """\
  citewell check-draft answer.md
  pbpaste | citewell check-draft - --json"""

_SHOWN_CHARACTERS = 160


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `check-draft`."""
    parser.add_argument("file", metavar="FILE", help="text to check; - is stdin")
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Check the text and print a verdict for each sentence."""
    return run_work(partial(_check, arguments, settings), arguments, settings)


async def _check(
    arguments: argparse.Namespace, settings: Settings, app: App, on_progress: OnProgress
) -> Outcome:
    from citewell.app.documents import document_text
    from citewell.app.draft_check import MAX_CLAIMS, check_draft, remember_quotes
    from citewell.retrieve.pipeline import Models

    parts = await app.open("store", "embedder", "reranker", "fetcher", "citations")
    data = await to_thread.run_sync(read_file, arguments.file)
    draft = await document_text(data, name=arguments.file, sandbox=parts.fetcher.sandbox)
    checked = await check_draft(
        draft,
        store=parts.store,
        models=Models(embedder=parts.embedder, reranker=parts.reranker),
        where=SearchFilter(project=settings.project),
        limit=MAX_CLAIMS + 1,
    )
    claims = checked[:MAX_CLAIMS]
    caller = Caller(session="cli", project=settings.project)
    remember_quotes(claims, memory=parts.citations, caller=caller)
    counts = Counter[str](claim.verdict for claim in claims)
    lines = [line for claim in claims for line in _lines(claim)]
    if len(checked) > MAX_CLAIMS:
        lines.append(f"The text goes on; its first {MAX_CLAIMS} sentences were checked.")
    return Outcome(
        text=join_lines([*lines, _summary(counts)]),
        structured={
            "counts": dict(counts),
            "is_complete": len(checked) <= MAX_CLAIMS,
            "claims": [_shape(claim) for claim in claims],
        },
        has_failed=counts["contradicted"] > 0,
    )


def _lines(claim: CheckedClaim) -> list[str]:
    sentence = _shown(claim.sentence)
    basis = f" by text {SUPPLIED}" if claim.rests_on_supplied_text else ""
    return [
        f"{claim.line}: {claim.verdict}{basis}: {sentence}",
        *(line for place in claim.supporting for line in _place_lines("for", place)),
        *(line for place in claim.opposing for line in _place_lines("against", place)),
    ]


def _place_lines(name: str, cited: CitedPlace) -> list[str]:
    quote = _shown(cited.quote.text)
    lines = [f"    {name}: “{quote}” — {cited.link}"]
    if cited.place.differing:
        pairs = ", ".join(f"{own} / {other}" for own, other in cited.place.differing)
        lines.append(f"        text / page: {pairs}")
    if cited.place.verdict == "partly" and cited.place.missing:
        lines.append(f"        not in the quote: {', '.join(cited.place.missing)}")
    return lines


def _shown(text: str) -> str:
    """Return text as people read it, on one line: JSON has it as it is."""
    return one_line(plain_lines(text), limit=_SHOWN_CHARACTERS)


def _summary(counts: Counter[str]) -> str:
    if not counts:
        return "No sentence states a fact."
    listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"{counted(counts.total(), 'sentence')}: {listed}."


def _shape(claim: CheckedClaim) -> dict[str, Any]:
    return {
        "line": claim.line,
        "sentence": claim.sentence,
        "verdict": claim.verdict,
        "supplied": claim.rests_on_supplied_text,
        "quotes_for": [_shape_place(place) for place in claim.supporting],
        "quotes_against": [_shape_place(place) for place in claim.opposing],
    }


def _shape_place(cited: CitedPlace) -> dict[str, Any]:
    return {
        "quote": cited.quote.text,
        "title": cited.title,
        "link": cited.link,
        "citation": cited.quote.citation_id,
        "missing": list(cited.place.missing),
        "differing": [list(pair) for pair in cited.place.differing],
        "share": cited.place.share,
        "supplied": cited.origin == "supplied",
    }
