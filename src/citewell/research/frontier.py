"""The frontier: links that were seen and not followed, ranked by what they may hold."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from citewell.core.words import content_words
from citewell.web.urls import same_site

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from citewell.core.records import Block, Link, Page

# How much each part of a link says about the page behind it; fitted by hand on
# bench/link_following.py, where the order mattered and the second digit did not.
_ANCHOR, _CONTEXT, _HEADING, _URL = 0.40, 0.30, 0.15, 0.15
_IN_EVIDENCE = 0.35
_OTHER_SITE = 0.75
_EARLIER_ON_PAGE = 0.05
_NOT_TEXT = (".zip", ".gz", ".tar", ".exe", ".png", ".jpg", ".svg", ".gif", ".mp4", ".whl", ".css")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """A link worth following, with the page it stands on."""

    url: str
    text: str
    parent_url: str
    depth: int
    score: float
    in_evidence: bool
    """Whether it stands in a block that was found for the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    link: Link
    source_id: int
    parent_url: str
    depth: int
    anchor: frozenset[str]
    context: frozenset[str]
    heading: frozenset[str]
    path: frozenset[str]
    place: float
    same_site: bool


class Frontier:
    """Collects the links of pages and says which to follow next."""

    def __init__(self) -> None:
        self._seen: list[_Seen] = []
        self._closed: set[str] = set()
        self._counts: Counter[str] = Counter()

    def add_page(self, page: Page, *, depth: int) -> None:
        """Take in the links of a page that lies `depth` links away from the given pages."""
        self.close(page.info.url)
        self.close(page.info.final_url)
        headings = [frozenset(content_words(section.heading)) for section in page.sections]
        for link in page.links:
            if link.url.lower().endswith(_NOT_TEXT):
                continue
            seen = _Seen(
                link=link,
                source_id=page.info.source_id,
                parent_url=page.info.url,
                depth=depth + 1,
                anchor=frozenset(content_words(link.text)),
                context=frozenset(content_words(link.context)),
                heading=headings[link.section] if link.section < len(headings) else frozenset(),
                path=frozenset(content_words(unquote(urlsplit(link.url).path).replace("/", " "))),
                place=link.start / max(1, len(page.text)),
                same_site=same_site(link.url, page.info.final_url),
            )
            self._seen.append(seen)
            self._counts.update(seen.anchor | seen.context)

    def close(self, url: str) -> None:
        """Say that `url` was followed, or failed, and is not to be proposed again."""
        self._closed.add(url)

    def leads(
        self, needs: Sequence[str], *, evidence: Sequence[Block], limit: int, max_depth: int
    ) -> list[Lead]:
        """Return the links most likely to hold what `needs` ask for, best first, a URL once."""
        wanted = [self._weigh(content_words(need)) for need in needs]
        best: dict[str, Lead] = {}
        for seen in self._seen:
            if seen.link.url in self._closed or seen.depth > max_depth:
                continue
            inside = _relevance_around(seen, evidence)
            score = max((self._score(seen, weights) for weights in wanted), default=0.0)
            score = (score + _IN_EVIDENCE * inside) * (1.0 if seen.same_site else _OTHER_SITE)
            known = best.get(seen.link.url)
            if known is None or score > known.score:
                best[seen.link.url] = Lead(
                    url=seen.link.url,
                    text=seen.link.text,
                    parent_url=seen.parent_url,
                    depth=seen.depth,
                    score=score,
                    in_evidence=inside > 0,
                )
        return sorted(best.values(), key=lambda lead: -lead.score)[:limit]

    def _weigh(self, words: Iterable[str]) -> dict[str, float]:
        total = len(self._seen) + 1
        return {word: math.log(1 + total / (1 + self._counts[word])) for word in words}

    def _score(self, seen: _Seen, wanted: Mapping[str, float]) -> float:
        if not wanted:
            return 0.0
        return (
            _ANCHOR * self._likeness(seen.anchor, wanted)
            + _CONTEXT * self._likeness(seen.context, wanted)
            + _HEADING * self._likeness(seen.heading, wanted)
            + _URL * self._likeness(seen.path, wanted)
            + _EARLIER_ON_PAGE * (1 - seen.place)
        )

    def _likeness(self, words: frozenset[str], wanted: Mapping[str, float]) -> float:
        """Return the cosine between two bags of words, rare words weighing more."""
        shared = sum(wanted[word] ** 2 for word in words if word in wanted)
        if not shared:
            return 0.0
        own = sum(weight**2 for weight in self._weigh(words).values())
        return shared / math.sqrt(own * sum(weight**2 for weight in wanted.values()))


def _relevance_around(seen: _Seen, evidence: Sequence[Block]) -> float:
    return max(
        (
            block.relevance
            for block in evidence
            if block.source_id == seen.source_id and block.start <= seen.link.start < block.end
        ),
        default=0.0,
    )
