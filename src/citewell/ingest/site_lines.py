"""Lines that repeat at the edges of a site's pages, learnt from those that are stored or read.

They stay in the canonical text, which depends on nothing but the page; they are only left out of
its chunks. So a page has the same text and hash however it was read.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from hashlib import blake2b

_EDGE_LINES = 12
_EDGE_CHARACTERS = 20_000
_LEAST_PAGES = 4
_LEAST_SHARE = 0.5
_LEAST_LETTERS = 3
_MAX_SITES = 200
# Counting more pages of a site would add nothing.
_MAX_PAGES = 200
_LETTERS = re.compile(r"[^\W_]+")
# Lines inside these belong together.
_LAID_OUT = ("```", "~~~", "|")


@dataclass(slots=True)
class _Site:
    seen: set[str] = field(default_factory=set)
    """The addresses of the pages that were counted."""
    counts: Counter[int] = field(default_factory=Counter)
    early: list[str] = field(default_factory=list)
    """Pages that were read before anything was known to repeat."""


class SiteLines:
    """Counts the lines at the edges of pages, for each site."""

    def __init__(self) -> None:
        self._sites: OrderedDict[str, _Site] = OrderedDict()

    def knows(self, site: str) -> bool:
        """Return whether any page of a site was counted, and not forgotten since."""
        return site in self._sites

    def add_page(self, site: str, url: str, text: str) -> None:
        """Count a page once; the sites that were seen longest ago are forgotten."""
        known = self._sites.setdefault(site, _Site())
        self._sites.move_to_end(site)
        if len(self._sites) > _MAX_SITES:
            self._sites.popitem(last=False)
        if url in known.seen or len(known.seen) == _MAX_PAGES:
            return
        if not self.repeated(site):
            known.early.append(url)
        known.seen.add(url)
        first, last = text[:_EDGE_CHARACTERS], text[-_EDGE_CHARACTERS:]
        known.counts.update({*_edge(first.split("\n")), *_edge(last.split("\n")[::-1])})

    def repeated(self, site: str) -> frozenset[int]:
        """Return the fingerprints of lines that most pages of a site begin or end with."""
        known = self._sites.get(site)
        if known is None or len(known.seen) < _LEAST_PAGES:
            return frozenset()
        least = _LEAST_SHARE * len(known.seen)
        return frozenset(line for line, count in known.counts.items() if count > least)

    def take_early(self, site: str) -> list[str]:
        """Return, once, the pages read before it was known what repeats; none while nothing is."""
        known = self._sites.get(site)
        if known is None or not known.early or not self.repeated(site):
            return []
        early, known.early = known.early, []
        return early


def content_span(text: str, repeated: frozenset[int]) -> tuple[int, int]:
    """Return where a page's own text starts and ends, repeated lines at its edges left out."""
    if not repeated:
        return 0, len(text)
    lines = text.split("\n")
    before, after = _count_repeated(lines, repeated), _count_repeated(lines[::-1], repeated)
    if before + after >= len(lines):
        return 0, len(text)
    return sum(len(line) + 1 for line in lines[:before]), len(text) - sum(
        len(line) + 1 for line in lines[len(lines) - after :]
    )


def _edge(lines: list[str]) -> set[int]:
    prints: set[int] = set()
    for line in [line for line in lines if line.strip()][:_EDGE_LINES]:
        if line.startswith(_LAID_OUT):
            break
        mark = _fingerprint(line)
        if mark is not None:
            prints.add(mark)
    return prints


def _count_repeated(lines: list[str], repeated: frozenset[int]) -> int:
    """Return how many lines come before the first that is not repeated."""
    for place, line in enumerate(lines):
        if line.strip() and (line.startswith(_LAID_OUT) or _fingerprint(line) not in repeated):
            return place
    return len(lines)


def _fingerprint(line: str) -> int | None:
    letters = "".join(_LETTERS.findall(line.lower()))
    if len(letters) < _LEAST_LETTERS:
        return None
    return int.from_bytes(blake2b(letters.encode(), digest_size=8).digest())
