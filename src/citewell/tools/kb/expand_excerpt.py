"""`kb.expand_excerpt`: a passage with some of the text before and after it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.tools.kb.arguments import PassageId
from citewell.tools.kb.excerpt import (
    MAX_EXCERPT_TOKENS,
    MAX_RESULT_TOKENS,
    ExcerptOutput,
    cite,
    head_of,
    render,
    tail_of,
)
from citewell.tools.kb.passages import open_passage, page_of
from citewell.tools.scope import ScopeInput, check_scope
from citewell.tools.tool import Call, Tool, ToolInput

DEFAULT_STEP_TOKENS = 150
MAX_STEP_TOKENS = 400

StepTokens = Annotated[int, Field(ge=0, le=MAX_STEP_TOKENS)]


class ExpandExcerptInput(ToolInput):
    """Arguments of `kb.expand_excerpt`."""

    passage_id: PassageId
    before_tokens: StepTokens = DEFAULT_STEP_TOKENS
    after_tokens: StepTokens = DEFAULT_STEP_TOKENS
    scope: ScopeInput | None = None


async def run(arguments: ExpandExcerptInput, call: Call) -> ExcerptOutput:
    """Return the passage with text around it from its page.

    Raises:
        NotFound: the caller has no such passage, or its page has changed since.
    """
    scope = check_scope(arguments.scope, call)
    passage = await open_passage(arguments.passage_id, scope=scope, call=call)
    place = passage.place
    text = (await page_of(place, call)).text
    before = tail_of(text[: place.start], max_tokens=arguments.before_tokens)
    after = head_of(text[place.end :], max_tokens=arguments.after_tokens)
    start = place.start - len(before)
    whole = text[start : place.end + len(after)]
    excerpt = head_of(whole, max_tokens=MAX_EXCERPT_TOKENS)
    end = start + len(excerpt)
    goes_on = bool(text[end:].strip())
    return ExcerptOutput(
        passage_id=passage.passage_id,
        excerpt=excerpt,
        truncated=goes_on,
        start_char=start - place.start,
        next_start_char=end - place.start if goes_on else None,
        citation=await cite(passage, call, start=start - place.start, end=end - place.start),
    )


TOOL = Tool(
    name="kb.expand_excerpt",
    toolset="kb",
    title="Read around a passage",
    description=f"""
        Read a passage with what stands before and after it on its page.
        Use when a passage begins or ends in the middle of what you need.
        Do not use when the passage itself is unread: call kb_read_excerpt.
        Returns at most {MAX_EXCERPT_TOKENS} tokens.
        If you need more, call kb_read_excerpt with next_start_char.
        Defaults: {DEFAULT_STEP_TOKENS} tokens each way. Max: {MAX_STEP_TOKENS} each way.
    """,
    needs=("store", "scratch"),
    run=run,
    render=render,
    example={"passage_id": "482915073361", "before_tokens": 100, "after_tokens": 100},
    max_result_tokens=MAX_RESULT_TOKENS,
)
