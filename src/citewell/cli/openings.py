"""What opens the code or the table that a quote is a part of, looked up on its stored page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.core.page_slice import opening_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.core.records import PageText
    from citewell.store.protocol import Store

OPENING = "opening"


async def with_openings(result: Mapping[str, Any], store: Store) -> dict[str, Any]:
    """Return a research result whose quotes have what `opening_of` returns as OPENING."""
    sources = {source["number"]: source["source_id"] for source in result["sources"]}
    pages = await store.page_texts(list(sources.values()))
    evidence = [
        {**quote, OPENING: _opening(quote, pages.get(sources[quote["source"]]))}
        for quote in result["evidence"]
    ]
    return {**result, "evidence": evidence}


async def with_pair_openings(
    result: Mapping[str, Any], store: Store, *, project: str
) -> dict[str, Any]:
    """Return a comparison whose pairs have the opening of one of their quotes as OPENING.

    The text that a page had before is not looked up: a change seldom makes code of prose.
    """
    pairs = []
    for pair in result["pairs"]:
        quotes = [quote for name in ("new", "old") if (quote := pair.get(name))]
        openings = [await _stored_opening(quote, store, project=project) for quote in quotes]
        pairs.append({**pair, OPENING: next(filter(None, openings), "")})
    return {**result, "pairs": pairs}


async def _stored_opening(quote: Mapping[str, Any], store: Store, *, project: str) -> str:
    info = await store.find_page(quote["url"], project=project)
    page = None if info is None else (await store.page_texts([info.source_id])).get(info.source_id)
    is_there = page is not None and page.text.startswith(quote["text"], quote["start"])
    return _opening(quote, page) if is_there else ""


def _opening(quote: Mapping[str, Any], page: PageText | None) -> str:
    start = quote.get("start")
    return "" if page is None or start is None else opening_of(page.text, start)
