"""Numbering sources: the [n] that a brief and its structured form share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citewell.core.records import Block


def number_sources(blocks: Iterable[Block]) -> dict[int, int]:
    """Return source_id → number, counted from 1 in the order sources are first seen."""
    numbers: dict[int, int] = {}
    for block in blocks:
        numbers.setdefault(block.source_id, len(numbers) + 1)
    return numbers
