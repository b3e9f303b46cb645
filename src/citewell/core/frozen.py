"""The decorator of records: immutable values with named fields.

A start makes some 150 of them, and `dataclass(frozen=True)` compiles six methods for each, which is
.5 ms of CPU a record. Here the methods are shared, and `__init__` is compiled when the first value
of a record is made: most records of a process have none.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_Record = TypeVar("_Record")
_set = object.__setattr__
_UNSET = object()


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def frozen(cls: type[_Record]) -> type[_Record]:
    """Make a class a frozen dataclass with slots, whose fields are given by name."""
    written = frozenset(vars(cls))
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=True)(cls)
    own = fields(made)
    methods = {"__init__": _late_init(made, own), **_guards(made, own), **_comparisons(own)}
    # Without these a copy would be filled by assigning to it.
    methods |= {"__repr__": _show, "__getstate__": _get_state, "__setstate__": _set_state}
    for name, method in methods.items():
        if name not in written:
            setattr(made, name, method)
    return cast("type[_Record]", made)


def _late_init(cls: Any, own: tuple[Field[Any], ...]) -> Callable[..., None]:  # noqa: ANN401 - a class
    """Return an `__init__` that compiles the real one when it is first called."""

    def init(self: object, **given: object) -> None:
        compiled = _compile_init(cls, own)
        cls.__init__ = compiled
        compiled(self, **given)

    return init


def _guards(cls: type, own: tuple[Field[Any], ...]) -> dict[str, Callable[..., None]]:
    names = frozenset(each.name for each in own)

    def set_attribute(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        _set(self, name, value)

    def delete_attribute(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    return {"__setattr__": set_attribute, "__delattr__": delete_attribute}


def _comparisons(own: tuple[Field[Any], ...]) -> dict[str, Callable[..., Any]]:
    compared = _values_of(each.name for each in own if each.compare)

    def equals(self: object, other: object) -> object:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compared(self) == compared(other)

    def to_hash(self: object) -> int:
        return hash(compared(self))

    return {"__eq__": equals, "__hash__": to_hash}


def _values_of(names: Iterable[str]) -> Callable[[object], object]:
    """Return what gives the named fields of a record as a tuple."""
    named = tuple(names)
    if len(named) > 1:
        return attrgetter(*named)
    return lambda record: tuple(getattr(record, name) for name in named)


def _compile_init(cls: type, own: tuple[Field[Any], ...]) -> Callable[..., None]:
    """Return the `__init__` of a record, as `dataclass` writes it."""
    known: dict[str, Any] = {"_set": _set, "_unset": _UNSET}
    parameters: list[str] = []
    lines: list[str] = []
    for each in own:
        parameter = value = name = each.name
        if each.default is not MISSING:
            parameter = f"{name}=_of_{name}"
            value = name if each.init else f"_of_{name}"
            known[f"_of_{name}"] = each.default
        elif each.default_factory is not MISSING:
            parameter = f"{name}=_unset"
            value = (
                f"_of_{name}() if {name} is _unset else {name}" if each.init else f"_of_{name}()"
            )
            known[f"_of_{name}"] = each.default_factory
        if each.init:
            parameters.append(parameter)
        if each.init or parameter != name:
            lines.append(f" _set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    signature = ", ".join(["self", *(["*", *parameters] if parameters else [])])
    # The names are those of fields, which Python has read.
    exec("\n".join([f"def __init__({signature}):", *lines, " return"]), known)
    init: Callable[..., None] = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _show(self: Any) -> str:  # noqa: ANN401 - any record
    shown = (each.name for each in fields(self) if each.repr)
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
    return f"{type(self).__qualname__}({values})"


def _get_state(self: Any) -> list[object]:  # noqa: ANN401 - any record
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[object]) -> None:  # noqa: ANN401 - any record
    for each, value in zip(fields(self), state, strict=True):
        _set(self, each.name, value)
