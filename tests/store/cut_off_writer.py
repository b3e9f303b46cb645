"""Writes a large page and dies on the way: `python -m tests.store.cut_off_writer FILE NTH HOW WORK`.

WORK is `replace` or `remove`. HOW is `killed`, by SIGKILL right before the NTH transaction is committed, or `full`: then no file
can grow beyond NTH bytes, as on a full disk.
"""

from __future__ import annotations

import math
import os
import resource
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import anyio
from tests.store.large_pages import URL, large_page
from tests.store.looking import MODEL
from typing_extensions import override

from citewell.core.errors import StoreError
from citewell.store.sqlite import unlisted
from citewell.store.sqlite.connection import Database
from citewell.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

Result = TypeVar("Result")


class DyingDatabase(Database):
    """Kills the process at one of its transactions."""

    transactions = 0
    last = 0

    @override
    def _write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        self.transactions += 1
        is_last = self.transactions == self.last

        def die_at_the_end(connection: sqlite3.Connection) -> Result:
            result = work(connection)
            if is_last:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return super()._write(die_at_the_end)


async def main(path: Path, nth: int, how: str, work: str) -> None:
    """Replace or remove the page; exit with 0 when that was done, 1 when the disk was full."""
    # Each run has the same transactions, however busy the machine is.
    unlisted.SLICE_SECONDS = math.inf
    database = await DyingDatabase.open(path, busy_timeout_seconds=60)
    store = SqliteStore(database, model=MODEL)
    if how == "killed":
        database.last = nth
    if how == "full":
        # Python ignores SIGXFSZ, so writing fails as it does on a full disk.
        resource.setrlimit(resource.RLIMIT_FSIZE, (nth, resource.RLIM_INFINITY))
    try:
        if work == "replace":
            await store.put_page(large_page("Crane"))
        else:
            page = await store.find_page(URL, project="default")
            assert page is not None
            await store.delete_page(page.source_id)
    except StoreError as error:
        sys.stdout.write(f"{error}\n")
        sys.stdout.flush()
        os._exit(1)
    sys.stdout.write(f"{database.transactions}\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4])
