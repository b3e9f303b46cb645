"""Named SQL statements, read from `.sql` files; parameters are written `:name`."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import LiteralString

_NAME_LINE = re.compile(r"^-- name: (\w+)[ \t]*$", re.MULTILINE)

# Texts and comments are matched first, so that a colon inside them is left alone.
_PARAMETER = re.compile(r"'[^']*'|--[^\n]*|(?<!:):([a-z]\w*)|%")


@cache
def load_statements(*packages: str) -> Mapping[str, LiteralString]:
    """Return the statements of the packages' .sql files by the name above each.

    A statement of a later package takes the place of one with the same name in an earlier one.
    """
    statements: dict[str, LiteralString] = {}
    for package in packages:
        statements |= _load_package(package)
    return statements


def _load_package(package: str) -> dict[str, LiteralString]:
    parts = sorted(
        (file for file in files(package).iterdir() if file.name.endswith(".sql")),
        key=lambda file: file.name,
    )
    text = "\n".join(file.read_text(encoding="utf-8") for file in parts)
    _, *named = _NAME_LINE.split(text)
    names, bodies = named[0::2], named[1::2]
    assert len(set(names)) == len(names), f"a statement of {package} is named twice"
    # The text ships with the package and nothing is ever spliced into it: as safe as a literal.
    return {
        name: cast("LiteralString", body.strip()) for name, body in zip(names, bodies, strict=True)
    }


def to_pyformat(statement: LiteralString) -> LiteralString:
    """Return a statement with its parameters written as `%(name)s`."""

    def rewrite(match: re.Match[str]) -> str:
        if match[1] is not None:
            return f"%({match[1]})s"
        return match[0].replace("%", "%%")

    return _PARAMETER.sub(rewrite, statement)
