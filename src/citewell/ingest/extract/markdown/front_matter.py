"""The block of settings at the top of a Markdown file."""

from __future__ import annotations

import re

_YAML = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^([A-Za-z_][\w-]*+)[^\S\n]*+[:=]\s*+(\S[^\n]*+)$", re.MULTILINE)

_CLOSING = {"[": "]", "{": "}", '"': '"', "'": "'"}
_FIELD_NAME = re.compile(r"[\w\"'.-]+[^\S\n]*[:=]")


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the top-level fields that are plain text, in lower case, and the rest of the file."""
    block = _YAML.match(text) or _TOML.match(text)
    if block is None:
        return {}, text
    fields: dict[str, str] = {}
    for name, value in _FIELD.findall(block.group(1)):
        fields.setdefault(name.lower(), _unquoted(value.rstrip()))
    return fields, text[block.end() :]


def find_front_matter_fault(text: str) -> str | None:
    """Return what is wrong with the front matter of a file; None when it has none, or a good one.

    Only what costs the reader something is reported: a block that does not end is shown as text,
    and a line that is no field is ignored.
    """
    marker = text.partition("\n")[0].rstrip()
    if marker not in ("---", "+++"):
        return None
    block = _YAML.match(text) or _TOML.match(text)
    if block is None:
        # A rule at the top of a page is followed by an empty line, not by a field.
        starts_field = _FIELD.match(text.partition("\n")[2])
        return f"its front matter has no closing {marker}" if starts_field else None
    for number, line in enumerate(block.group(1).split("\n"), start=2):
        is_known = not line.strip() or line[0] in " \t#-[]{}" or _FIELD_NAME.match(line)
        if not is_known:
            return f"line {number} of its front matter is no field"
    for field in _FIELD.finditer(block.group(1)):
        value = field[2]
        # A list can be closed on a later line.
        closing = _CLOSING.get(value[0])
        if closing is not None and block.group(1).find(closing, field.start(2) + 1) < 0:
            return f"“{field[1]}” in its front matter has no closing {closing}"
    return None


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return "" if value in ("|", ">", "|-", ">-") else value
