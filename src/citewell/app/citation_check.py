"""Check every quote and link of a document against the library or the web."""

from __future__ import annotations

import math
import re
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote

import anyio

from citewell.app.quote_search import hold_in_order, look_for_anchors, look_for_quotes
from citewell.app.stored_pages import find_stored_page
from citewell.core.boundary import SUPPLIED
from citewell.core.cited_document import parse_references
from citewell.core.errors import CitewellError, ExtractionError, FetchError, NotAUrl
from citewell.core.frozen import frozen
from citewell.core.html_anchors import is_plain_anchor
from citewell.core.off_loop import in_thread
from citewell.core.records import PageInfo
from citewell.core.text import one_line
from citewell.web.sandbox import fitting_cpu_seconds
from citewell.web.urls import is_file_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from citewell.answer.verify import Verification
    from citewell.core.cited_document import Reference
    from citewell.core.records import FetchedPage
    from citewell.ingest.pipeline import Ingester
    from citewell.store.protocol import Store

CheckedAgainst = Literal["auto", "library", "live"]
"""The library, and the web for pages it lacks; only the library; only the web."""

ReferenceVerdict = Literal[
    "exact",
    "changed",
    "gone",
    "found",
    "unreachable",
    "not_indexed",
    "not_checked",
    "unsourced",
]
FAILURES: frozenset[ReferenceVerdict] = frozenset({"changed", "gone", "unreachable"})

MAX_REFERENCES = 200

# Reserved by RFC 2606: documents show such addresses, but send nobody there.
_EXAMPLE_HOST = re.compile(
    r"https?://(?:[^/?#:@]*\.)?(?:example(?:\.(?:com|net|org))?|test|invalid)(?:[:/?#]|\Z)",
    re.IGNORECASE,
)
# What is read of pages for one document is kept for the next, up to so much.
_MOST_KEPT_CHARACTERS = 20_000_000


@frozen
class CheckedReference:
    """The verdict on a quote or a link of a document.

    A link is `found` when its page exists, and `gone` when that lacks the anchor it names; a quote
    is `exact`, `changed` or `gone`.
    """

    reference: Reference
    verdict: ReferenceVerdict
    explanation: str
    difference: str | None = None
    is_live: bool = False
    is_supplied: bool = False
    """Whether the library has only text that a caller supplied for the address."""


@frozen
class _Source:
    """A page, read once for all references to it."""

    text: str
    whole: PageInfo | FetchedPage
    is_live: bool

    @property
    def size(self) -> int:
        return len(self.text) + (0 if isinstance(self.whole, PageInfo) else len(self.whole.text))


class _BeyondLimit:
    """A page that is not read because the limit of fetched pages is reached."""


@dataclass
class CitationChecker:
    """Checks the references of documents; each page is read once, for all references to it.

    At most `max_live_pages` are fetched; references to further ones are `not_checked`, and so are
    those that are left after `seconds`.
    """

    store: Store
    ingester: Ingester
    _: KW_ONLY
    project: str
    against: CheckedAgainst = "auto"
    may_see: Callable[[PageInfo], bool] = lambda page: True
    max_live_pages: int = MAX_REFERENCES
    seconds: float = math.inf

    def __post_init__(self) -> None:
        self._live_pages = 0
        self._sources: dict[str, _Source | CitewellError | _BeyondLimit | None] = {}
        self._supplied: set[str] = set()

    async def check(self, document: str) -> list[CheckedReference]:
        """Return the verdicts on the quotes and links of a document, in its order.

        Links to hosts that are reserved for examples are left out, unless their page is stored.
        """
        references = await in_thread(parse_references, document)
        references = await self._leave_out_examples(references)
        checked: dict[Reference, CheckedReference] = {}
        by_address: dict[str, list[Reference]] = {}
        for reference in references:
            by_address.setdefault((reference.url or "").partition("#")[0], []).append(reference)
        with anyio.move_on_after(self.seconds):
            for address, of_page in by_address.items():
                try:
                    async for row in self._check_page(address, of_page):
                        checked[row.reference] = row
                except ExtractionError as error:
                    left = [each for each in of_page if each not in checked]
                    checked |= {each: _not_checked(each, error.message) for each in left}
        said = "There was no time left for it; check it with fewer quotes of long pages."
        return [checked.get(each) or _not_checked(each, said) for each in references]

    async def _leave_out_examples(self, references: Sequence[Reference]) -> list[Reference]:
        """Return the first references, without those to examples."""
        kept: list[Reference] = []
        examples: dict[str, bool] = {}
        for reference in references:
            address = (reference.url or "").partition("#")[0]
            is_example = not reference.quote and _EXAMPLE_HOST.match(address) is not None
            if is_example and address not in examples and len(examples) < MAX_REFERENCES:
                examples[address] = not await self._is_stored(address)
            if not is_example or not examples.get(address, True):
                kept.append(reference)
            if len(kept) == MAX_REFERENCES:
                break
        return kept

    async def _check_page(
        self, address: str, references: Sequence[Reference]
    ) -> AsyncIterator[CheckedReference]:
        """Give the verdict on each reference to a page, as soon as it is known.

        Raises:
            ExtractionError: it takes too long to search the page.
        """
        source = await self._source(address) if address else None
        if not isinstance(source, _Source):
            for reference in references:
                yield self._unread(reference, address, source)
            return
        quoting: dict[str, list[Reference]] = {}
        for reference in references:
            if reference.quote is not None:
                quoting.setdefault(reference.quote, []).append(reference)
        async for quote, result in self._judge_quotes(list(quoting), source):
            for reference in quoting[quote]:
                yield _judged(reference, result, is_live=source.is_live)
        links = [reference for reference in references if reference.quote is None]
        for row in await self._check_links(links, source):
            yield row

    def _unread(
        self, reference: Reference, address: str, source: CitewellError | _BeyondLimit | None
    ) -> CheckedReference:
        if not address:
            said = "No address stands near this quote."
            return CheckedReference(reference=reference, verdict="unsourced", explanation=said)
        if isinstance(source, CitewellError):
            said = source.message
            return CheckedReference(reference=reference, verdict="unreachable", explanation=said)
        if isinstance(source, _BeyondLimit):
            said = f"At most {self.max_live_pages} pages are fetched; check this one by itself."
            return _not_checked(reference, said)
        is_supplied = address in self._supplied
        said = f"The library has only text {SUPPLIED}: no evidence of what the page says."
        return CheckedReference(
            reference=reference,
            verdict="not_indexed",
            explanation=said if is_supplied else "The page is not in the library.",
            is_supplied=is_supplied,
        )

    async def _judge_quotes(
        self, quotes: Sequence[str], source: _Source
    ) -> AsyncIterator[tuple[str, Verification]]:
        missing: dict[str, Verification] = {}
        async for quote, result in self._look_for(quotes, source.text):
            if result.verdict in ("changed", "gone"):
                missing[quote] = result
            else:
                yield quote, result
        whole = await self.ingester.read_whole_text(source.whole) if missing else None
        if whole is None:
            for each in missing.items():
                yield each
            return
        async for quote, outside in self._look_for(list(missing), whole):
            yield quote, max(missing[quote], outside, key=lambda result: result.likeness)

    async def _look_for(
        self, quotes: Sequence[str], text: str
    ) -> AsyncIterator[tuple[str, Verification]]:
        """Give what became of each quote; as many at once as there is time for."""
        left = list(quotes)
        while left:
            seconds = anyio.current_effective_deadline() - anyio.current_time()
            found = await look_for_quotes(
                [(quote, None) for quote in left],
                text,
                sandbox=self.ingester.sandbox,
                # Within the limit of the process, and with time to return the results.
                cpu_seconds=min(fitting_cpu_seconds(len(text)) / 2, seconds / 3),
            )
            for each in zip(left, found, strict=False):
                yield each
            left = left[len(found) :]

    async def _check_links(
        self, links: Sequence[Reference], source: _Source
    ) -> list[CheckedReference]:
        """Return whether the page has the anchors and, in order, the words that links name."""
        sandbox = self.ingester.sandbox
        ends = [reference.ends for reference in links if reference.ends is not None]
        are_there = dict(
            zip(ends, await hold_in_order(ends, source.text, sandbox=sandbox), strict=True)
        )
        anchors = {
            unquote((reference.url or "").partition("#")[2])
            for reference in links
            if reference.ends is None
        }
        missing = await self._missing_anchors(anchors - {""}, source)
        rows: list[CheckedReference] = []
        for reference in links:
            anchor = unquote((reference.url or "").partition("#")[2])
            if reference.ends is not None:
                there = "" if are_there[reference.ends] else "not "
                verdict: ReferenceVerdict = "gone" if there else "exact"
                said = f"The words that the link names are {there}on the page."
            elif anchor in missing:
                verdict = "gone"
                said = f"The page is there, but has no anchor #{one_line(anchor)}."
            else:
                verdict, said = "found", "The page is there."
            rows.append(
                CheckedReference(
                    reference=reference, verdict=verdict, explanation=said, is_live=source.is_live
                )
            )
        return rows

    async def _missing_anchors(self, anchors: set[str], source: _Source) -> set[str]:
        """Return the anchors that the page lacks; none where it is not HTML, or not kept."""
        whole = source.whole
        wanted = sorted(filter(is_plain_anchor, anchors))
        if not wanted:
            return set()
        fetched = await self.ingester.open_kept(whole) if isinstance(whole, PageInfo) else whole
        if fetched is None or fetched.kind != "html":
            return set()
        return await look_for_anchors(wanted, fetched.text, sandbox=self.ingester.sandbox)

    async def _source(self, url: str) -> _Source | CitewellError | _BeyondLimit | None:
        if url not in self._sources:
            self._sources[url] = await self._read(url)
            self._drop_oldest()
        return self._sources[url]

    def _drop_oldest(self) -> None:
        """Drop the pages that were read first, while all that are kept are too many."""
        *others, last = self._sources
        pages = {url: page for url in others if isinstance(page := self._sources[url], _Source)}
        newest = self._sources[last]
        total = sum(page.size for page in pages.values())
        total += newest.size if isinstance(newest, _Source) else 0
        for url, page in pages.items():
            if total <= _MOST_KEPT_CHARACTERS:
                return
            total -= page.size
            del self._sources[url]

    async def _read(self, url: str) -> _Source | CitewellError | _BeyondLimit | None:
        try:
            stored = None if self.against == "live" else await self._find(url)
            if stored is not None or self.against == "library" or is_file_url(url):
                return stored
            if self._live_pages == self.max_live_pages:
                return _BeyondLimit()
            self._live_pages += 1
            fetched, extracted = await self.ingester.read_live(url)
        except (FetchError, ExtractionError, NotAUrl) as error:
            return error
        return _Source(text=extracted.text, whole=fetched, is_live=True)

    async def _is_stored(self, url: str) -> bool:
        try:
            return await self._find(url) is not None
        except NotAUrl:
            return False

    async def _find(self, url: str) -> _Source | None:
        info = await find_stored_page(self.store, url, project=self.project)
        if info is None or not self.may_see(info):
            return None
        if info.origin == "supplied":
            # Supplied text is no evidence of what the site says.
            self._supplied.add(url)
            return None
        page = await self.store.get_page(info.source_id)
        return None if page is None else _Source(text=page.text, whole=page.info, is_live=False)


def _not_checked(reference: Reference, said: str) -> CheckedReference:
    return CheckedReference(reference=reference, verdict="not_checked", explanation=said)


def _judged(reference: Reference, result: Verification, *, is_live: bool) -> CheckedReference:
    verdict: ReferenceVerdict = "exact" if result.verdict == "moved" else result.verdict
    explanations = {
        "exact": "The page says so, word for word.",
        "changed": "The page says something else there.",
        "gone": "Nothing like it is on the page.",
    }
    return CheckedReference(
        reference=reference,
        verdict=verdict,
        explanation=explanations[verdict],
        difference=result.difference,
        is_live=is_live,
    )
