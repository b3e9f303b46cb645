"""Whether the conditions of @media and @supports hold in the window of a common screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.ingest.extract.hiding.declarations import is_valid
from citewell.ingest.extract.hiding.values import (
    WINDOW_HEIGHT,
    WINDOW_WIDTH,
    Scale,
    as_css,
    as_pixels,
    components,
    node_pixels,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tinycss2.ast import Node

_SIZES = {
    "inline-size": WINDOW_WIDTH,
    "block-size": WINDOW_HEIGHT,
    "width": WINDOW_WIDTH,
    "device-width": WINDOW_WIDTH,
    "height": WINDOW_HEIGHT,
    "device-height": WINDOW_HEIGHT,
}
_HOLDING = {
    "orientation": "landscape",
    "prefers-color-scheme": "light",
    "prefers-reduced-motion": "no-preference",
    "hover": "hover",
    "any-hover": "hover",
    "pointer": "fine",
    "any-pointer": "fine",
    "scripting": "enabled",
    "update": "fast",
}
_MAX_DEPTH = 6


def holds_on_screen(query: str) -> bool:
    """Return whether a list of media queries holds; a query that is not understood does not."""
    parts: list[list[Node]] = [[]]
    for node in components(query):
        if node.type == "literal" and node.value == ",":
            parts.append([])
        else:
            parts[-1].append(node)
    return any(_media_query(part) for part in parts) or not query.strip()


def is_supported(condition: Sequence[Node]) -> bool:
    """Return whether a browser of today supports what @supports asks for."""
    return _condition(condition, _supports_feature, 0)


def holds_in_container(prelude: Sequence[Node]) -> bool:
    """Return whether a container as large as the window fulfils @container; styles are in doubt."""
    nodes = [node for node in prelude if node.type not in ("whitespace", "comment")]
    if nodes and nodes[0].type == "ident" and nodes[0].lower_value not in ("not", "style"):
        nodes = nodes[1:]
    if any(node.type == "function" for node in nodes):
        return True
    return not nodes or _condition(nodes, _media_feature, 0)


def _media_query(nodes: Sequence[Node]) -> bool:
    words = list(nodes)
    negated = False
    if words and words[0].type == "ident" and words[0].lower_value in ("not", "only"):
        is_type = len(words) > 1 and words[1].type == "ident"
        negated = words[0].lower_value == "not" and is_type
        words = words[1:] if is_type else words
    if words and words[0].type == "ident" and words[0].lower_value != "not":
        holds = words[0].lower_value in ("all", "screen")
        rest = words[2:]
        return (holds and (not rest or _condition(rest, _media_feature, 0))) != negated
    return bool(words) and _condition(words, _media_feature, 0) != negated


def _condition(nodes: Sequence[Node], feature: Callable[[Node], bool], depth: int) -> bool:
    """Return whether a condition of `not`, `and` and `or` holds."""
    result: bool | None = None
    negated, operator = False, "and"
    for node in nodes:
        if node.type in ("whitespace", "comment"):
            continue
        if node.type == "ident":
            negated = node.lower_value == "not" or negated
            operator = node.lower_value if node.lower_value in ("and", "or") else operator
            continue
        holds = _term(node, feature, depth) != negated
        negated = False
        if result is None:
            result = holds
        else:
            result = (result and holds) if operator == "and" else (result or holds)
    return bool(result)


def _term(node: Node, feature: Callable[[Node], bool], depth: int) -> bool:
    if node.type != "() block":
        return bool(node.type == "function" and node.lower_name == "selector")
    inner = [part for part in node.content if part.type not in ("whitespace", "comment")]
    is_nested = any(part.type == "() block" for part in inner) or (
        bool(inner) and inner[0].type == "ident" and inner[0].lower_value == "not"
    )
    has_colon = any(part.type == "literal" and part.value == ":" for part in inner)
    if is_nested and not has_colon and depth < _MAX_DEPTH:
        return _condition(inner, feature, depth + 1)
    return feature(node)


def _supports_feature(block: Node) -> bool:
    name, _, value = as_css(block.content).lower().partition(":")
    return bool(value) and is_valid(name.strip(), value.strip())


def _media_feature(block: Node) -> bool:
    text = as_css(block.content).lower()
    name, colon, value = (part.strip() for part in text.partition(":"))
    if not colon:
        return _range(block) if any(sign in text for sign in "<>=") else name in ("color", "hover")
    bound, _, size = name.rpartition("-")
    if name not in _SIZES and size in _SIZES and bound in ("min", "max"):
        pixels = as_pixels(value, Scale())
        if pixels is None:
            return False
        return pixels <= _SIZES[size] if bound == "min" else pixels >= _SIZES[size]
    return _HOLDING.get(name) == value


def _range(block: Node) -> bool:
    """Return whether `400px <= width < 90em` and the like hold."""
    left: float | None = None
    sign = ""
    for node in block.content:
        if node.type == "whitespace":
            continue
        if node.type == "literal" and node.value in ("<", ">", "=", "<=", ">="):
            sign += node.value
            continue
        is_size = node.type == "ident"
        value = _SIZES.get(node.lower_value) if is_size else node_pixels(node, Scale())
        if value is None or (left is not None and not _compares(left, sign, value)):
            return False
        left, sign = value, ""
    return left is not None


def _compares(left: float, sign: str, right: float) -> bool:
    if "=" in sign and left == right:
        return True
    return left < right if "<" in sign else left > right
