"""`citewell reindex`: stored pages, read again without fetching them."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from citewell.cli.work import Outcome, add_json_option, run_work
from citewell.core.errors import InferenceError
from citewell.core.text import counted

if TYPE_CHECKING:
    import argparse

    from citewell.app.open import App
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings
    from citewell.ingest.reread import Rereading

logger = logging.getLogger(__name__)

DESCRIPTION = """\
Read the stored pages of all projects again with the extractor of this version, from the responses
that are kept beside them (CITEWELL_RESPONSE_MAX_BYTES); nothing is fetched. Only pages that an
older version read are touched. A server and `citewell worker` do the same in the background."""

EXAMPLES = """\
  citewell reindex
  citewell reindex --all --json"""

_SHOWN_CHANGES = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `reindex`."""
    parser.add_argument(
        "--all",
        dest="everything",
        action="store_true",
        help="also pages that this version has read",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Read the pages again and print what changed."""
    return run_work(partial(_reindex, arguments), arguments, settings)


async def _reindex(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    from citewell.ingest.content_types.read import extract_fields
    from citewell.ingest.outcome import PARALLEL_PAGES
    from citewell.ingest.reread import reread_pages

    parts = await app.open("store", "ingester")
    result = await reread_pages(
        parts.store,
        parts.ingester,
        now=datetime.now(UTC),
        everything=arguments.everything,
        parallel=PARALLEL_PAGES,
        extract_fields=extract_fields,
        on_progress=on_progress,
    )
    try:
        await parts.ingester.embed_now(result.changed_ids, on_progress=on_progress)
    except InferenceError as error:
        logger.warning("the vectors were not made: %s", error.message)
    report = result.report
    return Outcome(
        text=_summary(result),
        structured={
            "read": result.read,
            "changed": report.changed,
            "failed": report.failed,
            "without_response": result.without_response,
            "pages": [
                {
                    "url": page.url,
                    "source_id": page.source_id,
                    "kind": page.kind,
                    "sections": len(page.sections),
                    "error": page.error,
                }
                for page in report.pages
            ],
        },
        has_failed=report.failed > 0,
    )


def _summary(result: Rereading) -> str:
    report = result.report
    lines = [f"Pages read again: {result.read:,}; changed: {report.changed:,}."]
    if report.failed:
        lines.append(f"Not readable, left as they were: {report.failed:,}.")
    if result.without_response:
        lines.append(
            f"Without a kept response, left as they were: {result.without_response:,}. "
            "`citewell ingest --force URL` fetches them."
        )
    for page in report.pages[:_SHOWN_CHANGES]:
        outcome = page.error or f"{counted(len(page.sections), 'section')} changed"
        lines.append(f"- {page.url} — {outcome}")
    if len(report.pages) > _SHOWN_CHANGES:
        lines.append(f"… and {report.changed + report.failed - _SHOWN_CHANGES:,} more.")
    return "\n".join(lines)
