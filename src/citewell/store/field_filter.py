"""Which pages have the fields that are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.core.library import Fields, FieldValue


def have_values(fields: Fields, wanted: Mapping[str, str]) -> bool:
    """Return whether each wanted name has a value that holds its text, in any case."""
    return all(_has_value(fields.get(name), text.casefold()) for name, text in wanted.items())


def _has_value(values: FieldValue, text: str) -> bool:
    if not isinstance(values, list):
        return False
    return any(
        text in str(item.get("value", "")).casefold() for item in values if isinstance(item, dict)
    )
