"""Mathematics of a page as LaTeX between dollar signs."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.ingest.extract.characters import collapse_spaces

if TYPE_CHECKING:
    from citewell.ingest.extract.html.element import Element

_TEX_MARK = re.compile(r"\\[()\[\]]")
_CLOSING = {r"\(": r"\)", r"\[": r"\]"}
_DISPLAY_STYLE = re.compile(r"^\{\s*+\\displaystyle\s*+(.*)\}$", re.DOTALL)
_TEX_ENCODINGS = frozenset(
    {"application/x-tex", "tex", "latex", "text/x-tex", "application/x-latex"}
)
_DRAWING = re.compile(
    r"(?<= )(?:katex(?:-display|-html|-mathml)?|mathjax(?:_preview|_chtml|_svg|_display)?)(?= )"
)
_OPERATORS = {
    "∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∮": r"\oint", "√": r"\sqrt", "∞": r"\infty",
    "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "≈": r"\approx", "≡": r"\equiv", "±": r"\pm",
    "×": r"\times", "⋅": r"\cdot", "·": r"\cdot", "÷": r"\div", "→": r"\to", "⇒": r"\Rightarrow",
    "↦": r"\mapsto", "∈": r"\in", "∉": r"\notin", "⊂": r"\subset", "⊆": r"\subseteq",
    "∪": r"\cup", "∩": r"\cap", "∀": r"\forall", "∃": r"\exists", "∂": r"\partial",
    "∇": r"\nabla", "∅": r"\emptyset", "¬": r"\neg", "∧": r"\wedge", "∨": r"\vee", "−": "-",
    "…": r"\ldots", "⋯": r"\cdots", "{": r"\{", "}": r"\}", "⟨": r"\langle", "⟩": r"\rangle",
}  # fmt: skip
_GREEK = dict(
    zip(
        "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ",
        (
            "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho "
            "sigma tau upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi "
            "Omega"
        ).split(),
        strict=True,
    )
)
_FUNCTIONS = frozenset("sin cos tan log ln exp lim max min sup inf det gcd dim ker arg".split())
_ACCENTS = {
    "¯": "overline",
    "^": "hat",
    "ˆ": "hat",
    "~": "tilde",
    "˙": "dot",
    "→": "vec",
    "‾": "overline",
}


def is_math(element: Element) -> bool:
    """Return whether the element holds a formula, or a renderer's drawing of one."""
    # A script is kept in the tree only when it holds TeX.
    if element.tag in ("math", "mjx-container", "script"):
        return True
    return bool(element.names) and _is_drawing_name(element.names)


@lru_cache(maxsize=8_192)
def _is_drawing_name(names: str) -> bool:
    return bool(_DRAWING.search(names))


def render_math(element: Element) -> str:
    """Return the formula as `$…$` or `$$…$$`; "" for a drawing whose source stands elsewhere."""
    if element.tag == "script":
        return between_dollars(element.text(), display="display" in element.attribute("type"))
    if element.tag == "math":
        return _render_mathml(element, display=element.attribute("display") == "block")
    if element.has_class("katex-html"):
        return ""
    formula = element.find("math")
    if formula is None:
        return ""
    display = (
        element.has_class("katex-display", "mathjax_display")
        or element.attribute("display") in ("true", "block")
        or formula.attribute("display") == "block"
    )
    return _render_mathml(formula, display=display)


def between_dollars(tex: str, *, display: bool) -> str:
    """Return TeX as Markdown mathematics; "" when there is none."""
    plain = collapse_spaces(tex)
    inner = _DISPLAY_STYLE.match(plain)
    if inner:
        plain = inner.group(1).strip()
    if not plain:
        return ""
    return f"$${plain}$$" if display else f"${plain}$"


def is_tex_container(element: Element) -> bool:
    """Return whether a generator marks the element's text as TeX for MathJax."""
    return element.has_class("math") and element.tag in ("div", "span", "p")


def render_tex_container(element: Element) -> str:
    """Return the TeX of such an element between dollars, whatever delimiters it has."""
    text = element.text().strip()
    for opening, closing, display in (
        (r"\[", r"\]", True),
        (r"\(", r"\)", False),
        ("$$", "$$", True),
    ):
        if text.startswith(opening) and text.endswith(closing):
            inner = text[len(opening) : -len(closing)]
            if opening not in inner:
                return between_dollars(inner, display=display)
    if "$" in text or r"\(" in text or r"\[" in text:
        return convert_tex_delimiters(text)
    return between_dollars(text, display=element.tag != "span")


def convert_tex_delimiters(text: str) -> str:
    r"""Return text with `\(…\)` and `\[…\]`, as MathJax reads them, between dollars."""
    marks = list(_TEX_MARK.finditer(text))
    closings = {
        sign: [mark.start() for mark in marks if mark.group() == sign] for sign in _CLOSING.values()
    }
    pieces: list[str] = []
    position = 0
    for mark in marks:
        closing = closings.get(_CLOSING.get(mark.group(), ""), [])
        # Something stands between the two.
        place = bisect_right(closing, mark.end())
        if mark.start() < position or place == len(closing):
            continue
        tex = between_dollars(text[mark.end() : closing[place]], display=mark.group() == r"\[")
        pieces += [text[position : mark.start()], tex]
        position = closing[place] + 2
    return "".join((*pieces, text[position:]))


def _render_mathml(formula: Element, *, display: bool) -> str:
    tex = formula.attribute("alttext") or _annotation(formula) or _to_tex(formula)
    return between_dollars(tex or formula.text(), display=display)


def _annotation(formula: Element) -> str:
    for element in formula.walk():
        if element.tag == "annotation" and element.attribute("encoding").lower() in _TEX_ENCODINGS:
            return element.text()
    return ""


def _to_tex(element: Element | str) -> str:
    """Return the structure of MathML as TeX, as far as common elements go."""
    if isinstance(element, str):
        return ""
    tag = element.tag
    if tag in ("mi", "mn", "mo", "ms", "mtext"):
        return _token(element)
    if tag in ("annotation", "annotation-xml", "none", "mprescripts", "maction-hidden"):
        return ""
    if tag == "mspace":
        return " "
    if tag == "mtable":
        return _matrix(element)
    parts = [_to_tex(child) for child in element.elements()]
    if tag == "mfenced":
        opening = element.attributes.get("open") or "("
        closing = element.attributes.get("close") or ")"
        return opening + ", ".join(parts) + closing
    template = _TEMPLATES.get((tag, len(parts)))
    if template is not None:
        return template.format(*parts)
    if tag == "msqrt":
        return rf"\sqrt{{{_row(parts)}}}"
    if tag in ("mover", "munder") and len(parts) == 2:
        return _accent(tag, parts)
    return _row(parts)


_TEMPLATES = {
    ("mfrac", 2): r"\frac{{{0}}}{{{1}}}",
    ("mroot", 2): r"\sqrt[{1}]{{{0}}}",
    ("msup", 2): "{0}^{{{1}}}",
    ("msub", 2): "{0}_{{{1}}}",
    ("msubsup", 3): "{0}_{{{1}}}^{{{2}}}",
    ("munderover", 3): "{0}_{{{1}}}^{{{2}}}",
    ("mmultiscripts", 3): "{0}_{{{1}}}^{{{2}}}",
}


def _accent(tag: str, parts: list[str]) -> str:
    if tag == "munder":
        return f"{parts[0]}_{{{parts[1]}}}"
    accent = _ACCENTS.get(parts[1].strip().replace(r"\to", "→"))
    return rf"\{accent}{{{parts[0]}}}" if accent else f"{parts[0]}^{{{parts[1]}}}"


def _row(parts: list[str]) -> str:
    joined = ""
    for part in parts:
        # A command runs into a letter that follows it: \alpha x, not \alphax.
        if joined and part[:1].isalpha() and re.search(r"\\[A-Za-z]+$", joined):
            joined += " "
        joined += part
    return joined


def _token(element: Element) -> str:
    text = collapse_spaces(element.text())
    if element.tag == "mtext":
        return rf"\text{{{text}}}" if text else " "
    if text in _OPERATORS:
        return _OPERATORS[text]
    if element.tag == "mi" and len(text) > 1:
        return rf"\{text}" if text in _FUNCTIONS else rf"\mathrm{{{text}}}"
    if text in ("=", "+", "<", ">", "-"):
        return f" {text} "
    return "".join(rf"\{_GREEK[letter]}" if letter in _GREEK else letter for letter in text)


def _matrix(table: Element) -> str:
    rows = [
        " & ".join(_to_tex(cell) for cell in row.elements())
        for row in table.walk()
        if row.tag in ("mtr", "mlabeledtr")
    ]
    return r"\begin{matrix} " + r" \\ ".join(rows) + r" \end{matrix}"
