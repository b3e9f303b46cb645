"""Showing pages whole, when they are so short that choosing would lose more than it saves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.records import Block

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from citewell.core.records import PageText


def whole_page_blocks(pages: Iterable[PageText], best: Mapping[int, Block]) -> list[Block]:
    """Return each page as one block, scored as its best block is; pages without one come last."""
    blocks = [_block(page, best.get(page.info.source_id)) for page in pages if page.text.strip()]
    return sorted(blocks, key=lambda block: -block.relevance)


def _block(page: PageText, best: Block | None) -> Block:
    info = page.info
    return Block(
        source_id=info.source_id,
        url=info.url,
        title=info.title,
        page_hash=info.text_hash,
        fetched_at=info.fetched_at,
        heading_path=(),
        anchor=None,
        section=0,
        start=0,
        end=len(page.text),
        text=page.text,
        tokens=info.tokens,
        relevance=best.relevance if best is not None else 0.0,
        confidence=best.confidence if best is not None else None,
        matched_by=best.matched_by if best is not None else "locality",
        sub_query=best.sub_query if best is not None else "",
        images=page.images,
        origin=info.origin,
        release=info.release,
    )
