"""The anchors that a page of HTML names."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME = re.compile(
    r"""\s(?:id|name)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""", re.IGNORECASE
)
# Fragments that are no anchors: the top of the page, text, line numbers, routes of scripts.
_SCRIPTED_ANCHOR = re.compile(r"top\Z|:~:|[!/?]|L\d+", re.IGNORECASE)


def is_plain_anchor(anchor: str) -> bool:
    """Return whether an element of its page has to be called so for the anchor to work."""
    return _SCRIPTED_ANCHOR.match(anchor) is None


def html_anchors(html: str) -> set[str]:
    """Return the names and ids of the elements of HTML."""
    return {unescape(found[1] or found[2] or found[3] or "") for found in _NAME.finditer(html)}


def missing_anchors(anchors: Sequence[str], html: str) -> list[str]:
    """Return those of `anchors` that HTML does not name."""
    named = html_anchors(html)
    # Forges put a word before the anchors of Markdown.
    return [each for each in anchors if named.isdisjoint((each, f"user-content-{each}"))]
