"""Event sinks: the log, and a file of JSON lines."""

from __future__ import annotations

import json
import logging
import os
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

if TYPE_CHECKING:
    from pathlib import Path

    from citewell.events.records import Event

logger = logging.getLogger("citewell.events")


class LogSink:
    """The program's own log."""

    name = "the log"

    async def write(self, event: Event) -> None:
        """Write one line."""
        logger.info("%s %s", event.name, _dump(event))

    async def aclose(self) -> None:
        """Do nothing: the log is not ours to close."""


class FileSink:
    """A file with one JSON object per line, which several processes can share."""

    def __init__(self, path: Path) -> None:
        self.name = f"the file {path.name}"
        self._path = path

    async def write(self, event: Event) -> None:
        """Append one line, in one write."""
        await to_thread.run_sync(self._append, f"{_dump(event)}\n", abandon_on_cancel=True)

    async def aclose(self) -> None:
        """Do nothing: the file is open only while it is written."""

    def _append(self, line: str) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # Events contain questions and URLs, so only the owner can read the file.
        private = partial(os.open, mode=0o600)
        with open(self._path, "a", encoding="utf-8", opener=private) as file:
            file.write(line)


def _dump(event: Event) -> str:
    return json.dumps(event.as_json(), ensure_ascii=False, default=str)
