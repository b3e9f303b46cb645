"""Short JSON and JSON Schemas of tool models: every conversation pays for both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import WithJsonSchema

if TYPE_CHECKING:
    from pydantic import BaseModel

ROWS = WithJsonSchema({"type": "array"})
"""Lists a field as an array without columns, which are rarely needed or obvious."""

_NULL = {"type": "null"}
# The server checks lengths and the descriptions name them; a model cannot count them.
_NOT_IN_INPUT = frozenset({"title", "minLength", "maxLength", "minItems", "maxItems", "pattern"})
_NOT_IN_OUTPUT = frozenset({"title", "description", "default"})


def input_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a tool's arguments, with the descriptions of its fields.

    An optional argument without a default can also be null: hosts that make schemas strict ask the
    model for every argument, so it needs a way to say "none".
    """
    schema = _shorten(model.model_json_schema(), dropped=_NOT_IN_INPUT, lists_null=True)
    schema.pop("description", None)
    return schema


def output_schema(model: type[BaseModel], *, columns: bool = True) -> dict[str, Any]:
    """Return the schema of structuredContent: the fields that every result, and every row, has.

    Optional fields are documented but not listed; hosts read them anyway. The error form of a
    result is `{"error": …}`, so one of the two forms is required. Without `columns` rows have no
    schema.
    """
    schema = _only_required(
        _shorten(model.model_json_schema(), dropped=_NOT_IN_OUTPUT, lists_null=False)
    )
    required = schema.pop("required", None)
    if required:
        schema["anyOf"] = [{"required": required}, {"required": ["error"]}]
    for field in schema["properties"].values():
        if "properties" in field.get("items", {}):
            if columns:
                field["items"] = _only_required(field["items"])
            else:
                del field["items"]
    return schema


def _only_required(schema: dict[str, Any]) -> dict[str, Any]:
    fields = schema["properties"]
    return {**schema, "properties": {name: fields[name] for name in schema.get("required", ())}}


def leave_out_nulls(written: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON of a result of `model` without the fields that are null by default.

    A field without a default is always present, with null for no value.
    """
    fields = model.model_fields
    return {
        name: value
        for name, value in written.items()
        if value is not None or fields[name].is_required()
    }


def _shorten(
    schema: dict[str, Any], *, dropped: frozenset[str], lists_null: bool
) -> dict[str, Any]:
    definitions = schema.pop("$defs", {})

    def walk(node: object) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(node, list):
            return [walk(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            name = str(node["$ref"]).rpartition("/")[2]
            return walk(
                {key: definitions[name][key] for key in definitions[name] if key != "description"}
            )
        short = {
            key: {name: walk(child) for name, child in value.items()}
            if key == "properties"
            else walk(value)
            for key, value in node.items()
            if key not in dropped or (key == "title" and not isinstance(value, str))
        }
        return _shorten_null(short, is_left_out="default" in node and not lists_null)

    result = walk(schema)
    assert isinstance(result, dict), "a model's schema is an object"
    return result


def _shorten_null(node: dict[str, Any], *, is_left_out: bool) -> dict[str, Any]:
    """Turn "T or null" into "T" where null `is_left_out`, otherwise into a list of two types."""
    options = node.get("anyOf")
    if not isinstance(options, list) or _NULL not in options:
        return node
    rest = [option for option in options if option != _NULL]
    plain = {key: value for key, value in node.items() if key not in ("anyOf", "default")}
    if is_left_out:
        return {**rest[0], **plain} if len(rest) == 1 else {"anyOf": rest, **plain}
    if len(rest) > 1:
        return {"anyOf": options, **plain}
    kinds = {**rest[0], "type": [rest[0]["type"], "null"]}
    if "enum" in kinds:
        kinds["enum"] = [*kinds["enum"], None]
    return {**kinds, **plain}
