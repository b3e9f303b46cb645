"""The contract of a tool as Markdown: arguments, result, limits and an example, from its models."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel

from citewell.tools.catalog import ALL_TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

TOOLSETS = {
    "research": "Ask of web pages, fetched when they are not indexed yet.",
    "kb": "Read exactly as much of the indexed pages as is needed, step by step.",
    "evidence": "Prove quotes, and check what was cited; see [Evidence](evidence.md).",
    "graph": "Walk from page to page, section to section and name to name.",
    "websites": "Keep a library of whole sites and ask of it.",
    "web": "Fetch and search the web itself.",
    "people": "Ask the user, and hear what the user asks for.",
    "docs": "Read the folder of Markdown that is being served.",
    "connector": "What ChatGPT connectors call beside `search`.",
    "legacy": "Names that older clients still call.",
    "data": "Store and read rows of text with their vectors.",
    "versions": "See what changed between two versions; see [Your packages](your-packages.md).",
}


def tool_contracts() -> str:
    """Return a part for each toolset with a section for each of its tools."""
    by_toolset: dict[str, list[Any]] = defaultdict(list)
    for tool in ALL_TOOLS:
        by_toolset[tool.toolset].append(tool)
    parts = []
    for toolset, tools in by_toolset.items():
        sections = "\n\n".join(_section(tool) for tool in tools)
        parts.append(f"## Toolset {toolset}\n\n{TOOLSETS[toolset]}\n\n{sections}")
    return "\n\n".join(parts)


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join(
        "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in line) + " |"
        for line in lines
    )


def shown_default(value: object) -> str:
    """Return a default as it is written in a table."""
    if value is None or value in ("", (), [], {}):
        return "unset"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple | list):
        return f"`{','.join(map(str, value))}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _section(tool: Any) -> str:  # noqa: ANN401 - tools differ in their models
    example = {"name": tool.underscored_name, "arguments": dict(tool.example)}
    arguments = table(
        ("argument", "type", "default", "meaning"),
        _argument_rows(tool.input_model, prefix=""),
    )
    fields = table(("field", "type", "present"), _result_rows(tool.output_model, prefix=""))
    return "\n\n".join(
        (
            f"### {tool.underscored_name}",
            f"{tool.title}; {_facts(tool)}.",
            arguments,
            "Result:",
            fields,
            f"Example:\n\n```json\n{json.dumps(example, ensure_ascii=False)}\n```",
            f"Description shown to the model:\n\n```text\n{tool.description}\n```",
        )
    )


def _facts(tool: Any) -> str:  # noqa: ANN401 - tools differ in their models
    hints = tool.annotations
    facts = ["reads only" if hints.read_only else "writes to the index"]
    facts += ["deletes"] if hints.destructive else []
    facts += ["fetches from the web"] if hints.open_world else []
    facts += ["in `default`" if tool.in_default else "not in `default`"]
    if tool.max_result_tokens is not None:
        facts.append(f"at most {tool.max_result_tokens:,} tokens")
    return ", ".join(facts)


def _argument_rows(model: type[BaseModel], *, prefix: str) -> Iterator[tuple[str, ...]]:
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    required = set(schema.get("required", ()))
    for name, given in schema["properties"].items():
        inner = _model_within(model.model_fields[name].annotation)
        default = "required" if name in required else shown_default(given.get("default"))
        kind = "object" if inner is not None else _type_name(given, definitions)
        meaning = given.get("description", "")
        yield f"`{prefix}{name}`", kind, "unset" if inner else default, meaning
        if inner is not None:
            yield from _argument_rows(inner, prefix=f"{prefix}{name}.")


def _result_rows(model: type[BaseModel], *, prefix: str) -> Iterator[tuple[str, ...]]:
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    for name, given in schema.get("properties", {}).items():
        annotation = model.model_fields[name].annotation
        inner = _model_within(annotation)
        optional = type(None) in get_args(annotation)
        kind = _type_name(given, definitions)
        yield f"`{prefix}{name}`", kind, "when there is one" if optional else "always"
        if inner is not None:
            many = "[]" if kind.startswith("list") else ""
            yield from _result_rows(inner, prefix=f"{prefix}{name}{many}.")


def _model_within(annotation: Any) -> type[BaseModel] | None:  # noqa: ANN401 - any annotation
    """Return the model that an annotation is about, however it is wrapped."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inside = (_model_within(argument) for argument in get_args(annotation))
    return next((model for model in inside if model is not None), None)


def _type_name(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return _type_name(definitions[schema["$ref"].rsplit("/", 1)[1]], definitions)
    if "anyOf" in schema:
        options = [_type_name(option, definitions) for option in schema["anyOf"]]
        return " or ".join(option for option in options if option != "null")
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        most = f" (at most {schema['maxItems']})" if "maxItems" in schema else ""
        # tools/list leaves the columns of some rows out; here they follow.
        items = schema.get("items", {"type": "object"})
        return f"list of {_type_name(items, definitions)}{most}"
    return f"{schema.get('type', 'any')}{_bounds(schema)}"


def _bounds(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" {low:,} to {high:,}"
    if low is not None:
        return f" from {low:,}"
    longest = schema.get("maxLength")
    return f" of at most {longest:,} characters" if longest is not None else ""
