"""`citewell status`: what is indexed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from citewell.cli.parser import number_between
from citewell.cli.terminal import print_text
from citewell.cli.work import Outcome, add_json_option, run_work
from citewell.core.errors import InvalidArgument

if TYPE_CHECKING:
    import argparse

    from citewell.answer.corpus_status import CorpusStatus
    from citewell.app.open import App
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings

DESCRIPTION = """\
Show how much is indexed and which pages, with their titles, sizes and fetch times. With a URL,
report on that page only; a page that is not indexed is an error."""

_MORE = "`citewell status --cursor {cursor}` lists the next, `citewell status URL` shows one."
# Few enough that the counts above the list stay in view.
_PAGES_ON_TERMINAL = 5

EXAMPLES = """\
  citewell status
  citewell status --no-urls
  citewell status https://docs.python.org/3/library/asyncio-task.html --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `status`."""
    parser.add_argument("url", nargs="?", metavar="URL", help="report on this page or file only")
    parser.add_argument("--no-urls", action="store_true", help="count, but do not list the pages")
    parser.add_argument(
        "--cursor", type=number_between(0), metavar="N", help="skip the first N pages of the list"
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the counts and the pages."""
    if arguments.url is not None:
        arguments.url = _page_url(arguments.url)
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
    if arguments.url is not None:
        status = await page_status(parts, arguments.url, project=app.settings.project)
    else:
        status = await corpus_status(
            parts,
            project=app.settings.project,
            owner=Caller(session="cli").owner,
            lists_pages=not arguments.no_urls,
            offset=arguments.cursor or 0,
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


def _page_url(name: str) -> str:
    """Return the URL of a page that is named by its URL or by the path of its file."""
    # Imported late: a status without a URL is printed without.
    from citewell.cli.local_paths import local_paths

    paths = local_paths([name])
    if not paths:
        return name
    if paths[0].is_dir():
        raise InvalidArgument(f"{name} is a folder: name one of its files")
    return paths[0].resolve().as_uri()


def _beginning(status: CorpusStatus, offset: int) -> CorpusStatus:
    """The status with only as many pages as fit on a screen."""
    pages = (status.pages or ())[:_PAGES_ON_TERMINAL]
    if status.pages is None or len(pages) == len(status.pages):
        return status
    return replace(status, pages=pages, next_cursor=offset + len(pages))
