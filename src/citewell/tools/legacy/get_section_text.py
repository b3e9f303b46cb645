"""`get_section_text`: the text of sections by id, bounded."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.core.boundary import SUPPLIED, enclose
from citewell.tools.kb.excerpt import MAX_EXCERPT_BYTES
from citewell.tools.legacy.sections import MAX_SECTIONS, SectionIds, load_sections
from citewell.tools.scope import ScopeInput, check_scope
from citewell.tools.supplied import Supplied, is_supplied
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl, with_anchor

DEFAULT_SECTION_BYTES = 8_192


class GetSectionTextInput(ToolInput):
    """Arguments of `get_section_text`."""

    section_ids: SectionIds
    max_bytes_per: Annotated[int, Field(ge=100, le=MAX_EXCERPT_BYTES)] = DEFAULT_SECTION_BYTES
    scope: ScopeInput | None = None


class SectionTextShape(ToolOutput):
    """The text of one section."""

    section_id: OwnText
    title: PageLabel
    url: PageUrl
    anchor: PageUrl | None = None
    text: PageText
    truncated: bool
    size_bytes: int
    supplied: Supplied = None


class GetSectionTextOutput(ToolOutput):
    """Texts in the order asked; `omitted` did not fit the bytes of one call."""

    results: list[SectionTextShape]
    omitted: list[OwnText] | None = None


async def run(arguments: GetSectionTextInput, call: Call) -> GetSectionTextOutput:
    """Return each section's text, cut to `max_bytes_per`, while they fit one call.

    Raises:
        NotFound: a section does not exist, or not for this caller.
    """
    scope = check_scope(arguments.scope, call)
    sections = await load_sections(arguments.section_ids, scope=scope, call=call)
    results: list[SectionTextShape] = []
    omitted: list[str] = []
    left = MAX_EXCERPT_BYTES
    for section in sections:
        text = _first_bytes(section.text, arguments.max_bytes_per)
        cost = len(text.encode("utf-8", "surrogatepass"))
        if cost > left:
            omitted.append(str(section.chunk_id))
            continue
        left -= cost
        results.append(
            SectionTextShape(
                section_id=str(section.chunk_id),
                title=section.title,
                url=section.url,
                anchor=section.anchor,
                text=text,
                truncated=len(text) < len(section.text),
                size_bytes=len(section.text.encode("utf-8", "surrogatepass")),
                supplied=is_supplied(section.origin),
            )
        )
    return GetSectionTextOutput(results=results, omitted=omitted or None)


def _first_bytes(text: str, limit: int) -> str:
    raw = text.encode("utf-8", "surrogatepass")
    return text if len(raw) <= limit else raw[:limit].decode(errors="ignore")


def render(output: GetSectionTextOutput, call: Call) -> str:
    """Return each section under its title."""
    lines: list[str] = []
    for result in output.results:
        cut = (", cut" if result.truncated else "") + (f", {SUPPLIED}" if result.supplied else "")
        place = with_anchor(result.url, result.anchor)
        head = enclose(f"{result.title or 'Untitled'} — {place}")
        lines.append(f"{head} (section {result.section_id}{cut})")
        lines.append(result.text)
    if output.omitted:
        lines.append(f"Left out, ask again: {', '.join(output.omitted)}")
    return "\n".join(lines)


TOOL = Tool(
    name="get_section_text",
    toolset="legacy",
    title="Read sections (older name)",
    description=f"""
        Return the text of sections by id; the older form of kb_read_excerpt.
        Use when your instructions name this tool.
        Do not use when kb_read_excerpt is listed: it costs less.
        Returns at most {MAX_EXCERPT_BYTES} bytes over all sections.
        If you need more, call again with the sections left out, or expand_neighbors.
        Defaults: max_bytes_per {DEFAULT_SECTION_BYTES}. Max: {MAX_SECTIONS} sections.
    """,
    needs=("store",),
    run=run,
    render=render,
    example={"section_ids": ["1"]},
    lists_columns=False,
)
