"""`citewell migrate`: a library from one database to another."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import anyio

from citewell.cli.database import refuse_missing_database
from citewell.cli.main import database_address
from citewell.cli.terminal import print_text, showing_progress
from citewell.cli.work import add_json_option
from citewell.core.errors import InvalidArgument, SettingsError
from citewell.core.text import counted
from citewell.inference.names import vector_model
from citewell.ingest.archive.copy import copy_library
from citewell.store.open import database_file, open_store

if TYPE_CHECKING:
    import argparse

    from citewell.core.settings import Settings
    from citewell.ingest.archive.copy import Copied

DESCRIPTION = """\
Copy all pages, vectors and websites of all projects from one database into another, in either
direction between SQLite and PostgreSQL. Pages keep their ids. What is there already is
skipped, so running it again finishes an interrupted copy. At the end every page is read back from
both and compared. Keys, usage, questions and jobs stay where they are."""

EXAMPLES = """\
  citewell migrate --from /data/citewell.db --to postgresql://citewell@db/citewell
  citewell migrate --from postgresql://citewell@db/citewell --to /backup/citewell.db"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `migrate`."""
    parser.add_argument(
        "--from",
        dest="source",
        required=True,
        type=database_address,
        metavar="PATH|URL",
        help="database to read: a SQLite file or postgresql://…",
    )
    parser.add_argument(
        "--to",
        dest="target",
        required=True,
        type=database_address,
        metavar="PATH|URL",
        help="database to fill",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Copy, check, and print what both databases hold."""
    if arguments.source == arguments.target:
        raise InvalidArgument("--from and --to name the same database")
    for option, address in {"--from": arguments.source, "--to": arguments.target}.items():
        try:
            database_file(address)
        except SettingsError as error:
            named = error.message.replace("CITEWELL_DATABASE_URL", option)
            raise InvalidArgument(named) from error
    refuse_missing_database(arguments.source)
    copied = anyio.run(partial(_migrate, arguments.source, arguments.target, settings))
    if arguments.json:
        print(json.dumps(asdict(copied), indent=2))
    else:
        print_text(
            f"Copied {counted(copied.pages_written, 'page')}; "
            f"{copied.pages_unchanged:,} were there.\n"
            f"Both databases hold {counted(copied.pages, 'page')}, "
            f"{counted(copied.chunks, 'chunk')}, {counted(copied.vectors, 'vector')} and "
            f"{counted(copied.websites, 'website')} of the source.\n"
            f"Checksum {copied.checksum[:16]}, the same in both."
        )
    return 0


async def _migrate(source_url: str, target_url: str, settings: Settings) -> Copied:
    model = vector_model(settings.embedder)
    # Both were named on the command line for this, whatever else they hold.
    open_chosen = partial(open_store, model=model, schema=settings.postgres_schema, is_chosen=True)
    source = await open_chosen(source_url)
    try:
        target = await open_chosen(target_url)
        try:
            with showing_progress() as on_progress:
                return await copy_library(source, target, model=model, on_progress=on_progress)
        finally:
            await target.aclose()
    finally:
        await source.aclose()
