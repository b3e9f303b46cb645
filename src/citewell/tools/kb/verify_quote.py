"""`kb.verify_quote`: whether a page still says what was quoted from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, WithJsonSchema, model_validator
from pydantic.json_schema import SkipJsonSchema

from citewell.app.quote_search import are_quotes_shown, look_for_quotes
from citewell.app.stored_pages import find_stored_page
from citewell.core.boundary import enclose
from citewell.core.citations import Verdict
from citewell.core.errors import InvalidArgument, NotFound
from citewell.core.frozen import frozen
from citewell.core.ids import content_hash, parse_citation_id
from citewell.tools.kb.passages import find_place
from citewell.tools.research.arguments import Url
from citewell.tools.schemas import ROWS
from citewell.tools.scope import ScopeInput, check_scope
from citewell.tools.supplied import (
    FetchedAt,
    SuppliedAt,
    SuppliedBy,
    render_supplied,
    shape_moment,
)
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from citewell.answer.verify import Verification
    from citewell.core.records import FetchedPage, Page, PageInfo
    from citewell.web.sandbox import Sandbox

MAX_QUOTE_CHARACTERS = 5_000
MAX_QUOTES = 20
# Of the time of a call, for each text that is searched; what is found by then is returned.
_SHARE_OF_TIME = 0.25

QuoteState = Verdict | Literal["not_checked"]
_FROM_BEST_TO_WORST: tuple[QuoteState, ...] = ("exact", "moved", "not_checked", "changed", "gone")

_AS_TEXT = WithJsonSchema({"type": "string"})

QuoteText = Annotated[str, Field(min_length=1, max_length=MAX_QUOTE_CHARACTERS, pattern=r"\S")]


class VerifyQuoteInput(ToolInput):
    """Arguments of `kb.verify_quote`."""

    quote: Annotated[
        QuoteText | Annotated[list[QuoteText], Field(min_length=1, max_length=MAX_QUOTES)],
        Field(description="Or several, of one page."),
    ]
    url: Url | None = None
    source_id: Annotated[int | None, Field(ge=1)] = None
    citation_id: Annotated[str | None, Field(max_length=200, description="Or a passage_id.")] = None
    live: Annotated[bool, Field(description="Fetch the page again.")] = False
    scope: ScopeInput | None = None

    @model_validator(mode="after")
    def _names_a_page(self) -> Self:
        if self.url is None and self.source_id is None and self.citation_id is None:
            raise ValueError("one of url, source_id or citation_id is needed")
        return self


class QuoteVerdict(ToolOutput):
    """The verdict on one quote."""

    verdict: Annotated[QuoteState, _AS_TEXT]
    start: int | None = None
    end: int | None = None
    found: PageText | None = None
    difference: PageText | None = None
    likeness: float
    checked: Annotated[OwnText | None, SkipJsonSchema()] = None
    """For a quote outside the main text: "whole page" if the rest of the page was searched.

    Menus and footers have no offsets. The rest of a page comes from its stored response.
    """


class VerifyQuoteOutput(QuoteVerdict):
    """The verdict on the quote; of several, the worst one."""

    url: PageUrl
    title: PageLabel
    source_id: int | None = None
    page_hash: OwnText
    fetched_at: FetchedAt = None
    supplied_at: SuppliedAt = None
    supplied_by: SuppliedBy = None
    same_version: bool | None = None
    live: bool
    results: Annotated[list[QuoteVerdict] | None, ROWS] = None
    """Of several quotes, in their order."""


async def run(arguments: VerifyQuoteInput, call: Call) -> VerifyQuoteOutput:
    """Search the quotes in the stored page, or in the page as it is now."""
    cited = parse_citation_id(arguments.citation_id) if arguments.citation_id else None
    page = await _open_version(arguments, call)
    quotes = [arguments.quote] if isinstance(arguments.quote, str) else arguments.quote
    start = cited.start if cited and isinstance(arguments.quote, str) else None
    sandbox = call.parts.ingester.sandbox
    cpu_seconds = _SHARE_OF_TIME * call.settings.mcp_tool_timeout
    verdicts = await _judge(
        [(quote, start) for quote in quotes], page, sandbox, cpu_seconds=cpu_seconds
    )
    if any(map(_is_missing, verdicts)):
        whole_text = await call.parts.ingester.read_whole_text(page.info)
        verdicts = await _look_outside(
            quotes,
            whole_text,
            verdicts,
            is_cited=start is not None,
            sandbox=sandbox,
            cpu_seconds=cpu_seconds,
        )
    worst = max(verdicts, key=lambda verdict: _FROM_BEST_TO_WORST.index(verdict.verdict))
    about: dict[str, Any] = worst.model_dump()
    about |= shape_moment(page.info.fetched_at, page.info.origin)
    page_hash = content_hash(page.text)
    return VerifyQuoteOutput(
        **about,
        url=page.url,
        title=page.title,
        source_id=page.source_id,
        supplied_by=page.supplied_by,
        page_hash=page_hash[:16],
        same_version=page_hash.startswith(cited.page_hash) if cited else None,
        live=arguments.live,
        results=None if isinstance(arguments.quote, str) else verdicts,
    )


@frozen
class _Version:
    """The version of a page that is checked: stored, or as it is now."""

    url: str
    title: str
    text: str
    screen: bytes
    info: PageInfo | FetchedPage
    source_id: int | None
    """None for a page that is not indexed."""
    supplied_by: str | None = None


async def _open_version(arguments: VerifyQuoteInput, call: Call) -> _Version:
    """Return the version to check.

    Raises:
        NotFound: it is not indexed, and no URL was given to fetch.
    """
    page = await _find_page(arguments, call)
    url = arguments.url if page is None else page.info.url
    if url is None or (page is None and not arguments.live):
        raise NotFound(
            "The page of this quote is not indexed.",
            suggestion="Verify again with its url and live true, which fetches it.",
        )
    if page is not None and not arguments.live:
        supplied_by = page.info.supplied_by if page.info.origin == "supplied" else ""
        return _Version(
            url=url,
            title=page.info.title,
            text=page.text,
            screen=page.screen,
            info=page.info,
            source_id=page.info.source_id,
            supplied_by=supplied_by or None,
        )
    fetched, extracted = await call.parts.ingester.read_live(url)
    return _Version(
        url=url,
        title=extracted.title if page is None else page.info.title,
        text=extracted.text,
        screen=extracted.screen,
        info=fetched,
        source_id=None if page is None else page.info.source_id,
    )


async def _judge(
    quotes: Sequence[tuple[str, int | None]],
    page: _Version,
    sandbox: Sandbox,
    *,
    cpu_seconds: float,
) -> list[QuoteVerdict]:
    results = await look_for_quotes(quotes, page.text, sandbox=sandbox, cpu_seconds=cpu_seconds)
    missing = [i for i, result in enumerate(results) if _is_missing(result)]
    shown = await are_quotes_shown(
        [quotes[i][0] for i in missing], page.screen, page.text, sandbox=sandbox
    )
    on_screen = {i for i, is_shown in zip(missing, shown, strict=True) if is_shown}
    verdicts = [
        _shape_shown(result, is_cited=quotes[i][1] is not None)
        if i in on_screen
        else _shape(result)
        for i, result in enumerate(results)
    ]
    left = len(quotes) - len(results)
    return [*verdicts, *(QuoteVerdict(verdict="not_checked", likeness=0.0) for _ in range(left))]


def _is_missing(result: Verification | QuoteVerdict) -> bool:
    return result.verdict in ("changed", "gone")


async def _look_outside(
    quotes: Sequence[str],
    whole_text: str | None,
    inside: Sequence[QuoteVerdict],
    *,
    is_cited: bool,
    sandbox: Sandbox,
    cpu_seconds: float,
) -> list[QuoteVerdict]:
    """Return the verdicts, those on the whole text where they are better than `inside`."""
    missing = [i for i, verdict in enumerate(inside) if _is_missing(verdict)]
    verdicts = list(inside)
    if whole_text is None:
        for i in missing:
            verdicts[i] = inside[i].model_copy(update={"checked": "main text"})
        return verdicts
    found = await look_for_quotes(
        [(quotes[i], None) for i in missing], whole_text, sandbox=sandbox, cpu_seconds=cpu_seconds
    )
    for i, outside in zip(missing, found, strict=False):
        verdicts[i] = _better(inside[i], outside, is_cited=is_cited)
    for i in missing[len(found) :]:
        verdicts[i] = QuoteVerdict(verdict="not_checked", likeness=inside[i].likeness)
    return verdicts


def _better(inside: QuoteVerdict, outside: Verification, *, is_cited: bool) -> QuoteVerdict:
    order = _FROM_BEST_TO_WORST.index
    if order(outside.verdict) >= order(inside.verdict):
        return inside.model_copy(update={"checked": "whole page"})
    moved = outside.verdict == "exact" and is_cited
    return _shape(outside).model_copy(
        update={
            "verdict": "moved" if moved else outside.verdict,
            "start": None,
            "end": None,
            "checked": "whole page",
        }
    )


def _shape(result: Verification) -> QuoteVerdict:
    return QuoteVerdict(
        verdict=result.verdict,
        start=result.start,
        end=result.end,
        found=result.found if result.verdict == "changed" else None,
        difference=result.difference,
        likeness=result.likeness,
    )


def _shape_shown(result: Verification, *, is_cited: bool) -> QuoteVerdict:
    """Return the verdict on a quote that the page shows, though its canonical text differs."""
    return QuoteVerdict(
        verdict="moved" if is_cited else "exact", likeness=result.likeness, checked="whole page"
    )


async def _find_page(arguments: VerifyQuoteInput, call: Call) -> Page | None:
    scope = check_scope(arguments.scope, call)
    source_id = arguments.source_id
    if source_id is None and arguments.citation_id is not None:
        cited = parse_citation_id(arguments.citation_id)
        source_id = (
            cited.source_id if cited else await _page_of_passage(arguments.citation_id, call)
        )
    if source_id is None and arguments.url is not None:
        info = await find_stored_page(call.parts.store, arguments.url, project=call.caller.project)
        source_id = info.source_id if info is not None else None
    page = await call.parts.store.get_page(source_id) if source_id is not None else None
    return page if page is not None and scope.holds_page(page.info) else None


async def _page_of_passage(passage_id: str, call: Call) -> int:
    place = await find_place(passage_id, call)
    if place is None:
        raise InvalidArgument(
            f"citation_id {passage_id[:80]!r} is not one that Citewell gave.",
            suggestion="Pass the id of a quote, a passage_id, or the page's url.",
        )
    return place.source_id


def render(output: VerifyQuoteOutput, call: Call) -> str:
    """Return a sentence for each verdict, with the place of the quote or what changed."""
    version = "as it is on the web now" if output.live else "as indexed"
    page = enclose(f"{output.title or 'Untitled'} — {output.url}")
    checked = f"Checked against the page {version}, fetched {output.fetched_at}."
    if output.supplied_at is not None:
        checked = (
            f"Checked against text {render_supplied(output.supplied_by)} ({output.supplied_at}): "
            "no evidence of what the page says. Call ingest with the URL, or verify with live, to "
            "check the page itself."
        )
    if output.results is None:
        lines = [f"{output.verdict.upper()}: {page}", checked, *_explain(output)]
    else:
        lines = [page, checked]
        for number, verdict in enumerate(output.results, 1):
            lines += [f"{number}. {verdict.verdict.upper()}", *_explain(verdict)]
    if output.same_version is False:
        lines.append("The page has changed since the citation was made.")
    return "\n".join(lines)


def _explain(verdict: QuoteVerdict) -> list[str]:
    is_outside = verdict.checked == "whole page" and verdict.start is None
    where = "outside the main text of the page" if is_outside else "on the page"
    if verdict.verdict == "changed":
        return [
            f"Nearest text {where} (likeness {verdict.likeness:.2f}), edits marked:",
            verdict.difference or "",
        ]
    if verdict.verdict == "gone" and verdict.checked == "main text":
        return [
            "Nothing like it is in the main text of the page; the rest of it is not kept. "
            "Check again with live true before you drop the citation."
        ]
    if verdict.verdict == "not_checked":
        return ["The page is long, and the time was over before. Check this quote by itself."]
    if verdict.verdict == "gone":
        return ["Nothing like it is on the page; do not cite it."]
    if is_outside:
        return [f"The quote stands {where}, as in a menu or a footer."]
    return [f"The quote stands at characters {verdict.start} to {verdict.end}."]


TOOL = Tool(
    name="kb.verify_quote",
    toolset="kb",
    title="Check a quote",
    description=f"""
        Check whether a page still holds a quote: exact, moved, changed (and how) or gone.
        Use when you are about to cite, or doubt a citation; live for a page not indexed.
        Do not use when you look for new evidence: call search.
        Returns at most one verdict for each quote.
        If you need more, call answer with the page's URL.
        Defaults: live false.
            Max: {MAX_QUOTES} quotes of {MAX_QUOTE_CHARACTERS} characters.
    """,
    annotations=Annotations(read_only=True, open_world=True),
    needs=("store", "scratch", "ingester"),
    run=run,
    render=render,
    in_default=True,
    example={"quote": "A task wraps a coroutine.", "url": "https://example.org/tasks.html"},
)
