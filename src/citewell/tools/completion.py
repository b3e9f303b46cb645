"""Complete the arguments of prompts and resource URIs from the stored pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.text import one_line
from citewell.tools.resource_links import PASSAGES
from citewell.tools.resources import PAGE_TEMPLATE, visible_pages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import PageInfo
    from citewell.tools.prompts import Prompt
    from citewell.tools.tool import Call

MAX_VALUES = 100
"""The maximum of the protocol."""


@frozen
class Completion:
    """Values to choose from, best first, and their total number."""

    values: tuple[str, ...] = ()
    total: int = 0


async def complete_prompt(
    prompts: Sequence[Prompt], name: str, *, argument: str, typed: str, call: Call
) -> Completion:
    """Return URLs for an argument that takes one; other arguments have no completion."""
    takes_url = any(
        prompt.name == name and known.name == argument and known.is_url
        for prompt in prompts
        for known in prompt.arguments
    )
    if not takes_url:
        return Completion()
    pages = await _matching_pages(typed, call)
    return _first([page.url for page in pages])


async def complete_resource(template: str, *, argument: str, typed: str, call: Call) -> Completion:
    """Return ids of pages for `source_id`, and the caller's own session for `session`."""
    if (template, argument) == (PAGE_TEMPLATE, "source_id"):
        pages = await _matching_pages(typed, call)
        return _first([str(page.source_id) for page in pages])
    if (template, argument) == (PASSAGES.uri_template, "session"):
        session = call.parts.scratch.session_of(call.caller)
        return _first([session] if session.startswith(typed) else [])
    return Completion()


def _first(values: Sequence[str]) -> Completion:
    return Completion(values=tuple(values[:MAX_VALUES]), total=len(values))


async def _matching_pages(typed: str, call: Call) -> list[PageInfo]:
    """Return the pages whose URL or title contains the typed text, best match first."""
    wanted = typed.strip().casefold()
    # The store can search by URL prefix without reading every page.
    prefix = typed.strip() if "://" in typed else None
    pages = await visible_pages(call, url_prefix=prefix)
    ranked = [(_rank(page, wanted), page) for page in pages]
    matching = [(rank, page) for rank, page in ranked if rank is not None]
    matching.sort(key=lambda pair: (pair[0], pair[1].url))
    return [page for _, page in matching]


def _rank(page: PageInfo, wanted: str) -> int | None:
    """Return the rank of a match, 0 is best; None if the page does not match."""
    url = page.url.casefold()
    title = one_line(page.title).casefold()
    # People type neither the scheme nor "www.".
    address = url.partition("://")[2].removeprefix("www.")
    matches = (
        url.startswith(wanted) or address.startswith(wanted) or wanted == str(page.source_id),
        title.startswith(wanted),
        wanted in url,
        wanted in title,
    )
    return matches.index(True) if any(matches) else None
