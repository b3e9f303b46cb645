"""Named SQL statements, read from a backend's `.sql` files."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import LiteralString

_NAME_LINE = re.compile(r"^-- name: (\w+)[ \t]*$", re.MULTILINE)


@cache
def load_statements(package: str) -> Mapping[str, LiteralString]:
    """Return the statements of `package`'s .sql files by the name above each."""
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
