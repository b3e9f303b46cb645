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
from citewell.tools.scope import ScopeInput, check_scope
from citewell.tools.tool import Call, Tool, ToolInput

_MAX_START = 100_000_000
# A bullet begins with two characters and ends with a newline.
_BULLET_TOKENS = 2


class ExcerptOptions(ToolInput):
    """The format of an excerpt."""

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


async def run(arguments: ReadExcerptInput, call: Call) -> ExcerptOutput:
    """Read from `start_char` on, beyond the end of the passage if necessary.

    Raises:
        NotFound: the caller has no such passage, or its page has changed since.
        InvalidArgument: the page ends before `start_char`.
    """
    scope = check_scope(arguments.scope, call)
    passage = await open_passage(arguments.passage_id, scope=scope, call=call)
    text = passage.text
    if arguments.start_char >= len(text):
        page = await page_of(passage.place, call)
        text = page.text[passage.place.start :]
    if arguments.start_char >= len(text):
        raise InvalidArgument(f"start_char must be below {len(text)}, where the page ends.")
    excerpt = head_of(text[arguments.start_char :], max_tokens=arguments.max_tokens)
    end = arguments.start_char + len(excerpt)
    shown = excerpt
    options = arguments.options or ExcerptOptions()
    if options.format == "bullets":
        shown, end = _as_bullets(excerpt, arguments)
    truncated = bool(text[end:].strip())
    return ExcerptOutput(
        passage_id=passage.passage_id,
        excerpt=shown,
        truncated=truncated,
        start_char=arguments.start_char or None,
        next_start_char=end if truncated else None,
        citation=await cite(passage, call, start=arguments.start_char, end=end)
        if options.include_citation
        else None,
    )


def _as_bullets(excerpt: str, arguments: ReadExcerptInput) -> tuple[str, int]:
    """Return a bullet for each sentence that fits, and where the last of them ends."""
    spans = sentence_spans(excerpt)
    kept = head_of(excerpt, max_tokens=max(1, arguments.max_tokens - _BULLET_TOKENS * len(spans)))
    fitting = [span for span in spans if span[1] <= len(kept)] or spans[:1]
    bullets = [_bullet(excerpt[start:end]) for start, end in fitting]
    return "\n".join(bullets), arguments.start_char + (fitting[-1][1] if fitting else len(excerpt))


def _bullet(sentence: str) -> str:
    return sentence if sentence.startswith(("- ", "* ", "```", "~~~")) else f"- {sentence}"


TOOL = Tool(
    name="kb.read_excerpt",
    toolset="kb",
    title="Read a passage",
    description=f"""
        Read a bounded piece of a passage, word for word.
        Use when a quote or preview is promising and you need the text around it.
        Do not use when you have no passage_id or citation id: call search.
        Returns at most max_tokens.
        If you need more, call again with next_start_char.
        Defaults: max_tokens {DEFAULT_EXCERPT_TOKENS}. Max: {MAX_EXCERPT_TOKENS}.
    """,
    needs=("store", "scratch"),
    run=run,
    render=render,
    example={"passage_id": "482915073361", "max_tokens": 300},
    max_result_tokens=MAX_RESULT_TOKENS,
)
