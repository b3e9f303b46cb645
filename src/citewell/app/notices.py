"""The emitter of events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.events.open import open_events

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from citewell.app.parts import Assembly
    from citewell.events.emitter import Events


def open_events_part(assembly: Assembly) -> AbstractAsyncContextManager[Events]:
    """Give the emitter of the configured sinks."""
    settings = assembly.settings
    return open_events(settings.events, webhook_token=settings.events_webhook_token)
