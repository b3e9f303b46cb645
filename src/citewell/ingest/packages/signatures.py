"""Signatures of Python functions as people read them, short enough to be quoted whole."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import griffe

# What fits into a line of an editor; longer ones have a line for each parameter.
_LONGEST_LINE = 120
# About 150 tokens: a quote of 220 has room for the first sentence, too.
_LONGEST_SIGNATURE = 640
_LONGEST_VALUE = 60
_MOST_PARAMETERS = 20
_MOST_OVERLOADS = 4
_STARS = {"variadic positional": "*", "variadic keyword": "**"}


@frozen
class Signature:
    """How something is called."""

    short: str
    """Fits into a quote."""
    whole: str
    """With all types and defaults; the same where it is short."""
    about: tuple[tuple[str, str], ...] = ()
    """What `Doc("…")` says about parameters, by their names."""


def function_signature(function: griffe.Function, *, name: str | None = None) -> Signature:
    """Return the signature of a function, or of a class that is called by `name`."""
    if function.overloads and not _has_types(function):
        shown = function.overloads[:_MOST_OVERLOADS]
        parts = [_signature(each, name) for each in shown]
        whole = "\n".join(part.whole for part in parts)
        joined = "\n".join(part.short for part in parts)
        short = joined if len(joined) <= _LONGEST_SIGNATURE else parts[0].short
        return Signature(short=short, whole=whole, about=parts[0].about)
    return _signature(function, name)


def listed_signature(function: griffe.Function) -> str:
    """Return a signature in one line, for a list."""
    found = function_signature(function)
    lines = [line.strip() for line in found.short.partition("\ndef ")[0].splitlines()]
    joined = " ".join(lines)
    return joined.replace("( ", "(").replace(", )", ")") if len(lines) > 1 else joined


def _has_types(function: griffe.Function) -> bool:
    if function.overloads and function is function.overloads[0]:
        return False
    return function.returns is not None or any(each.annotation for each in function.parameters)


def _signature(function: griffe.Function, name: str | None) -> Signature:
    prefix = "" if name else "async def " if "async" in function.labels else "def "
    head = f"{prefix}{name or function.name}("
    tail = f") -> {function.returns}" if function.returns is not None and not name else ")"
    parameters = list(function.parameters)
    if parameters and parameters[0].name in ("self", "cls") and _is_method(function):
        parameters = parameters[1:]
    about = tuple((each.name, text) for each in parameters if (text := _doc_of(each.annotation)))
    whole = _laid_out(head, _written(parameters, with_types=True), tail)
    short = whole
    if len(short) > _LONGEST_SIGNATURE:
        short = _laid_out(head, _written(parameters, with_types=False), tail)
    if len(short) > _LONGEST_SIGNATURE:
        written = _written(parameters, with_types=False)
        # What every call gives comes before what has a default.
        chosen = set(sorted(written, key=lambda part: "=" in part)[:_MOST_PARAMETERS])
        short = _laid_out(head, [*(part for part in written if part in chosen), "…"], ")")
    return Signature(short=short, whole=whole, about=about)


def _is_method(function: griffe.Function) -> bool:
    return function.parent is not None and function.parent.is_class


def _written(parameters: Sequence[griffe.Parameter], *, with_types: bool) -> list[str]:
    import griffe

    parts: list[str] = []
    seen_only_by_name = False
    for place, each in enumerate(parameters):
        kind = each.kind
        if kind is griffe.ParameterKind.keyword_only and not seen_only_by_name:
            parts.append("*")
            seen_only_by_name = True
        seen_only_by_name = seen_only_by_name or kind is griffe.ParameterKind.var_positional
        star = _STARS.get(kind.value, "") if kind else ""
        annotation = _plain_type(each.annotation) if with_types else ""
        text = f"{star}{each.name}{f': {annotation}' if annotation else ''}"
        if each.default is not None and not star:
            default = str(each.default)
            if not with_types and len(default) > _LONGEST_VALUE:
                default = "…"
            text += f" = {default}" if annotation else f"={default}"
        parts.append(text)
        following = parameters[place + 1].kind if place + 1 < len(parameters) else None
        only_by_place = griffe.ParameterKind.positional_only
        if kind is only_by_place and following is not only_by_place:
            parts.append("/")
    return parts


def _laid_out(head: str, parts: Iterable[str], tail: str) -> str:
    parts = list(parts)
    line = f"{head}{', '.join(parts)}{tail}"
    if len(line) <= _LONGEST_LINE or not parts:
        return line
    return "\n".join([head, *(f"    {part}," for part in parts), tail])


def _plain_type(annotation: str | griffe.Expr | None) -> str:
    """Return a type without what `Annotated` says about it in words."""
    if annotation is None:
        return ""
    elements = _annotated(annotation)
    if elements and any(_doc_text(each) for each in elements[1:]):
        others = [str(each) for each in elements[1:] if not _doc_text(each)]
        plain = _plain_type(elements[0])
        return f"Annotated[{', '.join([plain, *others])}]" if others else plain
    return str(annotation)


def _doc_of(annotation: str | griffe.Expr | None) -> str:
    return next((text for each in _annotated(annotation)[1:] if (text := _doc_text(each))), "")


def _annotated(annotation: str | griffe.Expr | None) -> list[str | griffe.Expr]:
    import griffe

    if not isinstance(annotation, griffe.ExprSubscript):
        return []
    inner = annotation.slice
    is_annotated = str(annotation.left).rpartition(".")[2] == "Annotated"
    return list(inner.elements) if is_annotated and isinstance(inner, griffe.ExprTuple) else []


def _doc_text(element: str | griffe.Expr) -> str:
    import griffe

    if not isinstance(element, griffe.ExprCall) or not element.arguments:
        return ""
    if str(element.function).rpartition(".")[2] not in ("Doc", "doc"):
        return ""
    try:
        text = ast.literal_eval(str(element.arguments[0]))
    except (SyntaxError, ValueError):
        return ""
    return text if isinstance(text, str) else ""
