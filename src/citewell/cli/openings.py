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


def _opening(quote: Mapping[str, Any], page: PageText | None) -> str:
    start = quote.get("start")
    return "" if page is None or start is None else opening_of(page.text, start)
