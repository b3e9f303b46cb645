"""The decorator of records: immutable values with named fields."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable

_Record = TypeVar("_Record")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def frozen(cls: type[_Record]) -> type[_Record]:
    """Make a class a frozen dataclass with slots, whose fields are given by name."""
    # All records share these. Compiling them for each class would take a fifth of the time it takes
    # to define one, and a first search defines 180.
    for name, method in _SHARED.items():
        if name not in vars(cls):
            setattr(cls, name, method)
    return dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)(cls)


def _equal(self: Any, other: Any) -> Any:  # noqa: ANN401 - records of any class
    cls: type[Any] = self.__class__
    if other.__class__ is not cls:
        return NotImplemented
    compared = _compared_of(cls)
    return compared(self) == compared(other)


def _hashed(self: Any) -> int:  # noqa: ANN401
    return hash(_compared_of(self.__class__)(self))


def _shown(self: Any) -> str:  # noqa: ANN401
    values = [f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr]
    return f"{self.__class__.__qualname__}({', '.join(values)})"


@cache
def _compared_of(cls: type[Any]) -> Callable[[object], object]:
    """Return what takes the values of a record by which it is compared."""
    names = [each.name for each in fields(cls) if each.compare]
    return attrgetter(*names) if names else lambda _record: ()


_SHARED: dict[str, Callable[..., object]] = {
    "__eq__": _equal,
    "__hash__": _hashed,
    "__repr__": _shown,
}
