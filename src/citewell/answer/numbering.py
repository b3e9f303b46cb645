"""Numbering sources: the [n] that a brief and its structured form share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citewell.core.records import Block, Quote
    from citewell.core.results import OrchestrationResult


def number_sources(shown: Iterable[Block | Quote]) -> dict[int, int]:
    """Return source_id → number, counted from 1 in the order sources are first seen."""
    numbers: dict[int, int] = {}
    for each in shown:
        numbers.setdefault(each.source_id, len(numbers) + 1)
    return numbers


def shown_of(result: OrchestrationResult) -> list[Block | Quote]:
    """Return all pieces of pages that a result shows, in their order."""
    differing = [quote for each in result.disagreements for quote in each.quotes]
    return [*result.blocks, *result.quotes, *differing]
