"""The frontier: links that were seen and not followed, ranked by what they may hold."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from citewell.core.frozen import frozen
from citewell.core.language import has_cjk
from citewell.core.words import content_words
from citewell.research.link_prose import only_names, prose_sentences
from citewell.web.urls import same_site

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from citewell.core.records import Link, Page, RankedChunk, StoredChunk

# How much each part of a link says about the page behind it; chosen on bench/link_following.py,
# where the order mattered and the second digit did not.
_ANCHOR, _NAMED, _CONTEXT, _HEADING, _URL = 0.20, 0.10, 0.60, 0.10, 0.05
_IN_EVIDENCE = 0.25
# What a cosine above that of most links counts; one that names the page lies about .1 above.
_MEANING = 2.0
_MOST_COMPARED_CHARACTERS = 160
_OTHER_SITE = 0.6
_EARLIER_ON_PAGE = 0.05
_NOT_TEXT = (".zip", ".gz", ".tar", ".exe", ".png", ".jpg", ".svg", ".gif", ".mp4", ".whl", ".css")
# Links before and after one that its context may name as well.
_NEIGHBOURS = 6
_EVIDENCE_CHUNKS = 4
_SHORTEST_NAME = 3
_IN_BRACKETS = re.compile(r"[(（][^()（）]*+[)）]$")
# What the first page of a site's own search scores, and how fast those after it fall: the first
# three stand above most links.
_SEARCH_RESULT = 0.6
_LATER_RESULT = 0.25
# What a word of the question weighs that the evidence holds already.
_HELD_ALREADY = 0.5


@frozen
class Need:
    """A question, and those of its words that the evidence so far lacks; none where it has all."""

    query: str
    missing: Collection[str] = ()


@frozen
class Lead:
    """A link worth following, with the page it stands on."""

    url: str
    text: str
    parent_url: str
    depth: int
    score: float
    in_evidence: bool
    """Whether the best evidence names it: it stands there, or its words do."""


@frozen
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
    is_listed: bool
    """Whether it stands in a list of links, which says nothing of its own about any of them."""


class Frontier:
    """Collects the links of pages and says which to follow next."""

    def __init__(self) -> None:
        self._seen: list[_Seen] = []
        self._closed: set[str] = set()
        self._counts: Counter[str] = Counter()
        # Of each round the links are ranked twice, and once more at the end.
        self._rarity: _Rarity | None = None
        self._naming: _Naming | None = None
        self._cosines: dict[str, float] = {}
        """How near a link's words come to the question, by URL."""
        self._results: dict[str, Lead] = {}
        """Pages that a site's own search named, by URL."""

    def links_to_compare(self, need: Need, *, limit: int) -> dict[str, str]:
        """Return what links say of their pages, by URL, of those that were not compared yet.

        Those of the same site, what the words put first; of others, tables of contents first.
        """
        rarity = self._rarities()
        wanted = _wanted(need, rarity)
        texts: dict[str, str] = {}
        scores: dict[str, float] = {}
        by_kind = sorted(self._seen, key=lambda seen: seen.link.kind != "contents")
        for seen in by_kind:
            url = seen.link.url
            if url in self._closed or url in self._cosines or not seen.same_site:
                continue
            told = seen.link.text if seen.is_listed else f"{seen.link.text}: {seen.link.context}"
            if len(told) > len(texts.get(url, "")):
                texts[url] = told[:_MOST_COMPARED_CHARACTERS]
            scores[url] = max(scores.get(url, 0.0), _score(seen, wanted, rarity))
        first = sorted(texts, key=lambda url: -scores[url])[:limit]
        return {url: texts[url] for url in first}

    def add_search_results(self, pages: Sequence[tuple[str, str]], *, parent_url: str) -> None:
        """Take in URL and title of the pages that a site's own search named, best first."""
        for rank, (url, title) in enumerate(pages):
            lead = Lead(
                url=url,
                text=title,
                parent_url=parent_url,
                depth=1,
                score=_SEARCH_RESULT / (1 + _LATER_RESULT * rank),
                in_evidence=False,
            )
            self._results.setdefault(url, lead)

    @property
    def has_html_files(self) -> bool:
        """Whether pages of the site are files of HTML, as a documentation generator writes them."""
        return any(seen.same_site and seen.link.url.endswith(".html") for seen in self._seen)

    def note_cosines(self, cosines: Mapping[str, float]) -> None:
        """Keep how near the words of links come to the question."""
        self._cosines.update(cosines)

    def add_page(self, page: Page, *, depth: int) -> None:
        """Take in the links of a page that lies `depth` links away from the given pages."""
        self.close(page.info.url)
        self.close(page.info.final_url)
        headings = [_words_of(section.heading) for section in page.sections]
        for at, link in enumerate(page.links):
            # From where a reader starts, the navigation is a table of contents; further on it is
            # the same again.
            if (link.kind == "navigation" and depth) or link.url.lower().endswith(_NOT_TEXT):
                continue
            around = page.links[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS + 1]
            is_listed = _is_listed(link, around)
            anchor = _words_of(link.text)
            seen = _Seen(
                link=link,
                source_id=page.info.source_id,
                parent_url=page.info.url,
                depth=depth + 1,
                anchor=anchor,
                context=anchor if is_listed else _words_of(link.context),
                heading=headings[link.section] if link.section < len(headings) else frozenset(),
                path=_words_of(unquote(urlsplit(link.url).path).replace("/", " ")),
                place=link.start / max(1, len(page.text)),
                same_site=same_site(link.url, page.info.final_url),
                is_listed=is_listed,
            )
            self._seen.append(seen)
            self._counts.update(seen.anchor | seen.context)
        self._rarity = None

    def close(self, url: str) -> None:
        """Say that `url` was followed, or failed, and is not to be proposed again."""
        self._closed.add(url)

    def leads(
        self, needs: Sequence[Need], *, evidence: Sequence[RankedChunk], limit: int, max_depth: int
    ) -> list[Lead]:
        """Return the links most likely to hold what `needs` ask for, best first, a URL once."""
        rarity = self._rarities()
        wanted = [_wanted(need, rarity) for need in needs]
        naming = self._naming
        if naming is None or naming.evidence != tuple(evidence[:_EVIDENCE_CHUNKS]):
            naming = self._naming = _Naming(evidence[:_EVIDENCE_CHUNKS])
        best = {url: lead for url, lead in self._results.items() if url not in self._closed}
        usual = statistics.median(self._cosines.values()) if self._cosines else 0.0
        for place, seen in enumerate(self._seen):
            if seen.link.url in self._closed or seen.depth > max_depth:
                continue
            inside = naming.share(place, seen)
            score = max((_score(seen, weights, rarity) for weights in wanted), default=0.0)
            score += self._nearness(seen.link.url, usual)
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

    def _rarities(self) -> _Rarity:
        if self._rarity is None:
            self._rarity = _Rarity(self._counts, total=len(self._seen) + 1)
        return self._rarity

    def _nearness(self, url: str, usual: float) -> float:
        """Return what the meaning of a link's words adds: how much nearer than most it comes."""
        cosine = self._cosines.get(url)
        return 0.0 if cosine is None else _MEANING * max(0.0, cosine - usual)


class _Rarity(dict[str, float]):
    """What words weigh, more where few links have them; each word and set is weighed once."""

    def __init__(self, counts: Mapping[str, int], *, total: int) -> None:
        super().__init__()
        self._counts = counts
        self._total = total
        self._squares: dict[frozenset[str], float] = {}

    def __missing__(self, word: str) -> float:
        weight = self[word] = math.log(1 + self._total / (1 + self._counts.get(word, 0)))
        return weight

    def square(self, words: frozenset[str]) -> float:
        """Return the sum of the squares of the weights of words."""
        square = self._squares.get(words)
        if square is None:
            square = self._squares[words] = sum([self[word] ** 2 for word in words])
        return square


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The squares of the weights of the words that a need asks for, and their sum."""

    squares: Mapping[str, float]
    square: float


def _wanted(need: Need, rarity: _Rarity) -> _Wanted:
    weights = {word: rarity[word] for word in content_words(need.query)}
    if need.missing:
        weights = {
            word: weight * (1.0 if word in need.missing else _HELD_ALREADY)
            for word, weight in weights.items()
        }
    squares = {word: weight**2 for word, weight in weights.items()}
    return _Wanted(squares, sum(squares.values()))


def _score(seen: _Seen, wanted: _Wanted, rarity: _Rarity) -> float:
    if not wanted.squares:
        return 0.0
    return (
        _ANCHOR * _likeness(seen.anchor, wanted, rarity)
        + _NAMED * _share_named(seen.anchor, wanted, rarity)
        + _CONTEXT * _likeness(seen.context, wanted, rarity)
        + _HEADING * _likeness(seen.heading, wanted, rarity)
        + _URL * _likeness(seen.path, wanted, rarity)
        + _EARLIER_ON_PAGE * (1 - seen.place)
    )


def _likeness(words: frozenset[str], wanted: _Wanted, rarity: _Rarity) -> float:
    """Return the cosine between two bags of words, rare words weighing more."""
    squares = wanted.squares
    if words.isdisjoint(squares):
        return 0.0
    shared = sum([squares[word] for word in words if word in squares])
    return shared / math.sqrt(rarity.square(words) * wanted.square)


def _share_named(anchor: frozenset[str], wanted: _Wanted, rarity: _Rarity) -> float:
    """Return how much of the anchor's words the question names itself."""
    if anchor.isdisjoint(wanted.squares):
        return 0.0
    own = {word: rarity[word] for word in anchor}
    return sum(own[word] for word in anchor if word in wanted.squares) / (sum(own.values()) or 1.0)


class _Naming:
    """The best evidence, to ask whether it names a link."""

    def __init__(self, evidence: Sequence[RankedChunk]) -> None:
        self.evidence = tuple(evidence)
        self._shares: dict[int, float] = {}
        best = evidence[0].relevance if evidence else 0.0
        self._chunks = [
            (each.chunk, each.relevance / (best or 1.0) * rank**-0.5, _prose(each.chunk.text))
            for rank, each in enumerate(evidence, start=1)
        ]

    def share(self, place: int, seen: _Seen) -> float:
        """Return 0 to 1: the standing, against the best, of the best chunk that names the link.

        `place` is the link's among all that were seen.
        """
        share = self._shares.get(place)
        if share is None:
            share = self._shares[place] = self._find_share(seen)
        return share

    def _find_share(self, seen: _Seen) -> float:
        name = _name_in(seen.link.text)
        return max(
            (
                share
                for chunk, share, prose in self._chunks
                if _stands_in(chunk, seen)
                # Most texts do not hold it at all, and need no pattern.
                or (name is not None and name in prose and _pattern_of(name).search(prose))
            ),
            default=0.0,
        )


def _prose(text: str) -> str:
    return " ".join(prose_sentences(text))


def _stands_in(chunk: StoredChunk, seen: _Seen) -> bool:
    return (
        not seen.is_listed
        and chunk.source_id == seen.source_id
        and chunk.start <= seen.link.start < chunk.end
    )


@lru_cache(maxsize=4096)
def _name_in(anchor: str) -> str | None:
    """Return the name that an anchor is; None when it is no name."""
    name = _IN_BRACKETS.sub("", anchor.rstrip()).strip()
    if len(name) < _SHORTEST_NAME:
        return None
    # A single common word stands in any text, so one word must be written as a name.
    if len(name.split()) == 1 and not (name[0].isupper() or has_cjk(name)):
        return None
    return name


@lru_cache(maxsize=512)
def _pattern_of(name: str) -> re.Pattern[str]:
    """Return what finds a name in running text."""
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)" if name.isascii() else re.escape(name))


# A site repeats its links, and a paragraph is the context of all its own.
@lru_cache(maxsize=4096)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(content_words(text))


def _is_listed(link: Link, around: Sequence[Link]) -> bool:
    named = dict.fromkeys(other.text for other in around if other.text in link.context)
    return only_names(link.context, named)
