"""`citewell search`: a question about pages that are already indexed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.cli.answer_options import add_answer_options, add_question_options, answer_printer
from citewell.cli.parser import number_between
from citewell.cli.tool_call import call_tool

if TYPE_CHECKING:
    import argparse

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
        help="search this indexed page only; repeatable",
    )
    parser.add_argument(
        "--top-k", type=number_between(1, 50), metavar="N", help="most chunks to return, 1 to 50"
    )
    add_question_options(parser)
    add_answer_options(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Search and print the brief."""
    given = {
        "query": arguments.query,
        "source_urls": arguments.source_urls,
        "top_k": arguments.top_k,
        "intent": arguments.intent,
        "version": arguments.version,
    }
    return call_tool(
        "search",
        given,
        arguments=arguments,
        settings=settings,
        show=answer_printer(arguments, arguments.query),
    )
