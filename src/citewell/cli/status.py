"""`citewell status`: what is indexed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.cli.tool_call import add_json_option, call_tool

if TYPE_CHECKING:
    import argparse

    from citewell.core.settings import Settings

DESCRIPTION = """\
Show how much is indexed and which pages, with their titles, sizes and fetch times. With a URL,
report on that page only; a page that is not indexed is an error."""

EXAMPLES = """\
  citewell status
  citewell status --no-urls
  citewell status https://docs.python.org/3/library/asyncio-task.html --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `status`."""
    parser.add_argument("url", nargs="?", metavar="URL", help="report on this page only")
    parser.add_argument("--no-urls", action="store_true", help="count, but do not list the pages")
    parser.add_argument("--cursor", type=int, metavar="N", help="list on from where it stopped")
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the counts and the pages."""
    given = {
        "source_url": arguments.url,
        "include_urls": not arguments.no_urls,
        "cursor": arguments.cursor,
    }
    return call_tool("status", given, arguments=arguments, settings=settings)
