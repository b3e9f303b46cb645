"""`check_citations`: whether a text quotes and links what is there."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from citewell.answer.quote import clip
from citewell.app.citation_check import CheckedAgainst, CitationChecker
from citewell.core.boundary import SUPPLIED, enclose
from citewell.core.text import counted
from citewell.tools.scope import check_scope
from citewell.tools.supplied import Supplied
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageText, PageUrl

if TYPE_CHECKING:
    from citewell.app.citation_check import CheckedReference

MAX_TEXT_CHARACTERS = 100_000
MAX_ROWS = 60
MAX_LIVE_PAGES = 30
# Of the time of a call; the verdicts until then are returned.
_SHARE_OF_TIME = 0.75
_MAX_SHOWN_CHARACTERS = 200
_MAX_DIFFERENCE_CHARACTERS = 400


class CheckCitationsInput(ToolInput):
    """Arguments of `check_citations`."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARACTERS, pattern=r"\S")]
    against: Annotated[
        CheckedAgainst, Field(description="auto: the web for pages that are not indexed.")
    ] = "auto"


class ReferenceShape(ToolOutput):
    """What became of a quote or a link."""

    line: int
    verdict: OwnText
    explanation: PageText
    """Why a page cannot be read, which may quote its site."""
    url: PageUrl | None = None
    quote: PageText | None = None
    difference: PageText | None = None
    live: bool
    supplied: Supplied = None


class CheckCitationsOutput(ToolOutput):
    """Every quote and link of the text, in its order."""

    counts: dict[OwnText, int]
    references: list[ReferenceShape]
    omitted: int = 0


async def run(arguments: CheckCitationsInput, call: Call) -> CheckCitationsOutput:
    """Check the text as `citewell check` does a file."""
    scope = check_scope(None, call)
    checker = CitationChecker(
        call.parts.store,
        call.parts.ingester,
        project=scope.project,
        against=arguments.against,
        may_see=scope.holds_page,
        max_live_pages=MAX_LIVE_PAGES,
        seconds=_SHARE_OF_TIME * call.settings.mcp_tool_timeout,
    )
    checked = await checker.check(arguments.text)
    return CheckCitationsOutput(
        counts=dict(Counter(row.verdict for row in checked)),
        references=[_shape(row) for row in checked[:MAX_ROWS]],
        omitted=max(0, len(checked) - MAX_ROWS),
    )


def _shape(checked: CheckedReference) -> ReferenceShape:
    reference = checked.reference
    return ReferenceShape(
        line=reference.line,
        verdict=checked.verdict,
        explanation=clip(checked.explanation, _MAX_SHOWN_CHARACTERS),
        url=None if reference.url is None else clip(reference.url, _MAX_SHOWN_CHARACTERS),
        quote=None if reference.quote is None else clip(reference.quote, _MAX_SHOWN_CHARACTERS),
        difference=None
        if checked.difference is None
        else clip(checked.difference, _MAX_DIFFERENCE_CHARACTERS),
        live=checked.is_live,
        supplied=checked.is_supplied or None,
    )


def render(output: CheckCitationsOutput, call: Call) -> str:
    """Return a line for each reference, and what the page says where it differs."""
    if not output.references:
        return "The text has no quote and no link."
    total = sum(output.counts.values())
    listed = ", ".join(f"{count} {verdict}" for verdict, count in output.counts.items())
    lines = [f"{counted(total, 'quote or link', 'quotes and links')}: {listed}."]
    for row in output.references:
        parts = [f"“{row.quote}”" if row.quote else "", row.url or ""]
        what = enclose(" — ".join(part for part in parts if part))
        basis = f", {SUPPLIED}" if row.supplied else ""
        lines.append(f"line {row.line}: {row.verdict}{basis}: {what}")
        if row.difference or row.verdict not in ("exact", "found"):
            lines.append(f"    {row.difference or row.explanation}")
    if output.omitted:
        lines.append(f"({output.omitted} more are counted but not listed)")
    return "\n".join(lines)


TOOL = Tool(
    name="check_citations",
    toolset="evidence",
    title="Check a text's citations",
    description=f"""
        Check every quote and link of a text: exact, changed (and how), gone, unreachable.
        Use when you have written or received a text with quotes and their addresses.
        Do not use when you check one quote of a known page: call kb_verify_quote.
        Returns at most {MAX_ROWS} rows.
        If you need more, send the text in parts.
        Defaults: against auto. Max: {MAX_TEXT_CHARACTERS:,} characters, {MAX_LIVE_PAGES} pages
            fetched.
    """,
    annotations=Annotations(read_only=True, open_world=True),
    needs=("store", "ingester"),
    run=run,
    render=render,
    example={"text": "“A task wraps a coroutine.” (https://example.org/tasks.html)"},
)
