"""LaTeX formulas as MathML; one that cannot be parsed stays as its source."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape, unescape
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from latex2mathml import exceptions
from latex2mathml.converter import convert_to_element

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
_MAX_CHARACTERS = 5_000
# What the converter raises for invalid formulas; its errors share no base class.
_UNREADABLE: tuple[type[Exception], ...] = (
    *(error for error in vars(exceptions).values() if isinstance(error, type)),
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    StopIteration,
    TypeError,
    ValueError,
)
# The parts that an element of MathML must have; with fewer, what is shown is another formula.
_PARTS = {
    "mfrac": 2,
    "mroot": 2,
    "msub": 2,
    "msup": 2,
    "munder": 2,
    "mover": 2,
    "msubsup": 3,
    "munderover": 3,
}
_STRUCTURE = re.compile(
    r"\\(?:left|right|begin|end)(?![A-Za-z])|(?<!\\)(?:\\\\)*+%[^\n]*+|\\[\s\S]|[{}]"
)
_CLOSED_BY = {"{": "}", r"\left": r"\right", r"\begin": r"\end"}
# Formulas can carry addresses, classes and styles (`\href`, `\class`, `\style`): only how they
# are set is let through.
_ATTRIBUTES = frozenset(
    "accent accentunder align columnalign columnlines columnspacing depth display displaystyle "
    "fence form frame height largeop linebreak linethickness lspace mathvariant maxsize minsize "
    "movablelimits notation rowlines rowspacing rspace scriptlevel separator stretchy symmetric "
    "voffset width".split()
)


@lru_cache(maxsize=1_024)
def formula_html(latex: str, *, is_block: bool) -> str:
    """Return a formula as MathML inside an element with a class, or as escaped source."""
    math = _converted(latex.strip(), is_block=is_block)
    look = "math-block" if is_block else "math"
    if math is None:
        source = f"$${latex}$$" if is_block else f"${latex}$"
        return f'<span class="{look}"><code class="tex">{escape(source)}</code></span>'
    return f'<span class="{look}">{ElementTree.tostring(math, encoding="unicode")}</span>'


def _is_balanced(latex: str) -> bool:
    """Return whether all groups are closed: the converter guesses where one is not."""
    expected: list[str] = []
    for mark in _STRUCTURE.findall(latex):
        if mark in _CLOSED_BY:
            expected.append(_CLOSED_BY[mark])
        elif mark in _CLOSED_BY.values() and (not expected or expected.pop() != mark):
            return False
    return not expected


def _converted(latex: str, *, is_block: bool) -> Element | None:
    if len(latex) > _MAX_CHARACTERS:
        return None
    if not _is_balanced(latex):
        return None
    try:
        math: Element = convert_to_element(latex, display="block" if is_block else "inline")
    except _UNREADABLE:
        return None
    for element in math.iter():
        # The converter writes entities as plain text.
        element.text = unescape(element.text) if element.text else None
        element.tail = None
        if element.text and element.text.startswith("\\") and len(element.text) > 1:
            return None
        if len(element) != _PARTS.get(element.tag, len(element)):
            return None
        for name in set(element.attrib) - _ATTRIBUTES:
            del element.attrib[name]
    math.set("xmlns", _NAMESPACE)
    math.set("alttext", latex)
    return math
