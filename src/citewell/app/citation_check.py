"""Check every quote and link of a document against the library or the web."""

from __future__ import annotations

import math
import re
from dataclasses import KW_ONLY, dataclass
from html import unescape
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote

import anyio

from citewell.app.quote_search import holds_in_order, look_for_quote
from citewell.app.stored_pages import find_stored_page
from citewell.core.boundary import SUPPLIED
from citewell.core.cited_document import parse_references
from citewell.core.errors import CitewellError, FetchError
from citewell.core.frozen import frozen
from citewell.core.records import PageInfo
from citewell.core.text import one_line
from citewell.web.urls import is_file_url

if TYPE_CHECKING:
    from collections.abc import Callable

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

_NAME = re.compile(
    r"""\s(?:id|name)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""", re.IGNORECASE
)
# Fragments that are no anchors: the top of the page, text, line numbers, routes of scripts.
_SCRIPTED_ANCHOR = re.compile(r"top\Z|:~:|[!/?]|L\d+", re.IGNORECASE)


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
        references = [
            reference
            for reference in parse_references(document)
            if reference.quote or not await self._is_example(reference.url or "")
        ][:MAX_REFERENCES]
        checked: list[CheckedReference] = []
        with anyio.move_on_after(self.seconds):
            for reference in references:
                checked += [await self._check(reference)]
        left = references[len(checked) :]
        return [*checked, *(_without_time(reference) for reference in left)]

    async def _is_example(self, url: str) -> bool:
        return (
            _EXAMPLE_HOST.match(url) is not None and await self._find(url.partition("#")[0]) is None
        )

    async def _check(self, reference: Reference) -> CheckedReference:
        if reference.url is None:
            said = "No address stands near this quote."
            return CheckedReference(reference=reference, verdict="unsourced", explanation=said)
        address = reference.url.partition("#")[0]
        source = await self._source(address)
        if isinstance(source, CitewellError):
            return CheckedReference(
                reference=reference, verdict="unreachable", explanation=source.message
            )
        if isinstance(source, _BeyondLimit):
            said = f"At most {self.max_live_pages} pages are fetched; check this one by itself."
            return CheckedReference(reference=reference, verdict="not_checked", explanation=said)
        if source is None:
            return _not_indexed(reference, is_supplied=address in self._supplied)
        if reference.quote is not None:
            return await self._check_quote(reference, reference.quote, source)
        if reference.ends is not None:
            return await self._check_ends(reference, reference.ends, source)
        anchor = unquote(reference.url.partition("#")[2])
        lacks = bool(anchor) and await self._lacks_anchor(anchor, source)
        missing = f"The page is there, but has no anchor #{one_line(anchor)}."
        return CheckedReference(
            reference=reference,
            verdict="gone" if lacks else "found",
            explanation=missing if lacks else "The page is there.",
            is_live=source.is_live,
        )

    async def _lacks_anchor(self, anchor: str, source: _Source) -> bool:
        """Return whether the page is HTML that names no such anchor; False if that is not known."""
        whole = source.whole
        fetched = await self.ingester.open_kept(whole) if isinstance(whole, PageInfo) else whole
        if fetched is None or fetched.kind != "html" or not is_plain_anchor(anchor):
            return False
        return html_anchors(fetched.text).isdisjoint((anchor, f"user-content-{anchor}"))

    async def _check_quote(
        self, reference: Reference, quote: str, source: _Source
    ) -> CheckedReference:
        sandbox = self.ingester.sandbox
        result = await look_for_quote(quote, source.text, sandbox=sandbox)
        if result.verdict in ("changed", "gone"):
            whole = await self.ingester.read_whole_text(source.whole)
            if whole is not None:
                outside = await look_for_quote(quote, whole, sandbox=sandbox)
                result = max(result, outside, key=lambda each: each.likeness)
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
            is_live=source.is_live,
        )

    async def _check_ends(
        self, reference: Reference, ends: tuple[str, str], source: _Source
    ) -> CheckedReference:
        """Return whether the words that a text fragment names are still on the page, in order."""
        is_there = await holds_in_order(ends, source.text, sandbox=self.ingester.sandbox)
        said = "The words that the link names are on the page."
        return CheckedReference(
            reference=reference,
            verdict="exact" if is_there else "gone",
            explanation=said if is_there else "The words that the link names are not on the page.",
            is_live=source.is_live,
        )

    async def _source(self, url: str) -> _Source | CitewellError | _BeyondLimit | None:
        if url not in self._sources:
            self._sources[url] = await self._read(url)
        return self._sources[url]

    async def _read(self, url: str) -> _Source | CitewellError | _BeyondLimit | None:
        try:
            stored = None if self.against == "live" else await self._find(url)
            if stored is not None or self.against == "library" or is_file_url(url):
                return stored
            if self._live_pages == self.max_live_pages:
                return _BeyondLimit()
            self._live_pages += 1
            fetched, extracted = await self.ingester.read_live(url)
        except FetchError as error:
            return error
        return _Source(text=extracted.text, whole=fetched, is_live=True)

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


def is_plain_anchor(anchor: str) -> bool:
    """Return whether an element of its page has to be called so for the anchor to work."""
    return _SCRIPTED_ANCHOR.match(anchor) is None


def html_anchors(html: str) -> set[str]:
    """Return the names and ids of the elements of HTML."""
    return {unescape(found[1] or found[2] or found[3] or "") for found in _NAME.finditer(html)}


def _without_time(reference: Reference) -> CheckedReference:
    return CheckedReference(
        reference=reference,
        verdict="not_checked",
        explanation="There was no time left for it; check it with fewer quotes of long pages.",
    )


def _not_indexed(reference: Reference, *, is_supplied: bool) -> CheckedReference:
    said = f"The library has only text {SUPPLIED}: no evidence of what the page says."
    return CheckedReference(
        reference=reference,
        verdict="not_indexed",
        explanation=said if is_supplied else "The page is not in the library.",
        is_supplied=is_supplied,
    )
