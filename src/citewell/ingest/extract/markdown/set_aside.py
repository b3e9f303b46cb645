"""Parts of a text that stay as they are while the rest of it is rewritten."""

from __future__ import annotations

import re


class SetAside:
    """Gives short marks for parts of a text, and puts the parts back."""

    def __init__(self, opening: str, closing: str) -> None:
        """Make marks between two noncharacters, which no page holds once it is cleaned."""
        self._opening, self._closing = opening, closing
        self._mark = re.compile(f"{opening}(\\d+){closing}")
        self._parts: list[str] = []

    def put(self, part: str) -> str:
        """Return the mark of a part."""
        self._parts.append(part)
        return f"{self._opening}{len(self._parts) - 1}{self._closing}"

    def restore(self, text: str) -> str:
        """Return the text with its parts in place of their marks."""
        if self._opening not in text:
            return text
        return self._mark.sub(lambda mark: self._parts[int(mark.group(1))], text)
