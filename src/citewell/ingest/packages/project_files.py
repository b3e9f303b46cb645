"""Reading the files that say what a project uses: bounded, and never failing as a whole."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

MAX_FILE_BYTES = 50_000_000


def read_project_file(path: Path, problems: list[str]) -> str:
    """Return the text of a file; nothing, and a problem, when it cannot be read."""
    if not path.is_file():
        return ""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ValueError(f"it is larger than {MAX_FILE_BYTES:,} bytes")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        problems.append(f"{path.name} cannot be read: {error}")
        return ""


def load_json(path: Path, problems: list[str]) -> dict[str, Any]:
    """Return the object of a JSON file; an empty one when it has none."""
    text = read_project_file(path, problems)
    try:
        document = json.loads(text) if text else {}
    except (ValueError, RecursionError) as error:
        problems.append(f"{path.name} cannot be parsed: {error}")
        return {}
    return document if isinstance(document, dict) else {}


def load_toml(path: Path, problems: list[str]) -> dict[str, Any]:
    """Return the tables of a TOML file; none when it cannot be parsed."""
    try:
        return tomllib.loads(read_project_file(path, problems))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        problems.append(f"{path.name} cannot be parsed: {error}")
        return {}


def table(document: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a table within tables; an empty one when something else stands there."""
    for name in names:
        value = document.get(name)
        document = value if isinstance(value, dict) else {}
    return document


def items(value: object) -> list[Any]:
    """Return a list; an empty one when it is something else."""
    return value if isinstance(value, list) else []
