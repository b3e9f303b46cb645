"""Reading pages in other processes, and what happens when such a process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.ingest.fetched import fetched

from citewell.core.errors import ExtractionError
from citewell.ingest.reading import PageReader, read_page

if TYPE_CHECKING:
    from pathlib import Path

    from citewell.core.records import FetchedPage
    from citewell.ingest.packed_page import ReadPage

pytestmark = pytest.mark.anyio

MAIN_THAT_CANNOT_BE_IMPORTED = """
import os
if __name__ != "__main__":
    os._exit(3)

import anyio
from tests.ingest.fetched import fetched
from citewell.ingest.reading import PageReader

async def main():
    reader = PageReader()
    for name in ("Herons", "Egrets"):
        page = fetched(f"<main><h1>{name}</h1><p>They wade.</p></main>")
        print((await reader.read(page, in_process=True))[0].title)

anyio.run(main)
"""


def read_or_end_process(page: FetchedPage) -> ReadPage:
    if "deadly" in page.text:
        os.kill(os.getpid(), signal.SIGKILL)
    return read_page(page)


async def test_a_page_that_ends_its_process_fails_and_others_are_read() -> None:
    reader = PageReader(read_or_end_process)

    with pytest.raises(ExtractionError, match="ends the process that reads it"):
        await reader.read(fetched("<p>A deadly page.</p>"), in_process=True)
    extracted, _, _ = await reader.read(fetched("<p>A harmless page.</p>"), in_process=True)

    assert extracted.text == "A harmless page.\n"


def test_pages_are_read_without_processes_where_none_can_be_started(tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text(MAIN_THAT_CANNOT_BE_IMPORTED, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, script],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )

    assert done.stdout.split() == ["Herons", "Egrets"]
    assert done.stderr.count("no process for reading can be started") == 1
