"""The block of settings at the top of a Markdown file."""

from __future__ import annotations

import re

_YAML = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^([A-Za-z_][\w-]*+)[^\S\n]*+[:=]\s*+(\S[^\n]*+)$", re.MULTILINE)

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"|\'((?:[^\']|\'\')*+)\'')
_ESCAPED = re.compile(r"\\(.)")
_COMMENT = re.compile(r"(?<=\s)#")
_INDENTED_LINES = re.compile(r"(?:\n(?:[ \t]+[^\n]*)?)*+")
_BLOCK_MARKS = frozenset({"|", ">", "|-", ">-", "|+", ">+"})

_CLOSING = {"[": "]", "{": "}", '"': '"', "'": "'"}
_FIELD_NAME = re.compile(r"[\w\"'.-]+[^\S\n]*[:=]")


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the top-level fields that are plain text, in lower case, and the rest of the file."""
    block = _YAML.match(text) or _TOML.match(text)
    if block is None:
        return {}, text
    fields: dict[str, str] = {}
    for field in _FIELD.finditer(block.group(1)):
        value = field[2].rstrip()
        if value in _BLOCK_MARKS:
            lines = _INDENTED_LINES.match(block.group(1), field.end())
            plain = " ".join(lines.group().split()) if lines else ""
        else:
            plain = _plain_value(value)
        fields.setdefault(field[1].lower(), plain)
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


def _plain_value(value: str) -> str:
    """Return the text of a value on one line; of one that is not closed, what can be read."""
    quoted = _QUOTED.match(value)
    if quoted is not None:
        is_double = quoted[1] is not None
        return _ESCAPED.sub(r"\1", quoted[1]) if is_double else quoted[2].replace("''", "'")
    if value[0] in "\"'":
        return value[1:]
    if value[0] in "[{" and _CLOSING[value[0]] not in value:
        return ""
    comment = _COMMENT.search(value)
    return value[: comment.start() if comment else None].rstrip()
