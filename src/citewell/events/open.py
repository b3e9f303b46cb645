"""Open the event sinks that the settings name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.errors import SettingsError
from citewell.core.extras import install_command
from citewell.events.emitter import running_events
from citewell.events.sinks import FileSink, LogSink

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from citewell.events.emitter import Events, Sink


def open_events(
    sinks: tuple[str, ...], *, webhook_token: str | None = None
) -> AbstractAsyncContextManager[Events]:
    """Give the emitter of these sinks: `log`, `otel`, the path of a file, or an http(s) URL.

    Raises:
        SettingsError: a sink cannot be opened.
    """
    opened = [_open(sink, webhook_token=webhook_token) for sink in sinks if sink != "none"]
    return running_events(opened)


def _open(sink: str, *, webhook_token: str | None) -> Sink:
    if sink == "log":
        return LogSink()
    if sink == "otel":
        return _open_telemetry()
    if "://" in sink:
        from citewell.events.webhook import WebhookSink

        return WebhookSink(sink, token=webhook_token)
    return FileSink(Path(sink).expanduser())


def _open_telemetry() -> Sink:
    try:
        from citewell.events.telemetry import TelemetrySink
    except ImportError as error:
        raise SettingsError(
            "CITEWELL_EVENTS names otel, but OpenTelemetry is not installed",
            suggestion=f"{install_command('telemetry')}; or take otel out of CITEWELL_EVENTS.",
        ) from error
    return TelemetrySink()
