"""Which branches of Python code run on this machine, decided without running them."""

from __future__ import annotations

import ast
import os
import platform
import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MENTIONS_PLATFORM = re.compile(r"\b(?:sys\.platform|os\.name|platform\.system)\b")


def holds(test: ast.expr) -> bool | None:
    """Return whether a condition on the platform holds here; None for any other condition."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = holds(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        known = [holds(value) for value in test.values]
        decisive = isinstance(test.op, ast.Or)
        if decisive in known:
            return decisive
        return None if None in known else not decisive
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(test.left, test.ops[0], test.comparators[0])
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute):
        value = _platform_value(test.func.value)
        if value and test.func.attr == "startswith" and len(test.args) == 1:
            prefix = _constant(test.args[0])
            return value.startswith(prefix) if isinstance(prefix, str | tuple) else None
    if isinstance(test, ast.Name | ast.Attribute) and ast.unparse(test).endswith("TYPE_CHECKING"):
        return True
    return None


def without_other_platforms(code: str) -> str:
    """Return code with what runs on other platforms blanked out; all lines stay where they are.

    Raises:
        SyntaxError: it cannot be parsed.
        ValueError, RecursionError, MemoryError: as `ast.parse` raises them.
    """
    if not _MENTIONS_PLATFORM.search(code):
        return code
    lines = code.splitlines(keepends=True)
    for dead in _dead_blocks(ast.parse(code).body):
        start, end = _first_line(dead[0]) - 1, dead[-1].end_lineno or dead[-1].lineno
        if lines[start][: dead[0].col_offset].strip():
            continue  # in one line with its condition
        is_elif = lines[start].lstrip().startswith("elif")
        blank = ["\n"] * (end - start)
        if not is_elif:
            blank[0] = f"{' ' * dead[0].col_offset}pass\n"
        lines[start:end] = blank
    return "".join(lines)


def _first_line(statement: ast.stmt) -> int:
    """Return where a statement begins, with its decorators."""
    decorators = getattr(statement, "decorator_list", [])
    lines: list[int] = [decorator.lineno for decorator in decorators]
    return min([statement.lineno, *lines])


def _dead_blocks(body: Sequence[ast.stmt]) -> Iterator[list[ast.stmt]]:
    for statement in body:
        if isinstance(statement, ast.If):
            is_held = holds(statement.test)
            if is_held is False:
                yield statement.body
            else:
                yield from _dead_blocks(statement.body)
            if is_held is True and statement.orelse:
                yield statement.orelse
            else:
                yield from _dead_blocks(statement.orelse)
        elif isinstance(statement, ast.ClassDef | ast.Try):
            yield from _dead_blocks(statement.body)


def _compared(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool | None:
    value, other = _platform_value(left), _constant(right)
    if value is None or other is None:
        return None
    if isinstance(operator, ast.Eq | ast.NotEq):
        return (value == other) is isinstance(operator, ast.Eq)
    if isinstance(operator, ast.In | ast.NotIn) and isinstance(other, str | tuple | list | set):
        return (value in other) is isinstance(operator, ast.In)
    return None


def _platform_value(node: ast.expr) -> str | None:
    return {
        "sys.platform": sys.platform,
        "os.name": os.name,
        "platform.system()": platform.system(),
    }.get(ast.unparse(node) if isinstance(node, ast.Attribute | ast.Call) else "")


def _constant(node: ast.expr) -> object:
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return value
