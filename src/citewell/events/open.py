"""Opening the sinks that the settings name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import httpx2

from citewell.core.errors import SettingsError
from citewell.events.emitter import running_events
from citewell.events.sinks import FileSink, LogSink, WebhookSink

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from citewell.events.emitter import Events, Sink


def open_events(
    sinks: tuple[str, ...], *, source_app: str, webhook_token: str | None = None
) -> AbstractAsyncContextManager[Events]:
    """Return the way in to sinks: `log`, `otel`, the path of a file, or an http(s) URL.

    Raises:
        SettingsError: a sink cannot be had.
    """
    opened = [_open(sink, webhook_token=webhook_token) for sink in sinks if sink != "none"]
    return running_events(opened, source_app=source_app)


def _open(sink: str, *, webhook_token: str | None) -> Sink:
    if sink == "log":
        return LogSink()
    if sink == "otel":
        return _open_telemetry()
    if "://" in sink:
        return WebhookSink(_checked(sink), token=webhook_token)
    return FileSink(Path(sink).expanduser())


def _checked(url: str) -> str:
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise SettingsError("a URL in EVENTS cannot be read") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise SettingsError("a webhook in EVENTS must start with http:// or https://")
    return url


def _open_telemetry() -> Sink:
    try:
        from citewell.events.telemetry import TelemetrySink
    except ImportError as error:
        raise SettingsError(
            "EVENTS names otel, but OpenTelemetry is not installed",
            suggestion="Install citewell[telemetry], or take otel out of EVENTS.",
        ) from error
    return TelemetrySink()
