"""Every string of every tool's result says whether it comes from a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from citewell.tools.catalog import ALL_TOOLS
from citewell.tools.tool import Tool, ToolOutput
from citewell.tools.untrusted import FromPage, FromUs, string_origins

EVERY_TOOL = pytest.mark.parametrize("tool", ALL_TOOLS, ids=lambda tool: tool.name)


def output_models() -> Iterator[type[BaseModel]]:
    """Yield every output model there is, also those that no schema lists."""
    pending = [ToolOutput]
    while pending:
        subclasses = pending.pop().__subclasses__()
        pending += subclasses
        yield from (model for model in subclasses if model.__module__.startswith("citewell."))


def origins(model: type[BaseModel]) -> dict[str, set[type | None]]:
    model.model_rebuild()
    return {name: string_origins(field) for name, field in model.model_fields.items()}


def parts(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield a model and those it is made of."""
    yield model
    model.model_rebuild()
    pending: list[Any] = [field.annotation for field in model.model_fields.values()]
    while pending:
        annotation = pending.pop()
        pending += get_args(annotation)
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from parts(annotation)


@pytest.mark.parametrize(
    "model", sorted(set(output_models()), key=str), ids=lambda model: model.__qualname__
)
def test_every_string_field_declares_where_it_comes_from(model: type[BaseModel]) -> None:
    undeclared = [name for name, found in origins(model).items() if None in found]

    assert undeclared == [], "declare PageText, PageLabel, PageUrl or OwnText"


@EVERY_TOOL
def test_a_name_is_untrusted_everywhere_in_a_result_or_nowhere(tool: Tool[Any, Any]) -> None:
    from_page: set[str] = set()
    from_us: set[str] = set()
    for model in parts(tool.output_model):
        for name, found in origins(model).items():
            from_page |= {name} if FromPage in found else set()
            from_us |= {name} if found == {FromUs} else set()

    assert from_page & from_us == set()
