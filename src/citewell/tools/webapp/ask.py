"""A question of a person: `answer` or `search` through the gate of all tools, shaped for a page."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from citewell.core.boundary import path_label, unbracketed
from citewell.core.certainty import DOUBTFUL, EVEN, Certainty, certainty_of
from citewell.core.frozen import frozen
from citewell.core.text import one_line
from citewell.core.words import content_words
from citewell.docsite.site.stored_text import render_stored_texts
from citewell.tools.limits import limited_registry
from citewell.tools.research import answer, search, status
from citewell.tools.research.arguments import MAX_QUERY_CHARACTERS as MAX_QUERY_CHARACTERS
from citewell.tools.webapp.citations import as_bibtex, as_csl, as_markdown, quote_url
from citewell.tools.webapp.plain_lines import plain_lines
from citewell.tools.webapp.quote_context import excerpt_of
from citewell.tools.webapp.reader import visible_pages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citewell.app.parts import OpensParts, PartName
    from citewell.core.progress import OnProgress, Progress
    from citewell.core.records import Quote
    from citewell.core.results import ExpansionStep, FailedUrl, OrchestrationResult
    from citewell.core.storage import CorpusStats
    from citewell.tools.tool import Call, Tool, ToolOutput

# The prefix and the separator of messages about what was found so far.
EVIDENCE_SO_FAR = "Evidence so far — "
_NEXT_EVIDENCE = " | "
# A quote of which fewer than one in seven answer.
_UNLIKELY = 0.15
_RECENT = 5
_RECENT_CITATIONS = 60
ASK_NEEDS: tuple[PartName, ...] = ("store", "fetcher", "access", "citations")


@frozen
class Asked:
    """A question and the pages to ask; without pages, what is indexed of `site` is searched."""

    question: str
    urls: tuple[str, ...] = ()
    site: str = ""
    """A site or a shelf of the library; all of it where empty, or where pages are named."""

    @property
    def address(self) -> list[tuple[str, str]]:
        """The fields of the address that asks it again."""
        site = [("site", self.site)] if self.site and not self.urls else []
        return [("q", self.question), *site, *(("url", url) for url in self.urls)]

    @property
    def limits(self) -> dict[str, object]:
        """The arguments that limit a search to the pages that are asked."""
        named = self.urls or ((self.site,) if self.site else ())
        return {"source_urls": list(named)} if named else {}


@frozen
class QuoteCard:
    """A quote in its context."""

    id: str
    source_id: int
    title: str
    url: str
    """Of the original, at the quote."""
    section: str
    html: str
    confidence: float | None
    quote: Quote

    @property
    def certainty(self) -> Certainty:
        """How sure it is that this quote answers."""
        return certainty_of([self.confidence])


@frozen
class FollowedPage:
    """A page that was read for the answer, and those that were reached from it."""

    url: str
    failure: str | None
    pages: tuple[FollowedPage, ...]


@frozen
class AskView:
    """What was found, ready to be shown."""

    asked: Asked
    result: OrchestrationResult
    cards: Sequence[QuoteCard]
    followed: Sequence[FollowedPage]
    copies: Mapping[str, str]
    """Texts to copy, by their form."""
    stored: Mapping[str, int]
    """The ids of the pages that were checked, by URL."""

    @property
    def likely(self) -> Sequence[QuoteCard]:
        """The best quote, and all that have a fair chance to answer."""
        return [card for at, card in enumerate(self.cards) if at == 0 or not _is_unlikely(card)]

    @property
    def unlikely(self) -> Sequence[QuoteCard]:
        """The other quotes."""
        return [card for card in self.cards[1:] if _is_unlikely(card)]

    @property
    def pages_read(self) -> int:
        """How many of the pages that were followed could be read."""

        def read_in(pages: Sequence[FollowedPage]) -> int:
            return sum((page.failure is None) + read_in(page.pages) for page in pages)

        return read_in(self.followed)

    @property
    def certainty(self) -> Certainty:
        """How sure the first quote is."""
        return certainty_of(card.confidence for card in self.cards)

    @property
    def cautions(self) -> list[str]:
        """What to be careful about, but for the doubt that the heading states."""
        return [caution for caution in self.result.cautions if caution != DOUBTFUL]

    @property
    def failures(self) -> Sequence[FailedUrl]:
        """The given pages that could not be read."""
        return self.result.failures


async def ask(asked: Asked, call: Call, app: OpensParts) -> AskView:
    """Answer from the given pages, which are fetched, or search what is indexed.

    Raises:
        CitewellError: the call was refused or failed, as it does for a tool.
    """
    if asked.urls:
        arguments = {"url": list(asked.urls), "query": asked.question}
        return await _run(answer.TOOL, arguments, asked, call, app)
    return await _run(search.TOOL, {"query": asked.question, **asked.limits}, asked, call, app)


async def show_again(asked: Asked, call: Call, app: OpensParts) -> AskView:
    """Search what is indexed, of the given pages only where there are any; nothing is fetched.

    For the address of an answer, which is reloaded: what was cited before is not counted again.

    Raises:
        CitewellError: as `ask`.
    """
    tool = replace(search.TOOL, run=search.run_again)
    return await _run(tool, {"query": asked.question, **asked.limits}, asked, call, app)


async def _run(
    tool: Tool[Any, Any],
    arguments: Mapping[str, object],
    asked: Asked,
    call: Call,
    app: OpensParts,
) -> AskView:
    results: list[OrchestrationResult] = []

    def keep_result(result: OrchestrationResult, call: Call) -> ToolOutput:
        results.append(result)
        return tool.structure(result, call)

    registry = limited_registry([replace(tool, shape=keep_result)], call.settings)
    returned = await registry.call(
        tool.name,
        arguments,
        app=app,
        caller=call.caller,
        on_progress=_for_people(call.on_progress),
        meter=call.parts.access.meter,
    )
    if returned.error is not None:
        raise returned.error
    return await _view(asked, results[0], call, brief=returned.text)


def _for_people(on_progress: OnProgress) -> OnProgress:
    async def report(progress: Progress) -> None:
        message = unbracketed(progress.message)
        if message.startswith(EVIDENCE_SO_FAR):
            quotes = message.removeprefix(EVIDENCE_SO_FAR).split(_NEXT_EVIDENCE)
            message = EVIDENCE_SO_FAR + _NEXT_EVIDENCE.join(map(_as_read, quotes))
        await on_progress(replace(progress, message=message))

    return report


def _as_read(evidence: str) -> str:
    """Return a piece of evidence, `TITLE, URL (0.94): TEXT`, without its score and Markdown."""
    source, separator, text = evidence.partition("): ")
    if not separator:
        return evidence
    return f"{source.rpartition(', ')[0]}: {plain_lines(text)}"


async def _view(asked: Asked, result: OrchestrationResult, call: Call, *, brief: str) -> AskView:
    quotes = result.quotes
    pages = await call.parts.store.page_texts([quote.source_id for quote in quotes])
    excerpts = [
        excerpt_of(
            pages[quote.source_id].text,
            quote.start,
            quote.end,
            quote_id=f"card-{quote.citation_id}",
            key=_marked_key(quote),
            # Of the part of the question that it is for.
            question_words=frozenset(content_words(quote.sub_query or asked.question)),
            escapes=pages[quote.source_id].info.kind == "markdown",
        )
        for quote in quotes
        if quote.source_id in pages
    ]
    shown = [quote for quote in quotes if quote.source_id in pages]
    html = await call.parts.fetcher.sandbox.run(render_stored_texts, excerpts) if excerpts else []
    return AskView(
        asked=asked,
        result=result,
        cards=[_card(quote, rendered) for quote, rendered in zip(shown, html, strict=True)],
        followed=_tree(result),
        stored=await _stored_pages([page.url for page in result.checked], call),
        copies={
            "brief": brief,
            "markdown": as_markdown(shown),
            "bibtex": as_bibtex(shown),
            "csl": as_csl(shown),
        }
        if shown
        else {},
    )


async def _stored_pages(urls: Sequence[str], call: Call) -> dict[str, int]:
    store, project = call.parts.store, call.caller.project
    pages = [await store.find_page(url, project=project) for url in urls]
    return {url: page.source_id for url, page in zip(urls, pages, strict=True) if page is not None}


def _marked_key(quote: Quote) -> tuple[int, int] | None:
    """Return the sentence to mark as the answer: none that more probably is not."""
    return quote.key if quote.key_confidence >= EVEN else None


def _card(quote: Quote, html: str) -> QuoteCard:
    path = quote.heading_path
    below_title = path[path.index(quote.title) + 1 :] if quote.title in path else path
    return QuoteCard(
        id=quote.citation_id,
        source_id=quote.source_id,
        title=one_line(quote.title) or quote.url,
        url=quote_url(quote) if quote.url.startswith(("http://", "https://")) else "",
        section=path_label(_shortest(below_title)),
        html=html,
        confidence=quote.confidence,
        quote=quote,
    )


def _is_unlikely(card: QuoteCard) -> bool:
    return card.confidence is not None and card.confidence < _UNLIKELY


def _shortest(path: Sequence[str]) -> Sequence[str]:
    """Return a path without the headings that the next one repeats: `Queue › Queue.put`."""
    return [
        heading
        for heading, following in zip_longest(path, path[1:], fillvalue="")
        if not following.startswith(f"{heading}.")
    ]


def _tree(result: OrchestrationResult) -> list[FollowedPage]:
    """Return the given pages and, below each, those that were followed from it."""
    children: dict[str, list[ExpansionStep]] = {}
    for step in result.steps:
        children.setdefault(step.parent_url, []).append(step)
    seen: set[str] = set()

    def grow(url: str, failure: str | None) -> FollowedPage:
        seen.add(url)
        steps = [step for step in children.get(url, ()) if step.url not in seen]
        return FollowedPage(
            url=url, failure=failure, pages=tuple(grow(step.url, step.failure) for step in steps)
        )

    return [grow(url, None) for url in result.seeds]


async def recent_questions(call: Call) -> list[str]:
    """Return what the caller has asked last and got quotes for, newest first."""
    status.TOOL.refuse_others(call.caller)
    await call.parts.citations.write_out()
    cited = await call.parts.store.citations.list_citations(
        call.caller.owner, project=call.caller.project, limit=_RECENT_CITATIONS
    )
    questions = dict.fromkeys(citation.question for citation in cited if citation.question)
    return list(questions)[:_RECENT]


async def count_corpus(call: Call) -> CorpusStats:
    """Return how much the caller's project holds."""
    status.TOOL.refuse_others(call.caller)
    return await call.parts.store.corpus_stats(visible_pages(call))
