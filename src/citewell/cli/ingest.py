"""`citewell ingest`: index pages without asking anything of them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from citewell.cli.tool_call import add_json_option, call_tool
from citewell.core.errors import InferenceError
from citewell.core.results import Progress

if TYPE_CHECKING:
    import argparse

    from citewell.core.results import OnProgress
    from citewell.core.settings import Settings
    from citewell.tools.registry import ToolResult
    from citewell.tools.services import Services

logger = logging.getLogger(__name__)

DESCRIPTION = """\
Fetch pages and index them, so that `citewell search` answers from them at once. A page that is
indexed and fresh is kept as it is. One URL that fails does not stop the others."""

EXAMPLES = """\
  citewell ingest https://docs.python.org/3/library/asyncio-task.html
  citewell ingest --force https://a.example/news https://b.example/news
  citewell ingest --tag python https://docs.python.org/3/glossary.html
  xargs citewell ingest < urls.txt"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `ingest`."""
    parser.add_argument("urls", nargs="+", metavar="URL", help="page to index; several are allowed")
    parser.add_argument(
        "--force", action="store_true", help="fetch again, even what is indexed and fresh"
    )
    parser.add_argument(
        "--tag", action="append", metavar="TAG", help="tag to add to the pages; may be repeated"
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Index the pages and print a line for each."""
    given = {"url": arguments.urls, "force": arguments.force, "tags": arguments.tag}
    return call_tool(
        "ingest", given, arguments=arguments, settings=settings, afterwards=_make_vectors
    )


async def _make_vectors(services: Services, result: ToolResult, on_progress: OnProgress) -> None:
    """Wait for the vectors of the pages; without them they are found by words all the same."""
    pages = [page for page in result.structured["pages"] if page["status"] != "failed"]
    source_ids = [page["source_id"] for page in pages]
    waiting = sum(page["chunks"] for page in pages if page["status"] == "indexed")
    if services.embedder is None or not waiting:
        return
    message = "Embedding chunks"
    await on_progress(Progress(phase="embed", message=message, done=0, total=waiting))
    try:
        await services.ingester.embed_now(source_ids, on_progress=on_progress)
    except InferenceError as error:
        logger.warning("the vectors were not made: %s", error.message)
