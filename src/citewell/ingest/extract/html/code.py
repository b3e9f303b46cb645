"""Program text of a page as fenced Markdown with its language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.ingest.extract.html.element import Element

_LANGUAGE_CLASS = re.compile(
    r"(?<= )(?:language|lang|highlight-source|highlight|brush|sourcecode|src|code)"
    r"[-_:] ?([\w+#.-]+)(?= )"
)
_BARE_LANGUAGE = re.compile(
    r" (?:hljs|highlight|sourcecode|prettyprint|prism|src|codehilite|chroma|listing)"
    r"(?: notranslate)? (?:lang-)?([a-z][\w+#-]*) "
    # As docutils writes it.
    r"| code ([a-z][\w+#-]*) literal-block "
)
_ALIASES = {
    "python3": "python",
    "ipython3": "python",
    "ipython": "python",
    "py": "python",
    "py3": "python",
    "js": "javascript",
    "ts": "typescript",
    "c++": "cpp",
    "sh": "shell",
    "yml": "yaml",
}
_NO_LANGUAGE = frozenset(
    "default none text plaintext plain nohighlight notranslate txt block wrapper code snippet "
    "source highlight line-numbers undefined unknown auto output pre example inline toolbar "
    "container literal-block literal numbers group tabs div box body area sample java-doc".split()
)
_NUMBERS = re.compile(
    r"(?<= )(?:linenos?|line-?numbers?(?:-rows)?|gutter|rouge-gutter|lnt?|linenodiv|blob-num"
    r"|hljs-ln-numbers)(?= )"
)
_NOT_CODE = re.compile(
    r"(?<= )(?:copy(?:btn|-btn|-button|-code)?|clipboard\S*|btn\S*|toolbar-item|code-header|boring"
    r"|codehilite-copy|headerlink|sr-only|filename-copy|zeroclipboard\S*|ttc|pragmadots"
    r"|dropdown-menu|viewcode-back)(?= )"
)
_LINE_TAGS = frozenset({"div", "p", "li", "tr", "dt"})
_FOLD = "\n    "
_FENCE_RUN = re.compile(r"`{3,}")


def render_code_block(pre: Element) -> str:
    """Return the element's program text as a fenced block; "" when it has none."""
    text = code_text(pre)
    if not text.strip():
        return ""
    # Haddock's examples begin with the same prompt.
    is_python = text.startswith(">>> ") and not pre.has_class("screen")
    return fence(text, language_of(pre) or ("python" if is_python else ""))


def fence(text: str, language: str = "") -> str:
    """Return text between fences longer than any run of backticks inside it."""
    longest = max((len(run) for run in _FENCE_RUN.findall(text)), default=2)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{text}\n{marks}"


def code_text(element: Element) -> str:
    """Return program text line by line, without line numbers and copy buttons."""
    pieces: list[str] = []
    _collect(element, pieces)
    lines = "".join(pieces).replace("\r\n", "\n").replace("\xa0", " ").split("\n")
    lines = [line.rstrip() for line in lines]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines)


def language_of(pre: Element) -> str:
    """Return the language named by the block, the code inside it or a wrapper around it."""
    inside = pre.find("code")
    wrappers = [parent for _, parent in zip(range(3), pre.ancestors(), strict=False)]
    for element in (inside, pre, *wrappers):
        if element is None or element.tag in ("body", "main", "article"):
            continue
        named = (
            element.attribute("data-lang")
            or element.attribute("data-language")
            or element.attribute("data-code-language")
            or (element.tag in ("pre", "code") and element.attribute("language"))
            or _language_in_names(element.names)
        )
        language = _ALIASES.get(named.lower(), named.lower())
        if language and language not in _NO_LANGUAGE and re.fullmatch(r"[\w+#.-]{1,20}", language):
            return language
    return ""


def _language_in_names(names: str) -> str:
    if not names:
        return ""
    for match in _LANGUAGE_CLASS.finditer(names):
        if match.group(1) not in _NO_LANGUAGE:
            return match.group(1)
    bare = _BARE_LANGUAGE.search(names)
    return (bare.group(1) or bare.group(2)) if bare else ""


def _is_not_code(element: Element) -> bool:
    """Return whether the element stands beside the program text; a name alone is no proof."""
    if element.tag in ("code", "pre"):
        return False
    if _NUMBERS.search(element.names):
        return not element.text().strip().strip("0123456789\n \t.:|")
    return bool(_NOT_CODE.search(element.names))


def is_code_box(element: Element) -> bool:
    """Return whether a box holds program text line by line although it is no <pre>."""
    if element.tag != "div" or not element.has_class("fragment"):
        return False
    return any(below.has_class("line") for below in element.elements())


def _collect(element: Element, pieces: list[str]) -> None:
    is_after_line = False
    for child in element.children:
        if isinstance(child, str):
            # The line break after an element that ends its line anyway.
            text = child.removeprefix("\n") if is_after_line else child
            if text:
                # An empty piece would hide that the line before it has ended.
                pieces.append(text)
            is_after_line = False
            continue
        if child.tag == "br":
            pieces.append("\n")
        elif child.names and _is_not_code(child):
            continue
        elif child.names and child.has_class("pragmawrap"):
            # The end of a signature, which the page folds away, below the line that it shows.
            pieces.append(_FOLD)
            _collect(child, pieces)
        else:
            starts_line = child.tag in _LINE_TAGS
            if starts_line and pieces and not pieces[-1].endswith("\n"):
                pieces.append("\n")
            _collect(child, pieces)
            if starts_line and not (pieces and pieces[-1].endswith("\n")):
                pieces.append("\n")
            is_after_line = starts_line
            continue
        is_after_line = False
