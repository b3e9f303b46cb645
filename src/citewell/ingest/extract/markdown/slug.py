"""Anchors of headings as GitHub and most generators make them."""

from __future__ import annotations

import re

_DROPPED = re.compile(r"[^\w\- ]")


class SlugCounter:
    """Makes slugs that are unique within one file."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def slug(self, heading: str) -> str:
        """Return the anchor of the next heading with these words."""
        plain = _DROPPED.sub("", heading.lower()).replace(" ", "-")
        count = self._seen.get(plain, 0)
        self._seen[plain] = count + 1
        return f"{plain}-{count}" if count else plain
