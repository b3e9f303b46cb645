"""The typed fields of a page of a known content type, each with the words it was read from."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from citewell.core.frozen import frozen
from citewell.core.library import TypedContent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.library import Fields, FieldValue

FieldName = Literal[
    "company",
    "role",
    "location",
    "employment_type",
    "salary",
    "requirements",
    "nice_to_have",
    "benefits",
    "author",
    "date",
    "tips",
    "values",
    "culture",
    "industry",
]

TYPED_CONTENTS: tuple[TypedContent, ...] = get_args(TypedContent)
FIELD_NAMES: tuple[FieldName, ...] = get_args(FieldName)


@frozen
class ContentField:
    """One value of a field; a field with several values, such as requirements, has one of each.

    `quote` is what it was read from: `page.text[start:end] == quote` where the page shows it, else
    what is at `path` of the page's structured data, and `start` and `end` are None.
    """

    name: FieldName
    value: str
    quote: str
    start: int | None = None
    end: int | None = None
    path: str | None = None


def dump_fields(fields: Sequence[ContentField]) -> dict[str, FieldValue]:
    """Return the fields as plain values, by name, each with all its values."""
    plain: dict[str, FieldValue] = {}
    for field in fields:
        values = plain.setdefault(field.name, [])
        assert isinstance(values, list), "every field is a list of its values"
        values.append(
            {
                key: value
                for key, value in asdict(field).items()
                if key != "name" and value is not None
            }
        )
    return plain


def load_fields(plain: Fields) -> tuple[ContentField, ...]:
    """Return the fields that `dump_fields` made plain; what is of another shape is left out."""
    return tuple(
        ContentField(name=name, **value)
        for name in FIELD_NAMES
        for value in cast("list[dict[str, Any]]", plain.get(name) or [])
    )
