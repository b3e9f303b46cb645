"""Named SQL statements, read from `.sql` files: shared ones, and those of one database.

A parameter is written `:name`. Of a line that begins with `-- sqlite:` or `-- postgres:` the named
database runs the rest; to the other it is a comment.
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

_NAME_LINE = re.compile(r"^-- name: (\w+)[ \t]*$", re.MULTILINE)
_DIALECT_LINE = re.compile(r"^([ \t]*)-- (sqlite|postgres): (.*)$", re.MULTILINE)
# String literals and comments are matched first, so that colons inside them are ignored.
_PARAMETER = re.compile(r"'[^']*'|--[^\n]*|(?<!:):([a-z]\w*)|%")


@cache
def load_statements(dialect: Dialect) -> Mapping[str, LiteralString]:
    """Return the statements that a database runs, by the name above each.

    One in the folder of the database takes the place of a shared one with the same name.
    """
    here = Path(__file__).parent
    shared = _load_folder(here, dialect)
    own = _load_folder(here / dialect, dialect)
    return {**shared, **own}


def to_pyformat(statement: LiteralString) -> LiteralString:
    """Return a statement with its parameters written as `%(name)s`."""

    def rewrite(match: re.Match[str]) -> str:
        if match[1] is not None:
            return f"%({match[1]})s"
        return match[0].replace("%", "%%")

    return _PARAMETER.sub(rewrite, statement)


def _load_folder(folder: Path, dialect: Dialect) -> dict[str, LiteralString]:
    def keep_own(match: re.Match[str]) -> str:
        return f"{match[1]}{match[3]}" if match[2] == dialect else ""

    text = "\n".join(file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.sql")))
    _, *named = _NAME_LINE.split(_DIALECT_LINE.sub(keep_own, text))
    names, bodies = named[0::2], named[1::2]
    assert len(set(names)) == len(names), f"a statement of {folder.name} is named twice"
    return {name: body.strip() for name, body in zip(names, bodies, strict=True)}
