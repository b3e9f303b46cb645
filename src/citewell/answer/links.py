"""Links from a citation to the words it quotes, on the page itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.core.page_slice import column_names
from citewell.core.text_fragment import link_to_quote, link_to_section

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from citewell.core.records import Page, PageText, Quote


def link_to_span(page: Page | PageText, anchor: str | None, *, start: int, end: int) -> str:
    """Return a link that highlights the page's canonical text from `start` to `end`.

    Browsers look for words only in what they show as a page; a PDF, a Markdown file or text that a
    caller supplied gets a link to its section.
    """
    url = page.info.url
    if page.info.kind != "html" or page.info.origin == "supplied":
        return link_to_section(url, anchor)
    return link_to_quote(url, anchor, page.text, start, end, screen=page.screen)


def link_quotes(quotes: Iterable[Quote], pages: Mapping[int, PageText]) -> list[Quote]:
    """Return the quotes, each with a link and the columns of the table that it is rows of.

    `pages` by source_id holds the page of every quote.
    """
    return [
        replace(
            quote,
            link=link_to_span(
                pages[quote.source_id], quote.anchor, start=quote.start, end=quote.end
            ),
            columns=column_names(pages[quote.source_id].text, quote.start),
        )
        for quote in quotes
    ]
