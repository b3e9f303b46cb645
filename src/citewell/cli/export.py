"""`citewell export`: the library in one file."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from citewell.app.open import open_app
from citewell.cli.overwrite import refuse_to_overwrite
from citewell.cli.terminal import print_text, showing_progress
from citewell.cli.work import add_json_option
from citewell.core.text import counted
from citewell.inference.names import vector_model
from citewell.ingest.archive.write import write_archive

if TYPE_CHECKING:
    import argparse

    from citewell.core.settings import Settings
    from citewell.ingest.archive.format import Manifest

DESCRIPTION = """\
Write all pages, chunks, vectors and websites of the project into one file, which `citewell import`
reads on this or another machine. The file carries its version and checksums."""

EXAMPLES = """\
  citewell export library.zip
  citewell export --json /backup/library.zip"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `export`."""
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="file to write; an earlier export is replaced"
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Write the file and print what it holds."""
    refuse_to_overwrite(arguments.file, kind="an export")
    manifest = anyio.run(partial(_export, arguments.file, settings))
    size = arguments.file.stat().st_size
    counts: dict[str, Any] = {
        name: value for name, value in asdict(manifest).items() if name != "parts"
    }
    if arguments.json:
        print(json.dumps({"file": str(arguments.file), "bytes": size, **counts}, indent=2))
    else:
        print_text(
            f"Exported {counted(manifest.pages, 'page')}, {counted(manifest.chunks, 'chunk')} and "
            f"{counted(manifest.websites, 'website')} to {arguments.file} ({size / 1e6:,.1f} MB)."
        )
    return 0


async def _export(path: Path, settings: Settings) -> Manifest:
    with showing_progress() as on_progress:
        async with open_app(settings, role="command") as app:
            return await write_archive(
                path,
                store=(await app.open("store")).store,
                project=settings.project,
                model=vector_model(settings.embedder),
                on_progress=on_progress,
            )
