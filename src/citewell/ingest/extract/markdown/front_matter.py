"""The block of settings at the top of a Markdown file."""

from __future__ import annotations

import re

_YAML = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^([A-Za-z_][\w-]*+)[^\S\n]*+[:=]\s*+(\S[^\n]*+)$", re.MULTILINE)


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the top-level fields that are plain text, in lower case, and the rest of the file."""
    block = _YAML.match(text) or _TOML.match(text)
    if block is None:
        return {}, text
    fields: dict[str, str] = {}
    for name, value in _FIELD.findall(block.group(1)):
        fields.setdefault(name.lower(), _unquoted(value.rstrip()))
    return fields, text[block.end() :]


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return "" if value in ("|", ">", "|-", ">-") else value
