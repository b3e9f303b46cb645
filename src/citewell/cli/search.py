"""`citewell search`: a question about pages that are already indexed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from citewell.cli.answer_options import add_answer_options, add_question_options, answer_printer
from citewell.cli.local_paths import named_pages
from citewell.cli.parser import number_between
from citewell.cli.tool_call import Unread, call_tool
from citewell.core.errors import NotFound

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from citewell.app.open import App
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings

DESCRIPTION = """\
Search the pages that are indexed. Nothing is fetched, so it is fast and works offline. Prints
the same kind of brief as `citewell ask`."""

EXAMPLES = """\
  citewell search "cancel a task"
  citewell search "cancel a task" --url https://docs.python.org/3/library/asyncio-task.html
  citewell search "adding a user" --url ./docs
  citewell search "timeouts" --top-k 5 --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `search`."""
    parser.add_argument("query", metavar="QUERY", help="the question or the words to look for")
    parser.add_argument(
        "--url",
        action="append",
        dest="source_urls",
        metavar="URL",
        help="search this indexed page, site, file or folder only; repeatable",
    )
    parser.add_argument(
        "--top-k", type=number_between(1, 50), metavar="N", help="maximum chunks to return, 1 to 50"
    )
    add_question_options(parser)
    add_answer_options(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Search and print the brief."""
    named = named_pages(arguments.source_urls) if arguments.source_urls else {}
    tool_arguments = {
        "query": arguments.query,
        "source_urls": list(named.values()) or None,
        "top_k": arguments.top_k,
        "intent": arguments.intent,
        "version": arguments.version,
    }
    return call_tool(
        "search",
        tool_arguments,
        arguments=arguments,
        settings=settings,
        beforehand=partial(_find_missing, named) if named else None,
        show=answer_printer(arguments, arguments.query),
    )


async def _find_missing(named: Mapping[str, str], app: App, on_progress: OnProgress) -> Unread:
    """Return the pages that are not indexed, of those that are named by a URL or a path.

    Raises:
        NotFound: none of them is, so there is nothing to search.
    """
    # Imported late: `--help` is answered without.
    from citewell.core.records import SearchFilter
    from citewell.research.source_urls import find_named_pages

    store = (await app.open("store")).store
    within = SearchFilter(project=app.settings.project)
    missing = [
        name
        for name, url in named.items()
        if not (await find_named_pages([url], store=store, within=within)).source_ids
    ]
    if len(missing) == len(named):
        said = (
            f"None of the {len(missing)} pages is" if len(missing) > 1 else f"{missing[0]} is not"
        )
        raise NotFound(
            f"{said} indexed.",
            suggestion=f"Run `citewell ingest {missing[0].rstrip('*')}` first. "
            "`citewell status` shows what is indexed.",
        )
    return Unread(
        failures=[
            {"url": name, "reason": "it is not indexed", "suggestion": f"`citewell ingest {name}`"}
            for name in missing
        ]
    )
