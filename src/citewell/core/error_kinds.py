"""Errors that another process raised, by the names of their classes."""

from __future__ import annotations

from citewell.core.errors import CitewellError


def error_of_kind(kind: str | None, message: str) -> CitewellError:
    """Return the error of the class called `kind`, as another process raised it."""
    waiting: list[type[CitewellError]] = [CitewellError]
    while waiting:
        error_class = waiting.pop()
        if error_class.__name__ == kind:
            return error_class(message)
        waiting += error_class.__subclasses__()
    return CitewellError(message)
