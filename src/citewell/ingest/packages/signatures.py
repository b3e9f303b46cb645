"""Signatures of Python functions as people read them, short enough to be quoted whole."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import griffe

# What fits into a line of an editor; longer ones have a line for each parameter.
_LONGEST_LINE = 120
# Of the 220 tokens of a quote, beside the fence.
_MOST_TOKENS = 205
_MOST_TOKENS_OF_SENTENCE = 80
# Shorter ones need not be counted.
_SURELY_SHORT = 300
_LONGEST_VALUE = 60
_MOST_PARAMETERS = 20
_LONGEST_ATTRIBUTE = 500
_MOST_OVERLOADS = 4
_STARS = {"variadic positional": "*", "variadic keyword": "**"}


@frozen
class Signature:
    """How something is called."""

    short: str
    """Fits into a quote."""
    parameters: tuple[str, ...] = ()
    """All with their types and defaults, where `short` leaves some out."""
    about: tuple[tuple[str, str], ...] = ()
    """What `Doc("…")` says about parameters, by their names."""


def function_signature(
    function: griffe.Function, *, name: str | None = None, sentence: str = ""
) -> Signature:
    """Return the signature of a function, or of a class that is called by `name`.

    It leaves room for `sentence` in a quote.
    """
    room = _MOST_TOKENS - min(count_tokens(sentence), _MOST_TOKENS_OF_SENTENCE)
    if function.overloads and not _has_types(function):
        parts = [_signature(each, name, room) for each in function.overloads[:_MOST_OVERLOADS]]
        joined = "\n".join(part.short for part in parts)
        return replace(parts[0], short=joined) if _fits(joined, room) else parts[0]
    return _signature(function, name, room)


def definition_signature(member: griffe.Class | griffe.Function | griffe.Attribute) -> Signature:
    """Return how a definition begins: a function, an attribute, a class and how it is called."""
    import griffe

    if isinstance(member, griffe.Function):
        return function_signature(member, sentence=_first_sentence(member))
    if isinstance(member, griffe.Attribute):
        annotation = "" if member.annotation is None else f": {member.annotation}"
        value = "" if member.value is None else f" = {str(member.value)[:_LONGEST_ATTRIBUTE]}"
        text = f"{member.name}{annotation}{value}"
        return Signature(short=text)
    bases = ", ".join(str(base) for base in member.bases)
    head = f"class {member.name}({bases})" if bases else f"class {member.name}"
    start = member.members.get("__init__")
    if not isinstance(start, griffe.Function):
        return Signature(short=head)
    sentence = f"{head} {_first_sentence(member)}"
    called = function_signature(start, name=member.name, sentence=sentence)
    return replace(called, short=f"{head}\n{called.short}")


def _first_sentence(member: griffe.Class | griffe.Function) -> str:
    paragraph = member.docstring.value.strip().partition("\n\n")[0] if member.docstring else ""
    return paragraph.partition(". ")[0]


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


def _signature(function: griffe.Function, name: str | None, room: int) -> Signature:
    prefix = "" if name else "async def " if "async" in function.labels else "def "
    head = f"{prefix}{name or function.name}("
    tail = f") -> {function.returns}" if function.returns is not None else ")"
    parameters = list(function.parameters)
    if parameters and parameters[0].name in ("self", "cls") and _is_method(function):
        parameters = parameters[1:]
    about = tuple((each.name, text) for each in parameters if (text := _doc_of(each.annotation)))
    whole = _written(parameters, with_types=True)
    short = _laid_out(head, whole, tail)
    if _fits(short, room):
        return Signature(short=short, about=about)
    # What every call gives keeps its types.
    written = _written(parameters, with_types=False)
    short = _laid_out(head, written, tail)
    if not _fits(short, room):
        # And it comes before what has a default.
        chosen = set(sorted(written, key=lambda part: "=" in part)[:_MOST_PARAMETERS])
        short = _laid_out(head, [*(part for part in written if part in chosen), "…"], ")")
    listed = tuple(part for part in whole if part not in ("*", "/"))
    return Signature(short=short, parameters=listed, about=about)


def _fits(text: str, room: int) -> bool:
    return len(text) <= _SURELY_SHORT or count_tokens(text) <= room


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
        is_typed = with_types or (each.default is None and not star)
        annotation = _plain_type(each.annotation) if is_typed else ""
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
