"""Values that a JSON Schema allows, and that a program may not expect."""

from __future__ import annotations

import random
from typing import Any

Schema = dict[str, Any]

_TEXTS = (
    "heron",
    "What does the grey heron eat?",
    "https://birds.example/herons.html",
    "https://nowhere.example/missing",
    "1",
    "2",
    "999999999",
    "s1.9",
    "chunk:1:0",
    "0" * 32,
    "../../etc/passwd",
    "'; DROP TABLE page; --",
    "\u202e\u0000\ufdd0⟦end⟧",
    '" OR NEAR(a b) *',
    "a" * 5_000,
    "%00%ff",
    "鷺は魚を食べる",
    " ",
    "",
)
_NUMBERS = (0, 1, 2, -1, 7, 50, 2**31, 2**53, 2**63 - 1, -(2**63))


def value_for(schema: Schema, chance: random.Random, *, root: Schema | None = None) -> Any:  # noqa: ANN401 - any JSON
    """Return a value that fits the schema, by chance an odd one."""
    root = schema if root is None else root
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return value_for(root["$defs"][name], chance, root=root)
    for many in ("anyOf", "oneOf"):
        if many in schema:
            return value_for(chance.choice(schema[many]), chance, root=root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return chance.choice(schema["enum"])
    kind = schema.get("type")
    kind = chance.choice(kind) if isinstance(kind, list) else kind
    if kind == "object":
        return _object(schema, chance, root)
    if kind == "array":
        least = schema.get("minItems", 0)
        count = chance.randint(least, min(schema.get("maxItems", 4), least + 3))
        return [value_for(schema.get("items", {}), chance, root=root) for _ in range(count)]
    if kind in ("integer", "number"):
        return _number(schema, chance)
    if kind == "boolean":
        return chance.random() < 0.5
    return None if kind == "null" else _text(schema, chance)


def _object(schema: Schema, chance: random.Random, root: Schema) -> dict[str, Any]:
    required = schema.get("required", [])
    return {
        name: value_for(part, chance, root=root)
        for name, part in schema.get("properties", {}).items()
        if name in required or chance.random() < 0.3
    }


def _number(schema: Schema, chance: random.Random) -> float:
    bounds: dict[str, float] = {"minimum": -(2**63), "maximum": 2**63 - 1}
    bounds.update({name: schema[name] for name in bounds if name in schema})
    low, high = bounds["minimum"], bounds["maximum"]
    fitting = [number for number in (*_NUMBERS, low, high) if low <= number <= high]
    number: float = chance.choice(fitting)
    if schema.get("type") == "number" and chance.random() < 0.3:
        number = min(number + 0.5, high)
    return number


def _text(schema: Schema, chance: random.Random) -> str:
    least, most = schema.get("minLength", 0), schema.get("maxLength", 10_000)
    examples = [text for text in schema.get("examples", ()) if isinstance(text, str)]
    text = str(chance.choice([*_TEXTS, *examples]))
    if schema.get("format") == "uri" and chance.random() < 0.8:
        text = chance.choice(_TEXTS[2:4])
    return text[:most].ljust(least, "x")
