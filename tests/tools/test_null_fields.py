"""Fields that a contract shows as null are there; others are left out where they have no value."""

from __future__ import annotations

from typing import Any

import pytest
from tests.drafts import draft
from tests.tools.library import open_library

from citewell.tools.catalog import ALL_TOOLS
from citewell.tools.schemas import output_schema
from citewell.tools.tool import ToolOutput


class Bird(ToolOutput):
    """A field that is always there and one that may be left out."""

    ringed: str | None
    note: str | None = None


class Flock(ToolOutput):
    """Rows of another model."""

    birds: list[Bird]


def test_a_field_without_a_default_is_written_as_null_in_rows_too() -> None:
    flock = Flock(birds=[Bird(ringed=None), Bird(ringed="A1", note="tame")])

    assert flock.model_dump(mode="json") == {
        "birds": [{"ringed": None}, {"ringed": "A1", "note": "tame"}]
    }


def test_the_schema_lists_what_every_row_has_and_allows_null_where_it_is_written() -> None:
    row = output_schema(Flock)["properties"]["birds"]["items"]["properties"]

    assert row == {"ringed": {"type": ["string", "null"]}}


async def test_a_search_says_that_it_has_no_anchor_and_no_next_cursor() -> None:
    async with open_library(draft("https://a.example/heron", "Herons eat fish.")) as library:
        found = await library.call("kb.search", query="herons")

    assert found["next_cursor"] is None
    assert found["results"][0]["anchor"] is None


@pytest.mark.parametrize(
    ("tool", "path"),
    [
        ("rag_process_website", ("error",)),
        ("rag_query_websites", ("synthesis",)),
        ("rag_query_websites", ("results", "fts_score")),
        ("rag_get_website_status", ("error_message",)),
    ],
    ids=lambda value: value if isinstance(value, str) else ".".join(value),
)
def test_the_optional_fields_of_the_library_may_be_null(tool: str, path: tuple[str, ...]) -> None:
    (found,) = [each for each in ALL_TOOLS if each.name == tool]
    field: dict[str, Any] = found.output_schema()
    for name in path:
        field = field.get("items", field)["properties"][name]

    assert "null" in str(field)
