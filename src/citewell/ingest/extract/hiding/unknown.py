"""Values that only a browser can evaluate, in declarations that can hide what they are for.

Text that such a declaration is for is left out: no page needs them to show text, and a page that
wants text hidden from its readers alone would use them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.ingest.extract.hiding.values import Scale, as_factor, as_pixels

if TYPE_CHECKING:
    from collections.abc import Mapping

_BROWSER_ONLY = re.compile(
    r"(?<![\w-])(?:attr|if|inherit|random|random-item|sibling-index|sibling-count|anchor"
    r"|anchor-size|first-valid|toggle|container-progress|media-progress)\("
)
_ALWAYS = (
    "display visibility content-visibility opacity filter clip-path mask-image transform translate "
    "scale rotate zoom color -webkit-text-fill-color font-size letter-spacing text-indent"
).split()
_WHERE_CLIPPED = ("height", "width", "max-height", "max-width", "grid-template-rows")
_WHERE_PLACED = ("left", "right", "top", "bottom")
_MASKS = re.compile(r"url\(|element\(|paint\(|cross-fade\(|exclude|subtract|xor")
_KNOWN_ENVIRONMENT = ("safe-area-inset-", "keyboard-inset-", "titlebar-area-")
_ENVIRONMENT = re.compile(r"(?<![\w-])env\(\s*+([\w-]++)")
_MOST_ENVIRONMENTS = 5


def is_browser_only(value: str) -> bool:
    """Return whether a value depends on what only a browser knows."""
    return "(" in value and _BROWSER_ONLY.search(value) is not None


def is_beyond_evaluation(declared: Mapping[str, str], *, clips: bool) -> bool:
    """Return whether a declaration that can hide a box cannot be evaluated."""
    names = [*_ALWAYS, *(_WHERE_CLIPPED if clips else ())]
    if declared.get("position", "static") not in ("static", "relative"):
        names += _WHERE_PLACED
    if any(is_browser_only(declared[name]) for name in names if name in declared):
        return True
    if "(" in declared.get("opacity", "") and as_factor(declared["opacity"]) is None:
        return True
    if "(" in declared.get("font-size", "") and as_pixels(declared["font-size"], Scale()) is None:
        return True
    if "url(" in declared.get("filter", "") or "url(" in declared.get("content", ""):
        return True
    clip = declared.get("clip-path", "")
    if clip.startswith(("url(", "shape(")):
        return True
    if "(" in declared.get("offset-path", ""):
        return True
    mask = f"{declared.get('mask-image', '')} {declared.get('mask-composite', '')}"
    return mask != " " and _MASKS.search(mask) is not None


def with_environment(value: str) -> str:
    """Return a value with `env()` as on a window without a notch; empty where it has none."""
    for _ in range(_MOST_ENVIRONMENTS):
        match = _ENVIRONMENT.search(value)
        end = None if match is None else closing(value, match.end())
        if match is None or end is None:
            break
        known = match[1].startswith(_KNOWN_ENVIRONMENT)
        _, comma, fallback = value[match.end() : end].partition(",")
        if not known and not comma:
            return ""
        value = f"{value[: match.start()]}{'0px' if known else fallback.strip()}{value[end + 1 :]}"
    return value


def closing(value: str, start: int) -> int | None:
    """Return where the parenthesis is closed that is open at `start`."""
    depth = 1
    for at in range(start, len(value)):
        depth += {"(": 1, ")": -1}.get(value[at], 0)
        if not depth:
            return at
    return None
