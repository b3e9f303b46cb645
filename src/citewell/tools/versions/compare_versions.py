"""`compare_versions`: what two versions say about a symbol, a page or a question."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from citewell.app.citations import CitedQuote
from citewell.core.boundary import NOTE_PLACE, SUPPLIED, enclose
from citewell.core.errors import InvalidArgument
from citewell.core.text import counted
from citewell.core.tokens import count_tokens
from citewell.core.version_ranges import is_version_range
from citewell.research.compare import MOST_PAIRS, Comparer
from citewell.retrieve.pipeline import Models
from citewell.tools.scope import ScopeInput, check_scope, search_filter
from citewell.tools.supplied import Supplied, is_supplied
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.research.paired_quotes import ComparedQuote, Comparison

MAX_RESULT_TOKENS = 8_000

OneVersion = Annotated[str | None, Field(min_length=1, max_length=100)]


class CompareVersionsInput(ToolInput):
    """Arguments of `compare_versions`."""

    subject: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4_096,
            pattern=r"\S",
            description="Symbol, page URL or question.",
        ),
    ]
    old_version: Annotated[OneVersion, Field(description="The newest but one when left out.")] = (
        None
    )
    new_version: OneVersion = None
    product: Annotated[str | None, Field(max_length=200, description="E.g. django.")] = None
    scope: ScopeInput | None = None


class ComparedQuoteShape(ToolOutput):
    """What one version says, word for word."""

    id: OwnText
    version: PageLabel
    title: PageLabel
    url: PageUrl
    section: PageLabel
    start: int
    end: int
    is_cut: bool | None = None
    supplied: Supplied = None
    text: PageText


class QuotePairShape(ToolOutput):
    """What both versions say; one is left out where only the other says anything."""

    old: ComparedQuoteShape | None = None
    new: ComparedQuoteShape | None = None
    difference: PageText
    """Both as one text: `[-removed-]`, `{+added+}`."""


class CompareVersionsOutput(ToolOutput):
    """What differs, as pairs of exact quotes."""

    product: PageLabel
    old_version: PageLabel
    new_version: PageLabel
    pairs: list[QuotePairShape]
    omitted_pairs: int | None = None
    release_notes: list[ComparedQuoteShape]
    notes: list[OwnText] | None = None


async def run(arguments: CompareVersionsInput, call: Call) -> CompareVersionsOutput:
    """Compare two stored versions; nothing is fetched.

    Raises:
        InvalidArgument: a version is none, or several products fit.
        NotFound: the subject, its product or a version is not indexed.
    """
    for version in (arguments.old_version, arguments.new_version):
        if version is not None and not is_version_range(version):
            raise InvalidArgument(
                f"{version[:80]!r} is not a version.", suggestion='Pass a version such as "4.2".'
            )
    parts = call.parts
    comparer = Comparer(
        store=parts.store,
        models=Models(embedder=parts.embedder, reranker=parts.reranker),
        where=await search_filter(check_scope(arguments.scope, call), None, call),
    )
    compared = await comparer.compare(
        arguments.subject,
        product=arguments.product,
        old=arguments.old_version,
        new=arguments.new_version,
    )
    output = _shape(compared)
    shown = replace(compared, pairs=compared.pairs[: len(output.pairs)])
    parts.citations.remember(
        map(_cited_quote, shown.quotes),
        caller=call.caller,
        tool="compare_versions",
        question=arguments.subject,
    )
    return output


def _cited_quote(quote: ComparedQuote) -> CitedQuote:
    return CitedQuote(
        source_id=quote.source_id,
        page_hash=quote.page_hash,
        start=quote.start,
        text=quote.text,
        section=quote.section,
    )


def _shape(compared: Comparison) -> CompareVersionsOutput:
    pairs = [
        QuotePairShape(
            old=None if pair.old is None else _shape_quote(pair.old),
            new=None if pair.new is None else _shape_quote(pair.new),
            difference=pair.difference,
        )
        for pair in compared.pairs
    ]
    shown = _within_budget(pairs)
    return CompareVersionsOutput(
        product=compared.product,
        old_version=compared.old_version,
        new_version=compared.new_version,
        pairs=shown,
        omitted_pairs=(compared.omitted_pairs + len(pairs) - len(shown)) or None,
        release_notes=[_shape_quote(note) for note in compared.release_notes],
        notes=list(compared.notes) or None,
    )


def _within_budget(pairs: Sequence[QuotePairShape]) -> list[QuotePairShape]:
    """Return the first pairs that fit MAX_RESULT_TOKENS together; the first one always."""
    left = MAX_RESULT_TOKENS
    for place, pair in enumerate(pairs):
        left -= count_tokens(pair.model_dump_json(exclude_none=True))
        if left < 0 and place > 0:
            return list(pairs[:place])
    return list(pairs)


def _shape_quote(quote: ComparedQuote) -> ComparedQuoteShape:
    return ComparedQuoteShape(
        id=quote.citation_id,
        version=quote.version,
        title=quote.title,
        url=quote.url,
        section=quote.section,
        start=quote.start,
        end=quote.end,
        is_cut=True if quote.is_cut else None,
        supplied=is_supplied(quote.origin),
        text=quote.text,
    )


def render(output: CompareVersionsOutput, call: Call) -> str:
    """Return each pair as one text with its difference marked, under where both stand."""
    lines = [
        NOTE_PLACE,
        enclose(f"{output.product} {output.old_version} → {output.new_version}".strip()),
        "Only the old version has [-this-], only the new one {+this+}.",
    ]
    for number, pair in enumerate(output.pairs, start=1):
        for name, quote in (("old", pair.old), ("new", pair.new)):
            if quote is not None:
                where = f"§ {quote.section} — {quote.url}"
                said = f", {SUPPLIED}" if quote.supplied else ""
                lines.append(f"[{number}] {name}: {enclose(where)} (id {quote.id}{said})")
        lines.append(pair.difference)
    if output.omitted_pairs:
        lines.append(f"{counted(output.omitted_pairs, 'more difference')} left out.")
    for note in output.release_notes:
        said = f", {SUPPLIED}" if note.supplied else ""
        lines.append(f"Release notes: {note.text} ({note.url}{said})")
    lines += [f"Note: {note}" for note in output.notes or ()]
    return "\n".join(lines)


TOOL = Tool(
    name="compare_versions",
    toolset="versions",
    title="Compare two versions",
    description=f"""
        Show what two indexed versions say, as paired quotes with the difference marked.
        Use when you ask what changed in a symbol, on a page or about a question.
        Do not use when one version is enough: call search with version.
        Returns at most {MOST_PAIRS} pairs, and release notes.
        If you need more, name a symbol or a page.
        Defaults: the two newest versions, or texts of the page. Max: {MOST_PAIRS} pairs.
    """,
    needs=("store", "embedder", "reranker", "citations"),
    run=run,
    render=render,
    example={"subject": "QuerySet.select_related", "old_version": "3.2", "new_version": "4.2"},
    lists_columns=False,
    max_result_tokens=MAX_RESULT_TOKENS + 8_000,
)
