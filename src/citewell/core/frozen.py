"""The decorator of records: immutable values with named fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_Record = TypeVar("_Record")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def frozen(cls: type[_Record]) -> type[_Record]:
    """Make a class a frozen dataclass with slots, whose fields are given by name."""
    return dataclass(frozen=True, slots=True, kw_only=True)(cls)
