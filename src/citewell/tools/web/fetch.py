"""`web_fetch`: a page of the web as Markdown, a bounded piece at a time."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from anyio import to_thread
from pydantic import Field

from citewell.core.boundary import enclose
from citewell.core.errors import InvalidArgument
from citewell.core.text import one_line
from citewell.tools.paging import MAX_CURSOR_CHARACTERS, open_cursor, seal_cursor
from citewell.tools.research.arguments import Url
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl
from citewell.tools.web.piece import as_whole_blocks, cut_piece

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.core.records import ExtractedPage

DEFAULT_TOKENS = 4_000
MAX_TOKENS = 20_000
# Removing more links and images than this is done in a thread.
_AT_ONCE_MARKS = 2_000

_INLINE_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]{0,500}\]){0,2000})\]\([^()\s]*\)")
_INLINE_IMAGE = re.compile(r"!\[([^\[\]]{0,2000})\]\([^()\s]*\)")


class WebFetchInput(ToolInput):
    """Arguments of `web_fetch`."""

    url: Url
    render: Annotated[
        Literal["auto", "never", "always"],
        Field(description="Run the page's scripts in a browser."),
    ] = "auto"
    wait_for: Annotated[
        str,
        Field(max_length=200, description="Text or CSS selector to wait for in the browser."),
    ] = ""
    max_tokens: Annotated[int, Field(ge=100, le=MAX_TOKENS)] = DEFAULT_TOKENS
    cursor: Annotated[str | None, Field(max_length=MAX_CURSOR_CHARACTERS)] = None
    include_links: bool = False
    include_images: bool = False


class WebFetchOutput(ToolOutput):
    """A piece of a page."""

    url: PageUrl
    title: PageLabel
    text: PageText
    rendered: bool
    incomplete: OwnText | None = None
    """Why some of the page's text may be missing."""
    next_cursor: OwnText | None = None


async def run(arguments: WebFetchInput, call: Call) -> WebFetchOutput:
    """Read the page from its start, or from the cursor.

    Raises:
        InvalidArgument: the cursor is not one given for this page as it is.
        CitewellError: the page could not be read.
    """
    pages = call.parts.live_pages
    # `auto` means the setting of the server.
    mode = None if arguments.render == "auto" else arguments.render
    read = pages.read_on if arguments.cursor else pages.read
    page = await read(arguments.url, render=mode, wait_for=arguments.wait_for)
    text = await _show(
        page.extracted, links=arguments.include_links, images=arguments.include_images
    )
    reading = (
        f"{arguments.url} {arguments.include_links} {arguments.include_images} {page.text_hash}"
    )
    secret = call.parts.secret
    start = _place_of(arguments.cursor, reading, secret=secret) if arguments.cursor else 0
    piece = cut_piece(text, start, max_tokens=arguments.max_tokens)
    end = start + len(piece)
    goes_on = bool(text[end:].strip())
    return WebFetchOutput(
        url=page.url,
        title=page.extracted.title,
        text=as_whole_blocks(text, start, piece),
        rendered=page.rendered,
        incomplete=page.incomplete or None,
        next_cursor=seal_cursor([end], search=reading, secret=secret) if goes_on else None,
    )


def render(output: WebFetchOutput, call: Call) -> str:
    """Return the piece under its title and URL."""
    how = " (rendered in a browser)" if output.rendered else ""
    lines = [
        enclose(f"{output.title or 'Untitled'} — {output.url}") + how,
        output.text,
    ]
    if output.incomplete is not None:
        lines.append(f"Some of the page may be missing: {output.incomplete}.")
    if output.next_cursor is not None:
        lines.append(f"Goes on: web_fetch with the same arguments and cursor {output.next_cursor}")
    return "\n".join(lines)


def _place_of(cursor: str, reading: str, *, secret: bytes) -> int:
    try:
        (place,) = open_cursor(cursor, search=reading, secret=secret)
    except (InvalidArgument, ValueError) as error:
        raise InvalidArgument(
            "cursor was not given for these arguments, or the page has changed since.",
            suggestion="Call web_fetch again without a cursor.",
        ) from error
    return place


async def _show(page: ExtractedPage, *, links: bool, images: bool) -> str:
    """Return the text to show; a page with many links is prepared in a thread."""
    show = partial(_as_shown, page, links=links, images=images)
    if len(page.links) + len(page.images) <= _AT_ONCE_MARKS:
        return show()
    return await to_thread.run_sync(show)


def _as_shown(page: ExtractedPage, *, links: bool, images: bool) -> str:
    """Return the page's text; unwanted links and images are reduced to their words."""
    marks: list[re.Match[str] | None] = []
    if not links:
        marks += [_INLINE_LINK.match(page.text, link.start) for link in page.links]
    if not images:
        marks += [_INLINE_IMAGE.match(page.text, image.start) for image in page.images]
    shown: list[str] = []
    end = 0
    # A link or image has markup before and after its words; an image can be inside a link.
    for start, stop in sorted(part for mark in marks if mark for part in _parts_around_words(mark)):
        shown.append(page.text[end:start])
        end = max(end, stop)
    return "".join([*shown, page.text[end:], *(_further_links(page) if links else ())])


def _parts_around_words(mark: re.Match[str]) -> tuple[tuple[int, int], tuple[int, int]]:
    return (mark.start(), mark.start(1)), (mark.end(1), mark.end())


def _further_links(page: ExtractedPage) -> Iterator[str]:
    """Yield the links outside the main text, as a list."""
    further = [link for link in page.links if not _INLINE_LINK.match(page.text, link.start)]
    if further:
        yield "\nFurther links:\n\n"
    for link in further:
        yield f"- [{one_line(link.text)}]({link.url})\n"


TOOL = Tool(
    name="web_fetch",
    toolset="web",
    title="Read a web page",
    description=f"""
        Read one web page from the top, as it is now, as Markdown; it is not indexed.
        Use when you need the page itself: to show, summarise or translate it.
        Do not use when you have a question: call answer.
        Returns at most max_tokens.
        If you need more, call again with next_cursor as cursor.
        Defaults: max_tokens {DEFAULT_TOKENS}. Max: {MAX_TOKENS}.
    """,
    annotations=Annotations(read_only=True, open_world=True),
    needs=("live_pages", "secret"),
    run=run,
    render=render,
    in_default=True,
    example={"url": "https://example.org/guide.html"},
    # The text with its title, URL and cursor.
    max_result_tokens=MAX_TOKENS + 4_000,
)
