"""Work that nobody waits for, which gives way to work that somebody does."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_is_background: ContextVar[bool] = ContextVar("is_background", default=False)


@contextmanager
def in_background() -> Iterator[None]:
    """Have what runs inside give way to other calls of the same model."""
    token = _is_background.set(True)
    try:
        yield
    finally:
        _is_background.reset(token)


def is_background() -> bool:
    """Return whether the current work gives way."""
    return _is_background.get()
