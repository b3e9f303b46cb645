"""The [STATS] section of a brief (seed A §6.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.text import counted, one_line

if TYPE_CHECKING:
    from citewell.core.boundary import Boundary
    from citewell.core.results import FailedUrl, OrchestrationResult, Timing

_MODES = {
    "chunk": "chunk (selective retrieval)",
    "full_context": "full_context (entire corpus fits within token budget)",
}


def format_stats(result: OrchestrationResult, boundary: Boundary) -> str:
    """Return how the evidence was found, with a note for everything a reader should know."""
    lines = [
        "[STATS]",
        f"Mode: {_MODES[result.mode]}",
        f"Documents searched: {result.documents_searched}",
        f"Documents matched: {result.documents_matched}",
        f"Chunks evaluated: {result.chunks_evaluated}",
        f"Expansion iterations: {result.iterations}",
        f"URLs ingested: {result.urls_ingested}",
        f"Stop reason: {result.stop_reason}",
        f"Total time: {_format_timing(result.timing)}",
        *(f"Note: {note}" for note in reader_notes(result)),
        *(
            "Note: could not be read: " + boundary.quote(_name_failure(failed))
            for failed in result.failures
        ),
    ]
    return "\n".join(lines)


def _name_failure(failed: FailedUrl) -> str:
    reason = one_line(failed.reason)
    return reason if failed.url in reason else f"{failed.url}: {reason}"


def format_summary(result: OrchestrationResult, boundary: Boundary) -> str:
    """Return in two lines how the evidence was found, with what a reader should know."""
    lines = [
        "[STATS]",
        f"{counted(result.documents_searched, 'document')} searched; "
        f"stopped: {result.stop_reason}; "
        f"{result.timing.total_ms:.0f}ms",
        *(f"Note: {note}" for note in result.notes),
        *(
            "Note: could not be read: " + boundary.quote(_name_failure(failed))
            for failed in result.failures
        ),
    ]
    if result.partial:
        lines.append("Note: Time was nearly up; these results are partial.")
    return "\n".join(lines)


def reader_notes(result: OrchestrationResult) -> list[str]:
    """Return what a reader should know of how the evidence was found, a sentence each."""
    notes: list[str] = []
    budget, depth = result.expansion_budget, result.max_depth
    if result.partial:
        notes.append("Time was nearly up; these results are partial.")
    if result.iterations == 0 and budget != 0:
        notes.append("No expansion performed (single iteration).")
    if result.stop_reason == "expansion budget is used up":
        reached = result.iterations
        notes.append(f"Expansion budget exhausted (reached {reached} of {reached} iterations).")
    if result.steps and max(step.depth for step in result.steps) >= depth > 0:
        notes.append(
            f"Expansion reached maximum depth ({depth}). Results may benefit from a more "
            "specific query or a different seed URL."
        )
    return [*notes, *result.notes]


def _format_timing(timing: Timing) -> str:
    stages = (
        ("analysis", timing.query_analysis_ms),
        ("retrieval", timing.retrieval_ms),
        ("reranking", timing.reranking_ms),
        ("expansion", timing.expansion_ms),
        ("locality", timing.locality_ms),
        ("merge", timing.merge_ms),
    )
    listed = ", ".join(f"{name}: {spent:.0f}ms" for name, spent in stages)
    return f"{timing.total_ms:.0f}ms ({listed})"
