"""Patterns over the path and query of a URL, as a crawl includes and excludes pages by them."""

from __future__ import annotations

import re

_WILDCARD = re.compile(r"(\*\*/?|\*)")


class UrlPattern:
    """A pattern in which `*` stands for anything within a segment and `**` for anything.

    One that does not begin with a slash or a star can match from any segment on. Matching goes
    through the target once, with all places of the pattern it can be at: as a regular expression,
    a pattern of many stars could take for ever.
    """

    def __init__(self, pattern: str) -> None:
        whole = pattern if pattern.startswith(("/", "*")) else f"**/{pattern}"
        self._steps: list[str] = []
        for part in _WILDCARD.split(whole):
            self._steps += [part] if part.startswith("*") else list(part)

    def matches(self, target: str) -> bool:
        """Return whether the pattern matches the whole of `target`."""
        places = self._arrive(0)
        for letter in target:
            places = set[int]().union(*(self._advance(place, letter) for place in places))
            if not places:
                return False
        return len(self._steps) in places

    def _advance(self, place: int, letter: str) -> set[int]:
        """Return the places that the pattern can be at after one more letter."""
        step = self._steps[place] if place < len(self._steps) else ""
        if step == "**/":
            return {place, *self._arrive(place + 1)} if letter == "/" else {place}
        if step == "**" or (step == "*" and letter != "/"):
            return self._arrive(place)
        return self._arrive(place + 1) if step == letter else set()

    def _arrive(self, place: int) -> set[int]:
        """Return a place and those beyond it, as wildcards may stand for nothing."""
        places = {place}
        while place < len(self._steps) and self._steps[place].startswith("*"):
            place += 1
            places.add(place)
        return places
