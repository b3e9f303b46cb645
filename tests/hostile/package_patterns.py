"""Every regular expression of the package, with the way it is applied."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import citewell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

_FUNCTIONS = (
    "compile",
    "search",
    "match",
    "fullmatch",
    "sub",
    "subn",
    "split",
    "findall",
    "finditer",
)
_ANCHORED = frozenset({"match", "fullmatch"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagePattern:
    """A regular expression and where it is written."""

    place: str
    pattern: re.Pattern[Any]
    methods: tuple[str, ...]
    """What it is applied with; searching where that is not only matching at one position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """All patterns, and the places whose pattern is put together while the program runs."""

    patterns: tuple[PackagePattern, ...]
    built_at_run_time: tuple[str, ...]


def collect_patterns() -> Collected:
    """Return the patterns in module globals and those compiled inside functions."""
    patterns: dict[tuple[object, int, tuple[str, ...]], PackagePattern] = {}
    built: set[str] = set()

    def add(place: str, pattern: re.Pattern[Any], methods: set[str]) -> None:
        applied = tuple(sorted(methods)) if methods <= _ANCHORED else ("search",)
        found = PackagePattern(place=place, pattern=pattern, methods=applied)
        patterns.setdefault((pattern.pattern, pattern.flags, applied), found)

    for module in _modules():
        assert module.__file__ is not None
        tree = ast.parse(Path(module.__file__).read_text("utf-8"))
        used = _methods_by_name(tree)
        known: set[object] = set()
        for name, pattern in _patterns_in(vars(module)):
            known.add(pattern.pattern)
            add(f"{module.__name__}.{name}", pattern, used.get(name, {"search"}))
        for call, function in _calls_of_re(tree):
            inline = _evaluate(call, function, module)
            if inline is None:
                built.add(f"{module.__name__}: {ast.unparse(call.args[0])}")
            elif function != "compile" or inline.pattern not in known:
                add(f"{module.__name__}:{call.lineno}", inline, {function})
    return Collected(patterns=tuple(patterns.values()), built_at_run_time=tuple(sorted(built)))


def _modules() -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(citewell.__path__, prefix="citewell."):
        if not info.name.endswith("__main__"):
            yield importlib.import_module(info.name)


def _patterns_in(namespace: dict[str, object]) -> Iterator[tuple[str, re.Pattern[Any]]]:
    for name, value in namespace.items():
        for pattern in _flatten(value, depth=3):
            yield name, pattern


def _flatten(value: object, *, depth: int) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        for item in value.values():
            yield from _flatten(item, depth=depth - 1)
    elif depth and isinstance(value, tuple | list):
        for item in value:
            yield from _flatten(item, depth=depth - 1)


def _methods_by_name(tree: ast.Module) -> dict[str, set[str]]:
    """Return which methods a module uses of each name; other uses count as searching."""
    methods: dict[str, set[str]] = {}
    inside_attributes: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            inside_attributes.add(id(node.value))
            methods.setdefault(node.value.id, set()).add(node.attr)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or id(node) in inside_attributes:
            continue
        if isinstance(node.ctx, ast.Load):
            methods.setdefault(node.id, set()).add("search")
    return methods


def _calls_of_re(tree: ast.Module) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in _FUNCTIONS
        ):
            yield node, node.func.attr


def _evaluate(call: ast.Call, function: str, module: ModuleType) -> re.Pattern[Any] | None:
    """Return the pattern of a call; None where it depends on what the program is doing."""
    flags: ast.expr | None = next((key.value for key in call.keywords if key.arg == "flags"), None)
    place_of_flags = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(function, 2)
    if flags is None and len(call.args) > place_of_flags:
        flags = call.args[place_of_flags]
    try:
        written = _value(call.args[0], module)
        chosen = _value(flags, module) if flags is not None else 0
    except NameError:
        return None
    assert isinstance(written, str | bytes)
    assert isinstance(chosen, int)
    return re.compile(written, chosen)


def _value(expression: ast.expr, module: ModuleType) -> object:
    code = compile(ast.Expression(expression), module.__name__, "eval")
    value: object = eval(code, dict(vars(module)))
    return value
