"""`citewell check-draft`: what the library says of each sentence of a text."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from citewell.cli.check import read_file
from citewell.cli.work import Outcome, add_json_option, run_work
from citewell.core.boundary import SUPPLIED
from citewell.core.records import SearchFilter
from citewell.core.text import join_lines, one_line

if TYPE_CHECKING:
    import argparse

    from citewell.app.draft_check import CheckedClaim
    from citewell.app.open import App
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings

DESCRIPTION = """\
Check each factual sentence of a text by the indexed pages: quoted, supported, partly (and what is
missing), unsupported, or contradicted (and what differs), with the nearest quote. Words, names,
numbers, versions and negations are compared; no model is asked. The exit code is 1 if a sentence
is contradicted."""

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
    from citewell.app.documents import read_document
    from citewell.app.draft_check import MAX_CLAIMS, check_draft
    from citewell.retrieve.pipeline import Models

    parts = await app.open("store", "embedder", "reranker", "fetcher")
    data = await to_thread.run_sync(read_file, arguments.file)
    draft = await read_document(data, name=arguments.file, sandbox=parts.fetcher.sandbox)
    checked = await check_draft(
        draft,
        store=parts.store,
        models=Models(embedder=parts.embedder, reranker=parts.reranker),
        where=SearchFilter(project=settings.project),
        limit=MAX_CLAIMS + 1,
    )
    claims = checked[:MAX_CLAIMS]
    counts = Counter[str](claim.judgement.verdict for claim in claims)
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
    judged = claim.judgement
    sentence = one_line(claim.sentence, limit=_SHOWN_CHARACTERS)
    basis = f" by text {SUPPLIED}" if _is_supplied(claim) else ""
    lines = [f"{claim.line}: {judged.verdict}{basis}: {sentence}"]
    if judged.differing:
        pairs = ", ".join(f"{own} / {other}" for own, other in judged.differing)
        lines.append(f"    text / page: {pairs}")
    if judged.verdict == "partly" and judged.missing:
        lines.append(f"    not in the quote: {', '.join(judged.missing)}")
    if judged.verdict != "unsupported" and claim.quote is not None:
        lines.append(f"    “{one_line(claim.quote, limit=_SHOWN_CHARACTERS)}” — {claim.link}")
    return lines


def _is_supplied(claim: CheckedClaim) -> bool:
    return claim.origin == "supplied" and claim.judgement.verdict != "unsupported"


def _summary(counts: Counter[str]) -> str:
    if not counts:
        return "No sentence states a fact."
    listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"{counts.total()} sentences: {listed}."


def _shape(claim: CheckedClaim) -> dict[str, Any]:
    judged = claim.judgement
    return {
        "line": claim.line,
        "sentence": claim.sentence,
        "verdict": judged.verdict,
        "missing": list(judged.missing),
        "differing": [list(pair) for pair in judged.differing],
        "share": judged.share,
        "quote": claim.quote,
        "url": claim.url,
        "link": claim.link,
        "citation": claim.citation,
        "supplied": _is_supplied(claim),
    }
