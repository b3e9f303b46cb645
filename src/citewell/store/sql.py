"""Named SQL statements, read from `.sql` files: shared ones, and those of one database.

A parameter is written `:name`. Of a line that begins with `-- sqlite:` or `-- postgres:` the named
database runs the rest; to the other it is a comment. What several statements share is written once,
below a line `-- part: name`; the line `-- use: name` stands for it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import LiteralString

Dialect = Literal["sqlite", "postgres"]

_NAME_LINE = re.compile(r"^-- (name|part): (\w+)[ \t]*$", re.MULTILINE)
_USE_LINE = re.compile(r"^[ \t]*-- use: (\w+)", re.MULTILINE)
_DIALECT_LINE = re.compile(r"^([ \t]*)-- (sqlite|postgres): (.*)$", re.MULTILINE)
# String literals and comments are matched first, so that colons inside them are ignored.
_PARAMETER = re.compile(r"'[^']*'|--[^\n]*|(?<!:):([a-z]\w*)|%")


@cache
def load_statements(dialect: Dialect) -> Mapping[str, LiteralString]:
    """Return the statements that a database runs, by the name above each.

    One in the folder of the database takes the place of a shared one with the same name.
    """
    here = Path(__file__).parent
    parts: dict[str, LiteralString] = {}
    statements: dict[str, LiteralString] = {}
    for folder in (here, here / dialect):
        for kind, name, body in _load_folder(folder, dialect):
            (statements if kind == "name" else parts)[name] = body
    return {
        name: _USE_LINE.sub(lambda use: parts[use[1]], body) for name, body in statements.items()
    }


def to_pyformat(statement: LiteralString) -> LiteralString:
    """Return a statement with its parameters written as `%(name)s`."""

    def rewrite(match: re.Match[str]) -> str:
        if match[1] is not None:
            return f"%({match[1]})s"
        return match[0].replace("%", "%%")

    return _PARAMETER.sub(rewrite, statement)


def _load_folder(folder: Path, dialect: Dialect) -> list[tuple[str, str, LiteralString]]:
    """Return `name` or `part`, the name and the text of all that the files of a folder hold."""

    def keep_own(match: re.Match[str]) -> str:
        return f"{match[1]}{match[3]}" if match[2] == dialect else ""

    text = "\n".join(file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.sql")))
    _, *named = _NAME_LINE.split(_DIALECT_LINE.sub(keep_own, text))
    kinds, names, bodies = named[0::3], named[1::3], named[2::3]
    assert len(set(names)) == len(names), f"a statement of {folder.name} is named twice"
    return [
        (kind, name, body.strip()) for kind, name, body in zip(kinds, names, bodies, strict=True)
    ]
