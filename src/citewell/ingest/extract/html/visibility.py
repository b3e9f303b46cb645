"""Telling by an element's own names that its reader does not see it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.ingest.extract.html.element import Element

# As the sheets of frameworks, which are not at hand, hide them.
_HIDDEN_CLASS = re.compile(
    r" (?:sr-only|sronly|visually-?hidden|screen-?reader(?:-text|-only)?|offscreen|off-screen"
    r"|u-hidden|is-hidden|a11y-hidden|element-invisible|assistive-text"
    r"|invisible|accessibly-hidden|hidden-visually"
    r"|d-none|hidden|hide|annottext"
    # For small screens only; what large ones show stands elsewhere.
    r"|d-(?:sm|md|lg)-none|(?:sm|md|lg):(?:sl-)?hidden) "
)
# Frameworks hide on small screens and show on large ones with a second class.
_SHOWN_CLASS = re.compile(r" (?:d-\w+-(?!none)\w+|\w+:(?:block|flex|grid|inline|table)[\w-]*) ")
_ICON_TAGS = frozenset({"a", "span", "i", "b", "svg", "sup", "small", "em"})
_STRUCTURAL_TAGS = frozenset({"body", "main", "article"})


def is_hidden(element: Element) -> bool:
    """Return whether an element is an icon, or has a class that frameworks hide."""
    attributes = element.attributes
    classes = attributes.get("class")
    if classes and element.tag not in _STRUCTURAL_TAGS and _is_hiding(f" {classes} ".lower()):
        return True
    return attributes.get("aria-hidden") == "true" and element.tag in _ICON_TAGS


@lru_cache(maxsize=8_192)
def _is_hiding(names: str) -> bool:
    return bool(_HIDDEN_CLASS.search(names)) and not _SHOWN_CLASS.search(names)
