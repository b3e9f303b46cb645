"""Errors that another process has met, by the names of their classes."""

from __future__ import annotations

from citewell.core.errors import CitewellError


def error_of_kind(kind: str | None, message: str) -> CitewellError:
    """Return the error of the class called `kind`, as another process has met it."""
    waiting: list[type[CitewellError]] = [CitewellError]
    while waiting:
        each = waiting.pop()
        if each.__name__ == kind:
            return each(message)
        waiting += each.__subclasses__()
    return CitewellError(message)
