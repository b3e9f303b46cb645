"""`kb.verify_quote`: whether a page still says what was quoted from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from citewell.answer.verify import verify_quote
from citewell.app.stored_pages import find_stored_page
from citewell.core.boundary import SUPPLIED, enclose
from citewell.core.errors import NotFound
from citewell.core.ids import content_hash, parse_citation_id
from citewell.tools.registry import Annotations, Call, Tool, ToolInput, ToolOutput, as_is
from citewell.tools.research.arguments import Url
from citewell.tools.scope import ShortScope, check_scope
from citewell.tools.supplied import FetchedAt, SuppliedAt, shape_moment
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl

if TYPE_CHECKING:
    from typing import Self

    from citewell.core.records import Page

MAX_QUOTE_CHARACTERS = 5_000


class VerifyQuoteInput(ToolInput):
    """Arguments of `kb.verify_quote`."""

    quote: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_QUOTE_CHARACTERS,
            pattern=r"\S",
            description="The quoted text, word for word.",
        ),
    ]
    url: Annotated[Url | None, Field(description="Page the quote is from.")] = None
    source_id: Annotated[int | None, Field(ge=1, description="Or the page's source_id.")] = None
    citation_id: Annotated[
        str | None, Field(max_length=100, description="Or the citation's id.")
    ] = None
    live: Annotated[bool, Field(description="Fetch the page again and compare with that.")] = False
    scope: ShortScope | None = None

    @model_validator(mode="after")
    def _names_a_page(self) -> Self:
        if self.url is None and self.source_id is None and self.citation_id is None:
            raise ValueError("one of url, source_id or citation_id is needed")
        if self.citation_id is not None and parse_citation_id(self.citation_id) is None:
            raise ValueError("citation_id is not one that Citewell gave")
        return self


class VerifyQuoteOutput(ToolOutput):
    """What became of the quote."""

    verdict: Literal["exact", "moved", "changed", "gone"]
    url: PageUrl
    title: PageLabel
    source_id: int
    start: int | None = None
    end: int | None = None
    found: PageText | None = None
    difference: PageText | None = None
    likeness: float
    page_hash: OwnText
    fetched_at: FetchedAt = None
    supplied_at: SuppliedAt = None
    same_version: bool | None = None
    live: bool


async def run(given: VerifyQuoteInput, call: Call) -> VerifyQuoteOutput:
    """Look for the quote in the stored page, or in the page as it is now."""
    cited = parse_citation_id(given.citation_id) if given.citation_id else None
    page = await _find_page(given, call)
    text, page_hash, fetched_at = page.text, page.info.text_hash, page.info.fetched_at
    origin = page.info.origin
    if given.live:
        fetched, extracted = await call.parts.ingester.read_live(page.info.url)
        text, fetched_at, origin = extracted.text, fetched.fetched_at, fetched.origin
        page_hash = content_hash(text)
    result = verify_quote(given.quote, text, start=cited.start if cited else None)
    return VerifyQuoteOutput(
        verdict=result.verdict,
        url=page.info.url,
        title=page.info.title,
        source_id=page.info.source_id,
        start=result.start,
        end=result.end,
        found=result.found if result.verdict == "changed" else None,
        difference=result.difference,
        likeness=result.likeness,
        page_hash=page_hash[:16],
        **shape_moment(fetched_at, origin),
        same_version=page_hash.startswith(cited.page_hash) if cited else None,
        live=given.live,
    )


async def _find_page(given: VerifyQuoteInput, call: Call) -> Page:
    scope = check_scope(given.scope, call)
    source_id = given.source_id
    if source_id is None and given.citation_id is not None:
        cited = parse_citation_id(given.citation_id)
        source_id = cited.source_id if cited else None
    if source_id is None and given.url is not None:
        info = await find_stored_page(call.parts.store, given.url, project=call.caller.project)
        source_id = info.source_id if info is not None else None
    page = await call.parts.store.get_page(source_id) if source_id is not None else None
    if (
        page is None
        or page.info.project != scope.project
        or not scope.holds(page.info.url, page.info.tags)
    ):
        raise NotFound(
            "The page of this quote is not indexed.",
            suggestion="Call ingest with its URL, then verify again.",
        )
    return page


def render(output: VerifyQuoteOutput, call: Call) -> str:
    """Return the verdict in a sentence, with where it stands or what changed."""
    version = "as it is on the web now" if output.live else "as indexed"
    page = enclose(f"{output.title or 'Untitled'} — {output.url}")
    head = f"{output.verdict.upper()}: {page}"
    lines = [head, f"Checked against the page {version}, fetched {output.fetched_at}."]
    if output.supplied_at is not None:
        lines[1] = (
            f"Checked against text {SUPPLIED} ({output.supplied_at}): no evidence of what the page "
            "says. Call ingest with the URL, or verify with live, to check the page itself."
        )
    if output.verdict in ("exact", "moved"):
        lines.append(f"The quote stands at characters {output.start} to {output.end}.")
    elif output.verdict == "changed":
        lines.append(f"Nearest text (likeness {output.likeness:.2f}), edits marked:")
        lines.append(output.difference or "")
    else:
        lines.append("Nothing like it is on the page; do not cite it.")
    if output.same_version is False:
        lines.append("The page has changed since the citation was made.")
    return "\n".join(lines)


TOOL = Tool(
    name="kb.verify_quote",
    toolset="kb",
    title="Check a quote",
    description=(
        "Check whether a page still holds a quote: exact, moved, changed (and how) or gone.\n"
        "Use when you are about to cite, or to check an older citation.\n"
        "Do not use when you look for new evidence: call search.\n"
        "Returns at most one verdict with its offsets.\n"
        "If you need more, call answer with the page's URL.\n"
        f"Defaults: live false (the indexed copy). Max: {MAX_QUOTE_CHARACTERS} characters."
    ),
    input_model=VerifyQuoteInput,
    output_model=VerifyQuoteOutput,
    annotations=Annotations(read_only=True, open_world=True),
    needs=("store", "scratch", "ingester"),
    run=run,
    shape=as_is,
    render=render,
    example={"quote": "A task wraps a coroutine.", "url": "https://example.org/tasks.html"},
)
