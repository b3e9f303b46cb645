"""Values that tables and signatures list: the cells of a row, the defaults of arguments."""

from __future__ import annotations

import re

from citewell.core.folding import fold
from citewell.core.frozen import frozen

_LONGEST_CHARACTERS = 600
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_NAME = re.compile(
    r"(?:(?:class|function|method|async|static|classmethod|def) )*(?P<name>[\w.:]+)\("
)
_AFTER_ARGUMENTS = re.compile(r"(?: ?(?:->|→) ?[^()]{1,80}+)?+\W*+")
_DEFAULT = re.compile(r"(?P<name>\*{0,2}[\w]+)(?: ?:[^=]{1,80})? ?= ?(?P<value>\S.{0,60})\Z")
# A number with its unit, a word for yes or no, a literal, or one name.
_VALUE = re.compile(
    r"[-+]?\d[\d.,_]*(?: ?(?:%|[a-zA-Z]{1,12}))?|true|false|none|null|yes|no|on|off|\w+abled"
    r"|'[^']{0,40}'|\"[^\"]{0,40}\"|[A-Za-z][\w.-]{1,40}",
    re.IGNORECASE,
)
# A page, a year and the number of a release come and go without any value being another.
_NO_VALUE = re.compile(r"(?:19|20)\d\d|v?\d+(?:\.\d+){2,}|p\.? ?\d+", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]{2}")


@frozen
class ListedValues:
    """What a row or a signature is about, and the value it gives for each column or argument."""

    key: str
    values: tuple[tuple[str, str], ...]
    is_row: bool


def parse_listed(line: str) -> ListedValues | None:
    """Return the values of a row of a table, or of the signature in a bold line; None of others."""
    if len(line) > _LONGEST_CHARACTERS:
        return None
    if line.startswith("|"):
        return _parse_row(line)
    return _parse_signature(fold(line).text.strip()) if line.startswith("**") else None


def differing_listed(one: ListedValues, other: ListedValues) -> tuple[str, str] | None:
    """Return the one value that two rows or signatures of the same thing differ in.

    Arguments that only one signature has do not matter; the columns of two rows must be as many.
    """
    if (one.key, one.is_row) != (other.key, other.is_row):
        return None
    own, its = dict(one.values), dict(other.values)
    if one.is_row and own.keys() != its.keys():
        return None
    differing = [
        (value, its[name])
        for name, value in own.items()
        if value and its.get(name) and its[name] != value
    ]
    if len(differing) != 1 or not all(map(_is_value, differing[0])):
        return None
    return differing[0]


def _is_value(text: str) -> bool:
    return _VALUE.fullmatch(text) is not None and _NO_VALUE.fullmatch(text) is None


def _parse_row(line: str) -> ListedValues | None:
    cells = [fold(cell).text.strip() for cell in _CELL_BORDER.split(line.strip().strip("|"))]
    key, values = cells[0], cells[1:]
    if not values or _LETTERS.search(key) is None:
        return None
    return ListedValues(
        key=key,
        values=tuple((str(column), cell) for column, cell in enumerate(values)),
        is_row=True,
    )


def _parse_signature(line: str) -> ListedValues | None:
    match = _NAME.match(line)
    end = line.rfind(")")
    if match is None or end < match.end() or not _AFTER_ARGUMENTS.fullmatch(line, end + 1):
        return None
    values: list[tuple[str, str]] = []
    for argument in _split_arguments(line[match.end() : end]):
        default = _DEFAULT.match(argument)
        values.append((default["name"], default["value"]) if default else (argument, ""))
    return ListedValues(key=match["name"], values=tuple(values), is_row=False)


def _split_arguments(arguments: str) -> list[str]:
    """Return the arguments of a signature; commas within brackets part none."""
    parts, depth = [""], 0
    for character in arguments:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
