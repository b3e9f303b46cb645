"""Where events can go: the log, a file of JSON lines, a webhook."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import httpx2
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
    """A file that gets one JSON object a line; several processes may share it."""

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
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line)


class WebhookSink:
    """A URL that each event is posted to."""

    def __init__(self, url: str, *, token: str | None, timeout_seconds: float = 5.0) -> None:
        self.name = "the webhook"
        self._url = url
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._client = httpx2.AsyncClient(headers=headers, timeout=timeout_seconds)

    async def write(self, event: Event) -> None:
        """Post the event; an answer of 4xx or 5xx raises."""
        response = await self._client.post(self._url, json=event.as_json())
        response.raise_for_status()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _dump(event: Event) -> str:
    return json.dumps(event.as_json(), ensure_ascii=False, default=str)
