"""`citewell search`: a question about pages that are already indexed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from citewell.cli.answer_options import add_answer_options, add_question_options, answer_printer
from citewell.cli.parser import number_between
from citewell.cli.tool_call import call_tool
from citewell.core.errors import NotFound

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from citewell.app.open import App
    from citewell.cli.tool_call import Failures
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings

DESCRIPTION = """\
Search the pages that are indexed. Nothing is fetched, so it is fast and works offline. Prints
the same kind of brief as `citewell ask`."""

EXAMPLES = """\
  citewell search "cancel a task"
  citewell search "cancel a task" --url https://docs.python.org/3/library/asyncio-task.html
  citewell search "timeouts" --top-k 5 --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `search`."""
    parser.add_argument("query", metavar="QUERY", help="the question or the words to look for")
    parser.add_argument(
        "--url",
        action="append",
        dest="source_urls",
        metavar="URL",
        help="search this indexed page or site only; repeatable",
    )
    parser.add_argument(
        "--top-k", type=number_between(1, 50), metavar="N", help="maximum chunks to return, 1 to 50"
    )
    add_question_options(parser)
    add_answer_options(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Search and print the brief."""
    tool_arguments = {
        "query": arguments.query,
        "source_urls": arguments.source_urls,
        "top_k": arguments.top_k,
        "intent": arguments.intent,
        "version": arguments.version,
    }
    return call_tool(
        "search",
        tool_arguments,
        arguments=arguments,
        settings=settings,
        beforehand=partial(_find_missing, arguments.source_urls) if arguments.source_urls else None,
        show=answer_printer(arguments, arguments.query),
    )


async def _find_missing(urls: Sequence[str], app: App, on_progress: OnProgress) -> Failures:
    """Return the URLs that name no indexed page.

    Raises:
        NotFound: none of them does, so there is nothing to search.
    """
    # Imported late: `--help` is answered without.
    from citewell.core.records import SearchFilter
    from citewell.research.source_urls import find_named_pages

    store = (await app.open("store")).store
    within = SearchFilter(project=app.settings.project)
    missing = [
        url
        for url in urls
        if not (await find_named_pages([url], store=store, within=within)).source_ids
    ]
    if len(missing) == len(urls):
        said = f"None of the {len(urls)} URLs is" if len(urls) > 1 else f"{urls[0]} is not"
        address = urls[0].rstrip("*")
        raise NotFound(
            f"{said} indexed.",
            suggestion=f"Run `citewell ingest {address}` first. "
            "`citewell status` shows what is indexed.",
        )
    return [
        {"url": url, "reason": "it is not indexed", "suggestion": f"Run `citewell ingest {url}`."}
        for url in missing
    ]
