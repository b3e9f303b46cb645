"""`citewell import`: a library from one file."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from citewell.app.open import open_app
from citewell.cli.terminal import print_text, showing_progress
from citewell.cli.work import add_json_option
from citewell.core.text import counted
from citewell.ingest.archive.read import import_archive

if TYPE_CHECKING:
    import argparse

    from citewell.core.settings import Settings
    from citewell.ingest.archive.read import Imported

DESCRIPTION = """\
Read a file that `citewell export` wrote into the project. The file is checked before anything is
written. Running it again finishes what was cut short; pages that were fetched later stay."""

EXAMPLES = """\
  citewell import library.zip
  citewell import --database sqlite:////data/other.db library.zip"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `import`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="file that `citewell export` wrote")
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Read the file and print what was taken in."""
    imported = anyio.run(partial(_import, arguments.file, settings))
    if arguments.json:
        print(json.dumps({"file": str(arguments.file), **asdict(imported)}, indent=2))
    else:
        print_text(
            f"Imported {counted(imported.pages_written, 'page')} with "
            f"{counted(imported.chunks, 'chunk')} and "
            f"{counted(imported.websites_added, 'website')}. Already there: "
            f"{counted(imported.pages_unchanged, 'page')}, "
            f"{counted(imported.websites_known, 'website')}; "
            f"newer here and kept: {counted(imported.pages_newer, 'page')}."
        )
    return 0


async def _import(path: Path, settings: Settings) -> Imported:
    with showing_progress() as on_progress:
        async with open_app(settings, role="command") as app:
            store = (await app.open("store")).store
            return await import_archive(
                path,
                store=store,
                project=settings.project,
                response_max_bytes=settings.response_max_bytes,
                on_progress=on_progress,
            )
