"""Telling what a reader of the rendered page would not see."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citewell.ingest.extract.html.element import Element

_HIDDEN_CLASS = re.compile(
    r" (?:sr-only|sronly|visually-?hidden|screen-?reader(?:-text|-only)?|offscreen|off-screen"
    r"|u-hidden|is-hidden|a11y-hidden|element-invisible|assistive-text"
    r"|invisible|accessibly-hidden|hidden-visually"
    r"|d-none|hidden|hide) "
)
# Frameworks hide on small screens and show on large ones with a second class.
_SHOWN_CLASS = re.compile(r" (?:d-\w+-(?!none)\w+|\w+:(?:block|flex|grid|inline|table)[\w-]*) ")
_ZERO = r"0*+\.?+0*+(?:px|em|rem|%|pt|vh|vw)?"
_HIDING_STYLE = re.compile(
    r"(?:^|;)\s*+(?:display\s*+:\s*+none|visibility\s*+:\s*+(?:hidden|collapse)"
    rf"|font-size\s*+:\s*+(?:{_ZERO}|[0-2](?:\.\d+)?px|0?\.0\d*+r?em)\s*+(?:;|!|$)"
    r"|clip\s*+:\s*+rect\(\s*+(?:0|1px)|clip-path\s*+:\s*+inset\(\s*+(?:50|100)%"
    r"|text-indent\s*+:\s*+-\d{3,}|(?:left|right|top)\s*+:\s*+-\d{4,}px|left\s*+:\s*+-999"
    r"|transform\s*+:\s*+scale\(\s*+0\s*+\)|color\s*+:\s*+transparent"
    r"|content-visibility\s*+:\s*+hidden)"
)
_NO_SIZE = re.compile(rf"(?:^|;)\s*+(?:max-)?(?:width|height)\s*+:\s*+(?:{_ZERO}|1px)\s*+(?:;|!|$)")
_OPACITY = re.compile(r"(?:^|;)\s*+opacity\s*+:\s*+0*+\.?+0*+\s*+(?:;|!|$)")
_COLOUR = re.compile(r"(?:^|;)\s*color\s*:\s*([^;!]+)")
_BACKGROUND = re.compile(r"(?:^|;)\s*background(?:-color)?\s*:\s*([^;!]+)")
_WHITE = re.compile(r"#f{3}(?:f{3})?\b|\bwhite\b|rgba?\(\s*25[0-5]\s*,\s*25[0-5]\s*,\s*25[0-5]\b")
_STYLE_RULE = re.compile(r"(?<![^{}])([^{}]++)\{([^{}]*+)\}")
_STYLE_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_SIMPLE_SELECTOR = re.compile(r"[a-z0-9]*([.#][\w-]+)$")
_ICON_TAGS = frozenset({"a", "span", "i", "b", "svg", "sup", "small", "em"})
_TELLTALE_ATTRIBUTES = frozenset({"hidden", "aria-hidden", "style"})
_STRUCTURAL_TAGS = frozenset({"body", "main", "article"})


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenNames:
    """Class and id names that the page's own style sheets hide."""

    classes: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.classes or self.ids)


def hidden_names(style_sheets: Iterable[str]) -> HiddenNames:
    """Return the names hidden by rules of one class or id, media queries left out."""
    hidden: set[str] = set()
    for sheet in style_sheets:
        for selectors, declarations in _STYLE_RULE.findall(_outside_at_rules(sheet.lower())):
            hides = _hides(declarations)
            if not hides and "display" not in declarations:
                continue
            names = {
                match.group(1)
                for match in map(_SIMPLE_SELECTOR.match, map(str.strip, selectors.split(",")))
                if match
            }
            # The last rule wins.
            hidden = hidden | names if hides else hidden - names
    return HiddenNames(
        classes=frozenset(name[1:] for name in hidden if name[0] == "."),
        ids=frozenset(name[1:] for name in hidden if name[0] == "#"),
    )


def is_hidden_by_sheet(element: Element, hidden: HiddenNames) -> bool:
    """Return whether the page's own style sheets hide the element."""
    if not element.names or element.tag in _STRUCTURAL_TAGS:
        return False
    if hidden.classes and not hidden.classes.isdisjoint(
        (element.attributes.get("class") or "").lower().split()
    ):
        return True
    return bool(hidden.ids) and (element.attributes.get("id") or "").lower() in hidden.ids


def is_hidden(element: Element) -> bool:
    """Return whether its own attributes keep the element and all below it invisible."""
    attributes = element.attributes
    if element.names and _is_hiding_name(element.names) and element.tag not in _STRUCTURAL_TAGS:
        return True
    if _TELLTALE_ATTRIBUTES.isdisjoint(attributes):
        return False
    if "hidden" in attributes and attributes["hidden"] != "until-found":
        return True
    if attributes.get("aria-hidden") == "true" and element.tag in _ICON_TAGS:
        return True
    style = attributes.get("style")
    return bool(style) and _hidden_by_style(element, style.lower() if style else "")


@lru_cache(maxsize=8_192)
def _is_hiding_name(names: str) -> bool:
    return bool(_HIDDEN_CLASS.search(names)) and not _SHOWN_CLASS.search(names)


def _hidden_by_style(element: Element, style: str) -> bool:
    return _hides(style) or ("color" in style and _same_colour(element, style))


def _hides(style: str) -> bool:
    if _HIDING_STYLE.search(style):
        return True
    if "overflow" in style and "hidden" in style and _NO_SIZE.search(style):
        return True
    # Scripts fade text in from zero opacity; such styles move or time the change as well.
    return bool(_OPACITY.search(style)) and not re.search(r"trans|anim|will-change", style)


def _same_colour(element: Element, style: str) -> bool:
    """Return whether the text has the colour of what lies behind it; a page is white."""
    colour = _COLOUR.search(style)
    if colour is None:
        return False
    behind = _background(element)
    if _WHITE.search(colour.group(1)):
        return behind is None or bool(_WHITE.search(behind))
    return behind is not None and behind.strip() == colour.group(1).strip()


def _background(element: Element) -> str | None:
    at: Element | None = element
    while at is not None:
        found = _BACKGROUND.search((at.attributes.get("style") or "").lower())
        if found:
            return found.group(1)
        if at.attributes.get("bgcolor"):
            return str(at.attributes["bgcolor"]).lower()
        at = at.parent
    return None


def _outside_at_rules(sheet: str) -> str:
    plain = _STYLE_COMMENT.sub("", sheet)
    if "@" not in plain:
        return plain
    kept: list[str] = []
    depth, at_rule_depth, start = 0, -1, 0
    for match in re.finditer(r"@[\w-]++[^@;{}]*+\{|[{}]", plain):
        mark = match.group()
        if mark == "}":
            depth = max(depth - 1, 0)
            if depth == at_rule_depth:
                at_rule_depth, start = -1, match.end()
            continue
        if mark[0] == "@" and at_rule_depth < 0:
            kept.append(plain[start : match.start()])
            at_rule_depth = depth
        depth += 1
    if at_rule_depth < 0:
        kept.append(plain[start:])
    return "".join(kept)
