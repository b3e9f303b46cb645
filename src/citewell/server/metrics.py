"""Numbers for Prometheus: calls, their time and outcome, refusals, and what the caches hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

if TYPE_CHECKING:
    from typing import Literal

    from citewell.app.vitals import Vitals
    from citewell.server.draining import Draining

    Refusal = Literal["unauthorized", "forbidden", "rate_limited", "unavailable", "stopping"]

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

_SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


class Metrics:
    """The counters of one server; names are stable, for dashboards hold on to them."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._calls = Counter(
            "citewell_calls", "Tool calls.", ("tool", "outcome"), registry=self._registry
        )
        self._seconds = Histogram(
            "citewell_call_seconds",
            "Seconds that tool calls took.",
            ("tool",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._counted: dict[tuple[str, str], tuple[Counter, Histogram]] = {}
        self._refusals = Counter(
            "citewell_refusals", "Requests not served.", ("reason",), registry=self._registry
        )
        self._running = self._gauge("citewell_running_requests", "Requests being answered.")
        self._pages = self._gauge("citewell_pages", "Pages in the store.")
        self._chunks = self._gauge("citewell_chunks", "Chunks in the store.")
        self._queue = self._gauge("citewell_embedding_queue", "Chunks that wait for a vector.")
        self._passages = self._gauge("citewell_scratch_passages", "Passages kept for callers.")
        self._bytes = self._gauge("citewell_scratch_bytes", "Bytes of those passages.")
        self._evictions = self._gauge(
            "citewell_scratch_evictions_total", "Passages dropped for want of room."
        )
        self._expiries = self._gauge(
            "citewell_scratch_expiries_total", "Passages dropped after their time."
        )
        self._usage = self._gauge("citewell_usage_waiting", "Calls not yet written to the store.")
        self._jobs = Gauge(
            "citewell_jobs", "Unfinished background jobs.", ("state",), registry=self._registry
        )
        self._renders = Gauge(
            "citewell_renders", "Pages asked of workers.", ("state",), registry=self._registry
        )
        self._render_workers = self._gauge("citewell_render_workers", "Workers that render.")
        self._searches = Gauge(
            "citewell_web_searches_total",
            "Web searches, sent or found among those sent lately.",
            ("answered_by",),
            registry=self._registry,
        )

    def count_call(self, tool: str, outcome: str, *, seconds: float) -> None:
        """Count one tool call."""
        counted = self._counted.get((tool, outcome))
        if counted is None:
            # Finding a label's counter takes longer than counting.
            counted = (self._calls.labels(tool, outcome), self._seconds.labels(tool))
            self._counted[tool, outcome] = counted
        counted[0].inc()
        counted[1].observe(seconds)

    def count_refusal(self, reason: Refusal) -> None:
        """Count a request that was turned away."""
        self._refusals.labels(reason).inc()

    def render(self, vitals: Vitals, draining: Draining) -> bytes:
        """Return everything in the text format of Prometheus."""
        self._running.set(draining.running)
        self._pages.set(vitals.pages)
        self._chunks.set(vitals.chunks)
        self._queue.set(vitals.chunks_without_vector)
        self._passages.set(vitals.scratch_passages)
        self._bytes.set(vitals.scratch_bytes)
        self._evictions.set(vitals.scratch_evictions)
        self._expiries.set(vitals.scratch_expiries)
        self._usage.set(vitals.usage_records_waiting)
        self._jobs.labels("waiting").set(vitals.jobs_waiting)
        self._jobs.labels("running").set(vitals.jobs_running)
        self._renders.labels("waiting").set(vitals.renders_waiting)
        self._renders.labels("running").set(vitals.renders_running)
        self._render_workers.set(vitals.render_workers)
        sent = vitals.web_searches - vitals.web_searches_remembered
        self._searches.labels("engine").set(sent)
        self._searches.labels("cache").set(vitals.web_searches_remembered)
        return generate_latest(self._registry)

    def _gauge(self, name: str, about: str) -> Gauge:
        return Gauge(name, about, registry=self._registry)
