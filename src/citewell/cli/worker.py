"""`citewell worker`: does background work until it is stopped."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING

import anyio

from citewell.app.open import open_app
from citewell.cli.parser import add_setting_option
from citewell.server.logging_setup import configure_logging
from citewell.server.stop_signals import on_stop_signal

if TYPE_CHECKING:
    import argparse

    from citewell.core.settings import Settings

logger = logging.getLogger(__name__)

DESCRIPTION = """\
Do the background work of the library: websites that were added with --background or by a server,
unfinished crawls and due refreshes (ingest), missing vectors (embed), and pages that servers with
CITEWELL_RENDER_IN=workers want rendered in a browser (render). Several workers and servers share
the work of one database. SIGINT or SIGTERM ends it; unfinished work is handed back."""

EXAMPLES = """\
  citewell worker
  citewell worker --concurrency 8
  citewell worker --kinds ingest,embed
  citewell worker --kinds render        # on a machine with Chromium
  citewell worker --until-idle          # do what is due, then end"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `worker`."""
    add_setting_option(
        parser, "--concurrency", "jobs_concurrency", metavar="N", about="jobs to run at a time"
    )
    add_setting_option(
        parser,
        "--kinds",
        "jobs_kinds",
        metavar="KIND,…",
        about="kinds of work to do: ingest, embed, render",
    )
    parser.add_argument("--until-idle", action="store_true", help="exit when nothing is due")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Work until stopped, or until there is nothing to do."""
    configure_logging(settings.mcp_log_level, form=settings.mcp_log_format)
    anyio.run(partial(_work, settings, until_idle=arguments.until_idle))
    return 0


async def _work(settings: Settings, *, until_idle: bool) -> None:
    loop = asyncio.get_running_loop()
    async with open_app(settings, role="worker") as app:
        library = (await app.open("background", "library")).library
        logger.info("worker started: at most %d jobs at once", settings.jobs_concurrency)
        # Only what is inside the scope is cancelled: the parts are to close in good order.
        with (
            anyio.CancelScope() as scope,
            on_stop_signal(lambda: loop.call_soon_threadsafe(scope.cancel)),
        ):
            if until_idle:
                await library.run_until_idle()
            else:
                await anyio.sleep_forever()
    logger.info("worker stopped")
