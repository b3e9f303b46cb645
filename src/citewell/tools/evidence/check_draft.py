"""`check_draft`: what the library says of each sentence of a text."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from citewell.answer.quote import clip
from citewell.app.draft_check import check_draft, remember_quotes
from citewell.core.boundary import SUPPLIED, Boundary
from citewell.core.text import counted
from citewell.retrieve.pipeline import Models
from citewell.tools.scope import check_scope, search_filter
from citewell.tools.supplied import Supplied, is_supplied
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.app.draft_check import CheckedClaim, CitedPlace

MAX_DRAFT_CHARACTERS = 60_000
MAX_SENTENCES = 40
_METHOD = (
    "Verdicts compare words, names, numbers, versions and negations with the nearest sentence of "
    "the library; "
)
_NO_MODEL = "no model was asked."
_WITH_MODEL = "what the client's own model said of the quotes is beside them."
_MODEL_UNREAD = "the client's own model was asked, too, and gave no verdict that can be read."
_MAX_SHOWN_CHARACTERS = 300
_MODEL_VERDICT = re.compile(
    r"^[^\w\n]{0,8}(?:sentence )?(\d{1,3})[^\w\n]{1,8}"
    r"(supported|partly|unsupported|contradicted)\b",
    re.MULTILINE | re.IGNORECASE,
)
_MAX_MODEL_TOKENS = 600


class CheckDraftInput(ToolInput):
    """Arguments of `check_draft`."""

    draft: Annotated[str, Field(min_length=1, max_length=MAX_DRAFT_CHARACTERS, pattern=r"\S")]


class ClaimQuoteShape(ToolOutput):
    """Words of a page that speak for or against a sentence."""

    quote: PageText
    title: PageLabel
    link: PageUrl
    citation: OwnText
    missing: list[PageText] | None = None
    """What of the sentence is not in the quote."""
    differing: list[PageText] | None = None
    """What the sentence says, and what the quote says instead."""
    supplied: Supplied = None


class ClaimShape(ToolOutput):
    """A sentence of the draft with its verdict, and the best quotes on either side."""

    line: int
    sentence: OwnText
    verdict: OwnText
    quotes_for: list[ClaimQuoteShape] | None = None
    quotes_against: list[ClaimQuoteShape] | None = None
    supplied: Supplied = None
    """Whether the verdict rests on text that a caller supplied."""
    model_verdict: OwnText | None = None
    """What the client's own model says of the sentence and the quotes."""


class CheckDraftOutput(ToolOutput):
    """Every factual sentence of the draft, in its order."""

    method: OwnText
    counts: dict[OwnText, int]
    claims: list[ClaimShape]
    is_complete: bool
    """False when the draft has more sentences than are checked."""


async def run(arguments: CheckDraftInput, call: Call) -> CheckDraftOutput:
    """Look each sentence up; then ask the client's model, if there is one, about all of them."""
    scope = check_scope(None, call)
    parts = call.parts
    checked = await check_draft(
        arguments.draft,
        store=parts.store,
        models=Models(embedder=parts.embedder, reranker=parts.reranker),
        where=await search_filter(scope, None, call),
        limit=MAX_SENTENCES + 1,
    )
    shown = checked[:MAX_SENTENCES]
    remember_quotes(shown, memory=parts.citations, caller=call.caller)
    claims = [_shape(claim) for claim in shown]
    verdicts = await _ask_model(claims, call)
    return CheckDraftOutput(
        method=_METHOD
        + (_NO_MODEL if verdicts is None else _WITH_MODEL if verdicts else _MODEL_UNREAD),
        counts=dict(Counter(claim.verdict for claim in claims)),
        claims=[
            claim.model_copy(update={"model_verdict": (verdicts or {}).get(number)})
            for number, claim in enumerate(claims, 1)
        ],
        is_complete=len(checked) <= MAX_SENTENCES,
    )


def _shape(claim: CheckedClaim) -> ClaimShape:
    return ClaimShape(
        line=claim.line,
        sentence=clip(claim.sentence, _MAX_SHOWN_CHARACTERS),
        verdict=claim.verdict,
        quotes_for=[_shape_quote(place) for place in claim.supporting] or None,
        quotes_against=[_shape_quote(place) for place in claim.opposing] or None,
        supplied=True if claim.rests_on_supplied_text else None,
    )


def _shape_quote(cited: CitedPlace) -> ClaimQuoteShape:
    is_partly = cited.place.verdict == "partly"
    return ClaimQuoteShape(
        quote=clip(cited.quote.text, _MAX_SHOWN_CHARACTERS),
        title=cited.title,
        link=cited.link,
        citation=cited.quote.citation_id,
        missing=list(cited.place.missing) or None if is_partly else None,
        differing=[f"{own} / {other}" for own, other in cited.place.differing] or None,
        supplied=is_supplied(cited.origin),
    )


async def _ask_model(claims: Sequence[ClaimShape], call: Call) -> dict[int, str] | None:
    """Return the verdicts of the client's own model by number, or None if it wrote nothing."""
    if call.client is None:
        return None
    boundary = Boundary()
    asked = [
        f"{number}. Sentence: {claim.sentence}\n   Quotes: {boundary.quote(' … '.join(quotes))}"
        for number, claim in enumerate(claims, 1)
        if (quotes := [place.quote for place in _quotes_of(claim)])
    ]
    if not asked:
        return None
    prompt = "\n".join(
        [
            "For each sentence, say whether its quotes alone show it to be true: supported, "
            "partly, unsupported or contradicted. One line for each, such as `1: supported`.",
            boundary.note,
            *asked,
        ]
    )
    written = await call.client.sample(prompt, max_tokens=_MAX_MODEL_TOKENS)
    if written is None:
        return None
    return {int(number): verdict.lower() for number, verdict in _MODEL_VERDICT.findall(written)}


def render(output: CheckDraftOutput, call: Call) -> str:
    """Return a few lines for each sentence: its verdict, what differs, and the quote."""
    if not output.claims:
        return "The draft has no sentence that states a fact."
    listed = ", ".join(f"{count} {verdict}" for verdict, count in output.counts.items())
    lines = [f"{counted(len(output.claims), 'sentence')}: {listed}. {output.method}"]
    for claim in output.claims:
        model = f" (the client's model: {claim.model_verdict})" if claim.model_verdict else ""
        basis = f" by text {SUPPLIED}" if claim.supplied else ""
        verdict = f"{claim.verdict.upper()}{basis}{model}"
        lines.append(f"line {claim.line}: {verdict}: {claim.sentence}")
        for name, quotes in (("for", claim.quotes_for), ("against", claim.quotes_against)):
            lines += [line for quote in quotes or () for line in _quote_lines(name, quote)]
    if not output.is_complete:
        lines.append(f"The draft goes on; the first {MAX_SENTENCES} sentences were checked.")
    return "\n".join(lines)


def _quotes_of(claim: ClaimShape) -> list[ClaimQuoteShape]:
    return [*(claim.quotes_for or ()), *(claim.quotes_against or ())]


def _quote_lines(name: str, quote: ClaimQuoteShape) -> list[str]:
    said = f", {SUPPLIED}" if quote.supplied else ""
    lines = [f"    {name}: {quote.quote} — {quote.link} (id {quote.citation}{said})"]
    lines += [f"        draft / page: {', '.join(quote.differing)}"] if quote.differing else []
    lines += [f"        not in the quote: {', '.join(quote.missing)}"] if quote.missing else []
    return lines


TOOL = Tool(
    name="check_draft",
    toolset="evidence",
    title="Check a draft",
    description=f"""
        Check each factual sentence of a text by the library: quoted, supported, partly (what is
            missing), unsupported, contradicted (what differs), with the best quotes for and against
            it.
        Use when you have written something from indexed pages.
        Do not use when the text cites its pages: call check_citations.
        Returns at most {MAX_SENTENCES} sentences.
        If you need more, send the text in parts.
        Defaults: all indexed pages. Max: {MAX_DRAFT_CHARACTERS:,} characters.
    """,
    asks_client=True,
    needs=("store", "embedder", "reranker", "citations"),
    run=run,
    render=render,
    example={"draft": "A task can be cancelled, and a cancelled task cannot be resumed."},
)
