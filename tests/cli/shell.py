"""A site and the options that point `citewell` at it."""

from __future__ import annotations

from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess

import anyio
import pytest
from tests.e2e.processes import environment
from tests.site import Site

from citewell.cli.main import main
from citewell.store.open import open_store

STORAGE = """<!DOCTYPE html><html lang="en"><head><title>Storage modes</title></head><body><main>
<h1>Storage modes</h1>
<h2 id="ring">Ring mode</h2>
<p>In ring mode the newest burst takes the place of the oldest when the memory is full.</p>
<h2 id="journal">Journal mode</h2>
<p>In journal mode bursts are only appended. When the memory is full new samples are dropped.</p>
</main></body></html>"""
MOORING = """<!DOCTYPE html><html lang="en"><head><title>Mooring</title></head><body><main>
<h1>Mooring</h1><p>A rubber cord of two metres joins the buoy to the chain.</p>
</main></body></html>"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """A running site with those pages, and options for an index of its own."""

    site: Site
    options: tuple[str, ...]


def make_database(address: str) -> None:
    """Make an empty database, which commands that read can open."""

    async def make() -> None:
        await (await open_store(address)).aclose()

    anyio.run(make)


def run_citewell(folder: Path, *arguments: str, **settings: str) -> CompletedProcess[str]:
    """Run a command as `tests.e2e.processes.run_citewell` does, but in this process.

    Importing the command takes longer than most commands.
    """
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(StringIO()) as out,
        redirect_stderr(StringIO()) as errors,
    ):
        patch.delenv("VIRTUAL_ENV", raising=False)
        patch.delenv("CONDA_PREFIX", raising=False)
        for name, value in environment(folder, **settings).items():
            patch.setenv(name, value)
        patch.chdir(folder)
        code = main(arguments)
    return CompletedProcess(arguments, code, out.getvalue(), errors.getvalue())
