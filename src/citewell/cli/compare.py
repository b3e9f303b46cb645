"""`citewell compare`: what two indexed versions say about a symbol, a page or a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.cli.tool_call import call_tool
from citewell.cli.work import add_json_option

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from citewell.core.settings import Settings

DESCRIPTION = """\
Show what two indexed versions of a product's documentation say about a symbol, a page or a
question: exact quotes with the difference marked, and the release notes that mention it. For a page
without versions, its text is compared with the one before it last changed. Nothing is fetched."""

EXAMPLES = """\
  citewell compare QuerySet.select_related --old 3.2 --new 4.2
  citewell compare run_sync --product anyio
  citewell compare https://example.org/pricing
  citewell compare "How are timeouts set in httpx?\""""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `compare`."""
    parser.add_argument("subject", metavar="SUBJECT", help="a symbol, a page's URL or a question")
    parser.add_argument(
        "--old", dest="old_version", metavar="VERSION", help="default: the newest but one"
    )
    parser.add_argument("--new", dest="new_version", metavar="VERSION", help="default: the newest")
    parser.add_argument("--product", metavar="NAME", help="such as django; inferred when left out")
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Compare and print the pairs."""
    names = ("subject", "old_version", "new_version", "product")
    tool_arguments = {name: getattr(arguments, name) for name in names}
    return call_tool(
        "compare_versions",
        tool_arguments,
        toolset="versions",
        arguments=arguments,
        settings=settings,
        show=_print,
    )


def _print(result: Mapping[str, Any]) -> None:
    # Imported late: a pipe needs no rich.
    from citewell.cli.comparison_view import print_comparison

    print_comparison(result)
