"""Events reach their sinks in the background, and no sink can hold a caller up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from tests.events.webhook import running_webhook

from citewell.core.errors import SettingsError
from citewell.events.emitter import Sink, running_events
from citewell.events.open import open_events
from citewell.events.records import Event
from citewell.events.telemetry import TelemetrySink

pytestmark = pytest.mark.anyio


class Slow:
    """A sink that waits for good, then fails."""

    name = "a slow sink"

    def __init__(self) -> None:
        self.entered = anyio.Event()
        self.written: list[str] = []

    async def write(self, event: Event) -> None:
        self.entered.set()
        await anyio.sleep_forever()

    async def aclose(self) -> None:
        pass


class Kept:
    """A sink that keeps what it gets, but for what it fails on."""

    name = "a list"

    def __init__(self, *, fails_on: str = "") -> None:
        self.events: list[Event] = []
        self.fails_on = fails_on

    async def write(self, event: Event) -> None:
        if event.fields.get("url") == self.fails_on:
            raise OSError("disk full")
        self.events.append(event)

    async def aclose(self) -> None:
        pass


async def test_an_event_has_the_fields_that_seed_b_names() -> None:
    kept = Kept()

    async with running_events([kept]) as events:
        events.emit(
            "WebsiteProcessingStart",
            tool_name="rag_process_website",
            url="https://example.org/",
            content_type="job_posting",
            error=None,
        )

    sent = kept.events[0].as_json()
    assert list(sent) == ["event", "source_app", "tool_name", "url", "content_type", "timestamp"]
    assert sent["event"] == "WebsiteProcessingStart"
    assert sent["timestamp"].endswith("+00:00")


async def test_an_event_holds_no_secret() -> None:
    kept = Kept()

    async with running_events([kept]) as events:
        events.emit(
            "SemanticQueryStart",
            query="Bearer wren-7",
            filters={"urls": ["https://a.example/?token=wren-7&page=2"]},
        )

    assert "wren-7" not in str(kept.events[0].fields)
    assert kept.events[0].fields["filters"] == {
        "urls": ["https://a.example/?token=[redacted]&page=2"]
    }


async def test_a_sink_that_fails_loses_only_the_event_it_failed_on() -> None:
    kept, other = Kept(fails_on="b"), Kept()

    async with running_events([kept, other]) as events:
        for url in ("a", "b", "c"):
            events.emit("WebsiteDeleted", url=url)

    assert [event.fields["url"] for event in kept.events] == ["a", "c"]
    assert len(other.events) == 3
    assert events.dropped == 1


async def test_a_sink_that_hangs_holds_neither_callers_nor_other_sinks_up() -> None:
    slow, kept = Slow(), Kept()
    sinks: Sequence[Sink] = [slow, kept]

    with anyio.fail_after(60):
        async with running_events(sinks, queue_events=3, closing_seconds=0.05) as events:
            for number in range(10):
                events.emit("SemanticQueryComplete", results_count=number)
                await slow.entered.wait()
                await anyio.lowlevel.checkpoint()
            dropped = events.dropped

    assert len(kept.events) == 10
    # One is being written and three wait.
    assert dropped == 6


async def test_a_file_gets_one_json_object_a_line(tmp_path: Path) -> None:
    path = tmp_path / "log" / "events.jsonl"

    async with open_events((str(path),)) as events:
        events.emit("SemanticQueryStart", query="鷺", filters={"source_ids": [1]})
        events.emit("SemanticQueryComplete", results_count=2, processing_time_ms=12)

    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["event"] for line in lines] == ["SemanticQueryStart", "SemanticQueryComplete"]
    assert lines[0]["query"] == "鷺"
    assert lines[0]["filters"] == {"source_ids": [1]}


async def test_a_webhook_gets_each_event_with_its_token() -> None:
    async with (
        running_webhook() as webhook,
        open_events((webhook.url,), webhook_token="secret") as events,
    ):
        events.emit("WebsiteDeleted", source_id=7)
        with anyio.fail_after(60):
            await webhook.reached.wait()

    assert webhook.bodies[0]["source_id"] == 7
    assert webhook.headers[0]["authorization"] == "Bearer secret"


@pytest.mark.parametrize("status", ["302 Found", "404 Not Found"])
async def test_a_webhook_that_refuses_is_not_named_in_the_log(
    status: str, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere = "http://127.0.0.1:1/elsewhere"
    answer = f"HTTP/1.1 {status}\r\nLocation: {elsewhere}\r\nContent-Length: 0\r\n\r\n"
    async with (
        running_webhook(answer.encode()) as webhook,
        open_events((webhook.url,), webhook_token="wren") as events,
    ):
        events.emit("WebsiteDeleted", source_id=7)
        with anyio.fail_after(60):
            await webhook.answered.wait()

    assert f"status {status[:3]}" in caplog.text
    assert "/hook" not in caplog.text
    assert "elsewhere" not in caplog.text
    assert len(webhook.bodies) == 1


async def test_a_webhook_that_answers_without_measure_is_not_read_to_its_end() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"
    async with (
        running_webhook(head, floods=True) as webhook,
        open_events((webhook.url,)) as events,
    ):
        events.emit("WebsiteDeleted", source_id=7)
        with anyio.fail_after(60):
            await webhook.answered.wait()

    assert webhook.flooded_bytes < 20_000_000
    assert events.dropped == 0


async def test_a_webhook_that_never_answers_delays_nobody() -> None:
    async with running_webhook(answer=None) as webhook:
        started = anyio.current_time()
        async with open_events((webhook.url,)) as events:
            for number in range(2_000):
                events.emit("SemanticQueryComplete", results_count=number)
            emitted = anyio.current_time() - started
            with anyio.fail_after(60):
                await webhook.reached.wait()
        closed = anyio.current_time() - started

    assert emitted < 1
    assert closed < 4
    assert events.dropped >= 999


async def test_a_span_is_as_long_as_the_work_and_bears_its_failure() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    async with running_events([TelemetrySink(provider)]) as events:
        events.emit("SemanticQueryComplete", results_count=2, processing_time_ms=12)
        events.emit("WebsiteProcessingFailed", url="https://example.org/", error="gone")
    query, failed = exporter.get_finished_spans()

    assert query.name == "SemanticQueryComplete"
    assert query.attributes is not None
    assert query.attributes["citewell.results_count"] == 2
    assert query.start_time is not None
    assert query.end_time is not None
    assert query.end_time - query.start_time == 12_000_000
    assert failed.status.status_code is StatusCode.ERROR
    provider.shutdown()


async def test_a_webhook_must_be_a_url() -> None:
    with pytest.raises(SettingsError, match="http"):
        open_events(("ftp://example.org/",))
