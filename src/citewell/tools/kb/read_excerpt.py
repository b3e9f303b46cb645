"""`kb.read_excerpt`: a bounded piece of a passage."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from citewell.core.errors import InvalidArgument
from citewell.core.text import sentence_spans
from citewell.tools.kb.arguments import PassageId
from citewell.tools.kb.excerpt import (
    DEFAULT_EXCERPT_TOKENS,
    MAX_EXCERPT_TOKENS,
    MAX_RESULT_TOKENS,
    ExcerptOutput,
    cite,
    head_of,
    render,
)
from citewell.tools.kb.passages import open_passage, page_of
from citewell.tools.registry import Annotations, Call, Tool, ToolInput, as_is
from citewell.tools.scope import ScopeInput, check_scope

_MAX_START = 100_000_000
# A bullet begins with two characters and ends with a newline.
_BULLET_TOKENS = 2


class ExcerptOptions(ToolInput):
    """How an excerpt is written."""

    format: Literal["text", "bullets"] = "text"
    include_citation: bool = True


ShortExcerptOptions = Annotated[
    ExcerptOptions,
    WithJsonSchema({"type": "object", "description": "format (text, bullets), include_citation"}),
]


class ReadExcerptInput(ToolInput):
    """Arguments of `kb.read_excerpt`."""

    passage_id: PassageId
    max_tokens: Annotated[int, Field(ge=20, le=MAX_EXCERPT_TOKENS)] = DEFAULT_EXCERPT_TOKENS
    start_char: Annotated[int, Field(ge=0, le=_MAX_START)] = 0
    scope: ScopeInput | None = None
    options: ShortExcerptOptions | None = None


async def run(given: ReadExcerptInput, call: Call) -> ExcerptOutput:
    """Read from `start_char` on; beyond the passage's end its page goes on.

    Raises:
        NotFound: the caller has no such passage, or its page has changed since.
        InvalidArgument: the page ends before `start_char`.
    """
    scope = check_scope(given.scope, call)
    passage = await open_passage(given.passage_id, scope=scope, call=call)
    text = passage.text
    if given.start_char >= len(text):
        page = await page_of(passage.place, call)
        text = page.text[passage.place.start :]
    if given.start_char >= len(text):
        raise InvalidArgument(f"start_char must be below {len(text)}, where the page ends.")
    excerpt = head_of(text[given.start_char :], max_tokens=given.max_tokens)
    end = given.start_char + len(excerpt)
    shown = excerpt
    options = given.options or ExcerptOptions()
    if options.format == "bullets":
        shown, end = _as_bullets(excerpt, given)
    truncated = bool(text[end:].strip())
    return ExcerptOutput(
        passage_id=passage.passage_id,
        excerpt=shown,
        truncated=truncated,
        start_char=given.start_char or None,
        next_start_char=end if truncated else None,
        citation=await cite(passage, call, start=given.start_char, end=end)
        if options.include_citation
        else None,
    )


def _as_bullets(excerpt: str, given: ReadExcerptInput) -> tuple[str, int]:
    """Return a bullet for each sentence that fits, and where the last of them ends."""
    spans = sentence_spans(excerpt)
    kept = head_of(excerpt, max_tokens=max(1, given.max_tokens - _BULLET_TOKENS * len(spans)))
    fitting = [span for span in spans if span[1] <= len(kept)] or spans[:1]
    bullets = [_bullet(excerpt[start:end]) for start, end in fitting]
    return "\n".join(bullets), given.start_char + (fitting[-1][1] if fitting else len(excerpt))


def _bullet(sentence: str) -> str:
    return sentence if sentence.startswith(("- ", "* ", "```", "~~~")) else f"- {sentence}"


TOOL = Tool(
    name="kb.read_excerpt",
    toolset="kb",
    title="Read a passage",
    description=(
        "Read a bounded piece of a passage, word for word.\n"
        "Use when a quote or preview is promising and you need the text around it.\n"
        "Do not use when you have no passage_id or citation id: call search.\n"
        "Returns at most max_tokens.\n"
        "If you need more, call again with next_start_char.\n"
        f"Defaults: max_tokens {DEFAULT_EXCERPT_TOKENS}. Max: {MAX_EXCERPT_TOKENS}."
    ),
    input_model=ReadExcerptInput,
    output_model=ExcerptOutput,
    annotations=Annotations(read_only=True),
    needs=("store", "scratch"),
    run=run,
    shape=as_is,
    render=render,
    example={"passage_id": "482915073361", "max_tokens": 300},
    max_result_tokens=MAX_RESULT_TOKENS,
)
