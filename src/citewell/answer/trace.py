"""The [EXPANSION TRACE] section: the pages that were followed, as a tree (seed A §6.2)."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.results import ExpansionStep, OrchestrationResult


def format_trace(result: OrchestrationResult) -> str:
    """Return the followed pages as an ASCII tree below the pages they were linked from."""
    parents = {step.parent_url for step in result.steps}
    seeds = [
        url
        for url in dict.fromkeys(step.parent_url for step in result.steps)
        if url not in {step.url for step in result.steps}
    ]
    base = _common_base([*parents, *(step.url for step in result.steps)])
    lines = ["[EXPANSION TRACE]"]
    if base:
        lines += [f"Base: {base}", ""]
    for seed in seeds:
        children = _children(result.steps, seed)
        start = children[0].score_before if children else 0.0
        lines.append(f"{_short(seed, base)} (seed, score: {start:.2f} → {start:.2f})")
        lines += _branch(result.steps, seed, base, prefix="")
    lines.append(f"    [stopped: {result.stop_reason}]")
    return "\n".join(lines)


def _branch(steps: Sequence[ExpansionStep], parent: str, base: str, *, prefix: str) -> list[str]:
    lines: list[str] = []
    children = _children(steps, parent)
    for step in children:
        last = step is children[-1]
        lines.append(f"{prefix}{'└── ' if last else '├── '}{_describe(step, base)}")
        lines += _branch(steps, step.url, base, prefix=prefix + ("    " if last else "│   "))
    return lines


def _children(steps: Sequence[ExpansionStep], parent: str) -> list[ExpansionStep]:
    return [step for step in steps if step.parent_url == parent and step.url != parent]


def _describe(step: ExpansionStep, base: str) -> str:
    external = "external, " if base and not step.url.startswith(base) else ""
    name = _short(step.url, base)
    if step.failure is not None:
        return f"{name} ({external}depth {step.depth}) [failed: {one_line(step.failure)}]"
    return (
        f"{name} ({external}depth {step.depth}, +{step.chunks_added} chunks, "
        f"score: {step.score_before:.2f} → {step.score_after:.2f}, {step.duration_ms:.0f}ms)"
    )


def _short(url: str, base: str) -> str:
    return "/" + url.removeprefix(base) if base and url.startswith(base) else url


def _common_base(urls: Sequence[str]) -> str:
    """Return the folder most URLs share, judged by the first URL's host; "" when there is none."""
    origins = [f"{urlsplit(url).scheme}://{urlsplit(url).netloc}" for url in urls]
    origin = max(dict.fromkeys(origins), key=origins.count)
    paths = [
        posixpath.dirname(urlsplit(url).path) or "/"
        for url, own in zip(urls, origins, strict=True)
        if own == origin
    ]
    folder = posixpath.commonpath(paths)
    return f"{origin}{folder.rstrip('/')}/" if len(paths) > 1 else ""
