"""How long work reports its progress."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from citewell.core.frozen import frozen

Phase = Literal[
    "ingest",
    "embed",
    "analysis",
    "retrieval",
    "reranking",
    "expansion",
    "locality",
    "merge",
    "waiting",
    "export",
    "import",
]


@frozen
class Progress:
    """One step of long work, reported while it goes on."""

    phase: Phase
    message: str
    done: int | None = None
    total: int | None = None
    bytes_done: int = 0
    """Bytes of pages or chunks so far; 0 where nobody counts them."""
    own_address: str = ""
    """An address of this server that the message names; any other is taken for a page's words."""


OnProgress = Callable[[Progress], Awaitable[None]]


async def no_progress(progress: Progress) -> None:
    """Report to nobody."""
