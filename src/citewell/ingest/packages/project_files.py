"""Read the files that declare dependencies; bounded, and one bad file does not stop the others."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from citewell.ingest.regular_file import read_regular_file

if TYPE_CHECKING:
    from pathlib import Path

MAX_FILE_BYTES = 50_000_000
# tomllib is quadratic in the parts of a key: a key of 160 kB takes a minute.
_LONG_KEY = re.compile(r"(?<![\w-])(?:(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+){60}")


class UnreadFile(str):
    """A problem that leaves unknown what a file names, not one of a package that it names."""

    __slots__ = ()


def read_project_file(folder: Path, name: str, problems: list[str]) -> str:
    """Return the text of a file below `folder`; nothing, and a problem, when it cannot be read."""
    try:
        content = read_regular_file(folder / name, max_bytes=MAX_FILE_BYTES, within=folder)
        if len(content) > MAX_FILE_BYTES:
            raise ValueError(f"it is larger than {MAX_FILE_BYTES:,} bytes")
        return content.decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        problems.append(UnreadFile(f"{name} cannot be read: {error.strerror}"))
    except ValueError as error:
        problems.append(UnreadFile(f"{name} cannot be read: {error}"))
    return ""


def load_json(folder: Path, name: str, problems: list[str]) -> dict[str, Any]:
    """Return the object of a JSON file; an empty one when it has none."""
    text = read_project_file(folder, name, problems)
    try:
        document = json.loads(text) if text else {}
    except (ValueError, RecursionError) as error:
        problems.append(UnreadFile(f"{name} cannot be parsed: {error}"))
        return {}
    return document if isinstance(document, dict) else {}


def load_toml(folder: Path, name: str, problems: list[str]) -> dict[str, Any]:
    """Return the tables of a TOML file; none when it cannot be parsed."""
    try:
        return parse_toml(read_project_file(folder, name, problems))
    except (ValueError, RecursionError) as error:
        problems.append(UnreadFile(f"{name} cannot be parsed: {error}"))
        return {}


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML document.

    Raises:
        ValueError: it is not TOML, or a key has too many parts.
        RecursionError: tables or arrays are nested too deeply.
    """
    if _LONG_KEY.search(text):
        raise ValueError("a key has too many parts")
    return tomllib.loads(text)


def table(document: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a nested table; an empty one when the value is something else."""
    for name in names:
        value = document.get(name)
        document = value if isinstance(value, dict) else {}
    return document


def items(value: object) -> list[Any]:
    """Return a list; an empty one when it is something else."""
    return value if isinstance(value, list) else []
