"""Parts that are closed by `aclose`, and may be absent."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Closable(Protocol):
    """Something that has to be closed."""

    async def aclose(self) -> None:
        """Free what it holds."""


PartT = TypeVar("PartT", bound=Closable | None)


@asynccontextmanager
async def closing(part: PartT) -> AsyncIterator[PartT]:
    """Give a part, and close it on leaving unless it is None."""
    try:
        yield part
    finally:
        if part is not None:
            await part.aclose()
