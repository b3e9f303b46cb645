"""The pages of a site that could not be read, as the commands print them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.app.websites import list_failed_pages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from citewell.app.parts import Parts
    from citewell.app.websites import FailedPage
    from citewell.core.crawl_failures import FailureKind
    from citewell.core.library import Website

_PAGES_SHOWN = 20
_ADVICE: dict[FailureKind, str] = {
    "busy": "`{again}` reads them again once the site answers.",
    "refused": "The site does not show them to programs. --exclude leaves such paths out.",
    "too_large": "Raise CITEWELL_WEB_MAX_PAGE_BYTES, then run `{again}`.",
    "browser": "`citewell doctor` says what the browser lacks; then run `{again}`.",
    "damaged": "Ask the site to mend them; the other pages are searched without them.",
    "other": "`{again}` reads them again.",
}


async def failed_pages_of(parts: Parts, website: Website) -> list[FailedPage]:
    """Return the pages of a site that its last crawl could not read."""
    if website.kind != "site":
        return []
    return await list_failed_pages(parts, website.source_id, limit=website.options.max_pages)


def failure_shapes(failed: Sequence[FailedPage]) -> list[dict[str, Any]]:
    """Return failed pages as plain values."""
    return [{"url": page.url, "kind": page.kind, "error": page.reason} for page in failed]


def failure_lines(website: Website, failed: Sequence[FailedPage]) -> Iterator[str]:
    """Yield a line for each of the first failed pages, and what to do about those of a kind."""
    again = f"citewell sites refresh {website.source_id} --failed"
    shown = failed[:_PAGES_SHOWN]
    for kind, advice in _ADVICE.items():
        pages = [page for page in shown if page.kind == kind]
        for page in pages:
            said = page.reason if page.url in page.reason else f"{page.url}: {page.reason}"
            yield f"- failed: {said}"
        if pages:
            yield f"  try: {advice.format(again=again)}"
    if len(failed) > len(shown):
        yield f"- and {len(failed) - len(shown):,} more; --json lists all"
