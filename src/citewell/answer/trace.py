"""The [EXPANSION TRACE] section: the pages that were followed, as a tree (seed A §6.2)."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.core.frozen import frozen
from citewell.core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.boundary import Boundary
    from citewell.core.results import ExpansionStep, OrchestrationResult


def format_trace(result: OrchestrationResult, boundary: Boundary) -> str:
    """Return the given pages, and below each the pages that were followed from it, as a tree."""
    followed = [step.url for step in result.steps]
    parents = [step.parent_url for step in result.steps]
    seeds = [url for url in dict.fromkeys((*result.seeds, *parents)) if url not in followed]
    tree = _Tree(
        steps=result.steps,
        base=_common_base([*seeds, *parents, *followed]),
        sites=frozenset(map(_origin, seeds)),
    )
    lines: list[str] = []
    if tree.base:
        lines += [f"Base: {tree.base}", ""]
    score = result.steps[0].score_before
    for seed in seeds:
        lines.append(f"{tree.short(seed)} (seed, score: {score:.2f} → {score:.2f})")
        lines += tree.branch(seed, prefix="")
    shown = boundary.quote("\n".join(lines))
    return f"[EXPANSION TRACE]\n{shown}\n    [stopped: {result.stop_reason}]"


@frozen
class _Tree:
    steps: Sequence[ExpansionStep]
    base: str
    """The folder that is left out of the names; "" when there is none."""
    sites: frozenset[str]
    """Where the given pages stand; all else is external."""

    def branch(self, parent: str, *, prefix: str) -> list[str]:
        """Return the lines of what was followed from `parent`, and on from there."""
        children = [step for step in self.steps if step.parent_url == parent and step.url != parent]
        lines: list[str] = []
        for step in children:
            last = step is children[-1]
            lines.append(f"{prefix}{'└── ' if last else '├── '}{self._describe(step)}")
            lines += self.branch(step.url, prefix=prefix + ("    " if last else "│   "))
        return lines

    def short(self, url: str) -> str:
        """Return `url` without the base."""
        return "/" + url.removeprefix(self.base) if self.base and url.startswith(self.base) else url

    def _describe(self, step: ExpansionStep) -> str:
        external = "" if _origin(step.url) in self.sites else "external, "
        head = f"{self.short(step.url)} ({external}depth {step.depth}"
        if step.failure is not None:
            return f"{head}) [failed: {one_line(step.failure)}]"
        return (
            f"{head}, +{step.chunks_added} chunks, "
            f"score: {step.score_before:.2f} → {step.score_after:.2f}, {step.duration_ms:.0f}ms)"
        )


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _common_base(urls: Sequence[str]) -> str:
    """Return the folder that the URLs on the first one's host share; "" when it is alone there."""
    origin = _origin(urls[0])
    own = dict.fromkeys(url for url in urls if _origin(url) == origin)
    folder = posixpath.commonpath(posixpath.dirname(urlsplit(url).path) or "/" for url in own)
    return f"{origin}{folder.rstrip('/')}/" if len(own) > 1 else ""
