"""`citewell status`: what is indexed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from citewell.cli.parser import number_between
from citewell.cli.terminal import print_text
from citewell.cli.work import Outcome, add_json_option, run_work
from citewell.core.errors import InvalidArgument, NotFound

if TYPE_CHECKING:
    import argparse

    from citewell.answer.corpus_status import CorpusStatus
    from citewell.app.open import App
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings

DESCRIPTION = """\
Show how much is indexed and which pages, with their titles, sizes and fetch times. With a URL, a
file or a folder, report on that only; what is not indexed is an error."""

_MORE = "`citewell status --cursor {cursor}` lists the next, `citewell status URL` shows one."
# Few enough that the counts above the list stay in view.
_PAGES_ON_TERMINAL = 5

EXAMPLES = """\
  citewell status
  citewell status --no-urls
  citewell status ./docs
  citewell status https://docs.python.org/3/library/asyncio-task.html --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `status`."""
    parser.add_argument(
        "url", nargs="?", metavar="URL", help="report on this page, site, file or folder only"
    )
    parser.add_argument("--no-urls", action="store_true", help="count, but do not list the pages")
    parser.add_argument(
        "--cursor", type=number_between(0), metavar="N", help="skip the first N pages of the list"
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the counts and the pages."""
    if arguments.url is not None:
        arguments.name, arguments.url = _page_url(arguments.url)
    return run_work(partial(_status, arguments), arguments, settings)


async def _status(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    from citewell import __version__
    from citewell.answer.corpus_status import format_corpus_status
    from citewell.app.corpus_status import STATUS_NEEDS, corpus_status, page_status, status_json
    from citewell.cli.database import describe_database
    from citewell.core.boundary import Boundary, unmarked
    from citewell.core.records import Caller
    from citewell.inference.names import vector_model

    parts = await app.open(*STATUS_NEEDS)
    if arguments.url is not None and not arguments.url.endswith("*"):
        status = await page_status(parts, arguments.url, project=app.settings.project)
    else:
        status = await corpus_status(
            parts,
            project=app.settings.project,
            owner=Caller(session="cli").owner,
            lists_pages=not arguments.no_urls,
            offset=arguments.cursor or 0,
            below=arguments.url and arguments.url.rstrip("*"),
        )
        if arguments.url is not None and not status.documents:
            raise NotFound(
                f"Nothing of {arguments.name} is indexed.",
                suggestion=f"Run `citewell ingest {arguments.name.rstrip('*')}` first.",
            )
    database = describe_database(app.settings.database_url)
    model = vector_model(app.settings.embedder)
    head = f"Citewell {__version__}\nDatabase: {database}\nEmbedding model: {model or 'none'}\n\n"
    about = {"version": __version__, "database": database, "model": model}
    listed = format_corpus_status(status, more=_MORE)
    first = format_corpus_status(_beginning(status, arguments.cursor or 0), more=_MORE)
    return Outcome(
        text=head + Boundary().draw(listed),
        structured=about | status_json(status),
        show=partial(print_text, head + unmarked(first).removeprefix("[CORPUS STATUS]\n")),
    )


def _page_url(name: str) -> tuple[str, str]:
    """Return the name of a page, file or folder, and its URL, which ends in `*` for a folder."""
    # Imported late: a status without a URL is printed without.
    from citewell.cli.local_paths import named_pages

    named = named_pages([name])
    if len(named) > 1:
        raise InvalidArgument(f"{name} matches {len(named)} files: name one of them")
    return next(iter(named.items()))


def _beginning(status: CorpusStatus, offset: int) -> CorpusStatus:
    """The status with only as many pages as fit on a screen."""
    pages = (status.pages or ())[:_PAGES_ON_TERMINAL]
    if status.pages is None or len(pages) == len(status.pages):
        return status
    return replace(status, pages=pages, next_cursor=offset + len(pages))
