"""`citewell ingest`: index pages without asking anything of them."""

from __future__ import annotations

import logging
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from citewell.app.websites import CHANGE_NEEDS
from citewell.cli.crawl_options import add_crawl_options, crawl_options, refuse_crawl_options
from citewell.cli.local_paths import (
    expand_arguments,
    local_paths,
    no_match,
    refuse_other_than_urls,
)
from citewell.cli.main import EXIT_TOOL_ERROR
from citewell.cli.parser import fill_for_terminal
from citewell.cli.shell_errors import name_page
from citewell.cli.sites import add_websites
from citewell.cli.terminal import print_text
from citewell.cli.work import Outcome, Work, add_json_option, run_work
from citewell.core.errors import InferenceError
from citewell.core.library import WebsiteDraft
from citewell.core.progress import Progress
from citewell.core.text import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from citewell.app.local_pages import SyncReport
    from citewell.app.open import App
    from citewell.app.parts import Parts
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings
    from citewell.tools.research.ingest import IngestedShape

logger = logging.getLogger(__name__)

DESCRIPTION = """\
Fetch pages and index them, so that `citewell search` finds them immediately. A page that is
indexed and fresh is kept as it is. One URL that fails does not stop the others. With --site each
URL stands for a whole site, found by llms.txt, objects.inv, sitemap or links; a run that was
stopped continues where it left off. A file or a folder of this machine is read as it is now;
files that have gone leave the index. A pattern such as 'docs/*.md' stands for the files it
matches, and `-` for URLs or paths from stdin, one a line. If anything fails, the exit code is 1;
empty files of a folder are skipped."""

EXAMPLES = """\
  citewell ingest https://docs.python.org/3/library/asyncio-task.html
  citewell ingest --force https://a.example/news https://b.example/news
  citewell ingest --tag python https://docs.python.org/3/glossary.html
  citewell ingest --site https://docs.example/guide/ --max-pages 200 --exclude '/guide/old/**'
  citewell ingest ./docs ./handbook.pdf
  citewell ingest - < urls.txt"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `ingest`."""
    parser.add_argument(
        "urls", nargs="+", metavar="URL", help="page, file, folder or pattern to index; - for stdin"
    )
    parser.add_argument(
        "--force", action="store_true", help="fetch again, even what is indexed and fresh"
    )
    parser.add_argument(
        "--tag", action="append", metavar="TAG", help="tag to add to the pages; repeatable"
    )
    parser.add_argument("--site", action="store_true", help="each URL is a whole site")
    add_crawl_options(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Index the pages, or the sites, and print a line for each."""
    arguments.urls, unmatched = expand_arguments(arguments.urls)
    code = run_work(_work(arguments), arguments, settings)
    if unmatched:
        # After the outcome of the others, which it must neither stop nor hide.
        sys.stderr.write(fill_for_terminal(f"citewell: {no_match(unmatched).message}") + "\n")
    return code or (EXIT_TOOL_ERROR if unmatched else 0)


def _work(arguments: argparse.Namespace) -> Work:
    """Return what is to be done with the arguments."""
    if arguments.site:
        refuse_other_than_urls(arguments.urls)
        return partial(_ingest_sites, arguments)
    refuse_crawl_options(arguments)
    paths = local_paths(arguments.urls)
    return partial(_ingest_files, paths, arguments) if paths else partial(_ingest_pages, arguments)


async def _ingest_pages(
    arguments: argparse.Namespace, app: App, on_progress: OnProgress
) -> Outcome:
    # Imported late: `--help` is answered without.
    from citewell.app.pages import INGEST_NEEDS, ingest_pages
    from citewell.core.boundary import Boundary
    from citewell.tools.research.ingest import render, shape_outcomes
    from citewell.tools.untrusted import envelope, marked

    parts = await app.open(*INGEST_NEEDS, "embedder")
    outcomes = await ingest_pages(
        parts,
        arguments.urls,
        project=app.settings.project,
        force=arguments.force,
        tags=(*app.settings.scope_tags, *(arguments.tag or ())),
        on_progress=on_progress,
    )
    if len(outcomes) == 1 and outcomes[0].error is not None and outcomes[0].page is None:
        raise outcomes[0].error
    pages = [outcome.page for outcome in outcomes if outcome.page is not None]
    waiting = sum(page.chunks - page.embedded_chunks for page in pages)
    await _embed(parts, [page.source_id for page in pages], waiting, on_progress)
    output = shape_outcomes(outcomes)
    return Outcome(
        text=Boundary().draw(render(marked(output))),
        structured={**envelope(output), **output.model_dump(mode="json")},
        has_failed=output.failed > 0,
        show=partial(print_text, "\n".join(map(_line, output.pages))),
    )


def _line(page: IngestedShape) -> str:
    """Return the outcome for one URL as a person reads it."""
    if page.status == "failed":
        return f"failed: {name_page(page.url, page.error or '')}\n  try: {page.suggestion}"
    name = f"{page.title} — {page.url}" if page.title else page.url
    problems = "".join(f"\n  {text}" for text in (page.incomplete, page.error) if text)
    return f"{page.status}: {name} ({counted(page.chunks or 0, 'chunk')}){problems}"


async def _ingest_sites(
    arguments: argparse.Namespace, app: App, on_progress: OnProgress
) -> Outcome:
    settings = app.settings
    drafts = [
        WebsiteDraft(
            url=url,
            project=settings.project,
            kind="site",
            tags=(*settings.scope_tags, *(arguments.tag or ())),
            options=crawl_options(arguments),
        )
        for url in arguments.urls
    ]
    parts = await app.open(*CHANGE_NEEDS)
    return await add_websites(parts, drafts, on_progress, force=arguments.force)


async def _ingest_files(
    paths: Sequence[Path],
    arguments: argparse.Namespace,
    app: App,
    on_progress: OnProgress,
) -> Outcome:
    from citewell.app.local_pages import index_path

    parts = await app.open("store", "ingester", "embedder")

    shapes: list[dict[str, Any]] = []
    lines: list[str] = []
    for path in paths:
        report = await index_path(
            parts,
            path,
            tags=tuple(arguments.tag or ()),
            force=arguments.force,
            on_progress=on_progress,
        )
        waiting = sum(page.chunks for page in report.pages)
        source_ids = [page.source_id for page in report.pages]
        await _embed(parts, source_ids, waiting, on_progress)
        shape, said = _report_of(path, report)
        shapes.append(shape)
        lines += said
    has_failed = any(shape["failed"] for shape in shapes)
    return Outcome(text="\n".join(lines), structured={"paths": shapes}, has_failed=has_failed)


def _report_of(path: Path, report: SyncReport) -> tuple[dict[str, Any], list[str]]:
    """Return what was done with a path, as plain values and as lines."""
    from citewell.app.local_pages import is_only_a_warning

    failures: list[dict[str, str]] = []
    warnings: list[dict[str, str]] = []
    said: list[str] = []
    for url, error in report.failed.items():
        is_warning = is_only_a_warning(path, error, reads_all=True)
        shape = {"url": url, "error": error.message, "suggestion": error.suggestion}
        (warnings if is_warning else failures).append(shape)
        said.append(
            f"- {'skipped' if is_warning else 'failed'}: {name_page(url, error.message)}\n"
            f"  try: {error.suggestion}"
        )
    counts = {
        "indexed": len(report.pages),
        "unchanged": report.unchanged,
        "removed": report.deleted,
        "skipped": len(warnings),
        "failed": len(failures),
    }
    shown = ", ".join(f"{name} {count}" for name, count in counts.items())
    whole: dict[str, Any] = {"path": str(path), **counts}
    whole |= {"failures": failures, "warnings": warnings}
    return whole, [f"{path}: {shown}", *said]


async def _embed(
    parts: Parts, source_ids: Sequence[int], waiting: int, on_progress: OnProgress
) -> None:
    if parts.embedder is None or not waiting:
        return
    message = "Embedding chunks"
    await on_progress(Progress(phase="embed", message=message, done=0, total=waiting))
    try:
        await parts.ingester.embed_now(source_ids, on_progress=on_progress)
    except InferenceError as error:
        logger.warning("the vectors were not made: %s", error.message)
