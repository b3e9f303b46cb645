"""The lines of an AsciiDoc file that its conditions (`ifdef`, `ifndef`, `ifeval`) let through."""

from __future__ import annotations

import re

# What holds where AsciiDoc is turned into a web page.
_DEFINED = {
    "asciidoctor": "",
    "backend": "html5",
    "backend-html5": "",
    "basebackend": "html",
    "basebackend-html": "",
    "html5": "",
}
_MAX_ATTRIBUTES = 1_000
_CONDITION = re.compile(r"(ifdef|ifndef|ifeval|endif)::([^\s\[\]]{0,300})\[(.{0,2000})\]")
_ATTRIBUTE = re.compile(r":(!?)([\w-]{1,80})(!?):(?:[ \t]++(.*))?")
_USE = re.compile(r"\{([\w-]{1,80})\}")
_COMPARISON = re.compile(r"([^=!<>]{1,300}+)(==|!=|<=|>=|<|>)([^=!<>]{1,300}+)")


def lines_let_through(lines: list[str]) -> list[str]:
    """Return the lines without those under a condition that does not hold, nor the conditions."""
    attributes = dict(_DEFINED)
    kept: list[str] = []
    holds: list[bool] = []
    for line in lines:
        condition = _CONDITION.fullmatch(line.rstrip())
        if condition is None:
            if all(holds[-1:]):
                _note_attribute(line, attributes)
                kept.append(line)
            continue
        kind, names, content = condition.groups()
        if kind == "endif":
            del holds[-1:]
            continue
        is_true = all(holds[-1:]) and (
            _compares(content, attributes)
            if kind == "ifeval"
            else _is_defined(names, attributes) == (kind == "ifdef")
        )
        if kind == "ifeval" or not content:
            holds.append(is_true)
        elif is_true:
            kept.append(content)
    return kept


def _note_attribute(line: str, attributes: dict[str, str]) -> None:
    attribute = _ATTRIBUTE.fullmatch(line.rstrip()) if line.startswith(":") else None
    if attribute is None:
        return
    before, name, after, value = attribute.groups()
    if before or after:
        attributes.pop(name.lower(), None)
    elif len(attributes) < _MAX_ATTRIBUTES:
        attributes[name.lower()] = (value or "")[:300]


def _is_defined(names: str, attributes: dict[str, str]) -> bool:
    if "+" in names:
        return all(name.lower() in attributes for name in names.split("+"))
    return any(name.lower() in attributes for name in names.split(","))


def _compares(expression: str, attributes: dict[str, str]) -> bool:
    """Return whether a comparison holds; one that cannot be read does not."""
    written = _USE.sub(lambda use: attributes.get(use.group(1).lower(), ""), expression)
    comparison = _COMPARISON.fullmatch(written.strip())
    if comparison is None:
        return False
    left, right = (_value(comparison.group(side)) for side in (1, 3))
    operator = comparison.group(2)
    if operator in ("==", "!="):
        return (left == right) == (operator == "==")
    if isinstance(left, str) or isinstance(right, str):
        return False
    if left == right:
        return operator in ("<=", ">=")
    return (left < right) == operator.startswith("<")


def _value(text: str) -> str | float:
    words = text.strip()
    try:
        return float(words)
    except ValueError:
        return words.strip("\"'")
