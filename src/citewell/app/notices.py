"""Where events are reported to."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from citewell.events.open import open_events

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.app.parts import Assembly
    from citewell.events.emitter import Events


@asynccontextmanager
async def open_events_part(assembly: Assembly) -> AsyncIterator[Events]:
    """Give the emitter of the configured sinks."""
    settings = assembly.settings
    async with open_events(settings.events, webhook_token=settings.events_webhook_token) as events:
        yield events
