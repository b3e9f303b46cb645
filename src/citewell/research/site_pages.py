"""Pages of a given page's site that may answer, found by a search instead of by following links."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.core.question import parse_query
from citewell.retrieve.pipeline import Models, Options, retrieve
from citewell.web.urls import is_file_url

if TYPE_CHECKING:
    from collections.abc import Collection

    from citewell.core.records import PageInfo
    from citewell.core.results import Question
    from citewell.research.parts import Parts

_PAGES = 6
_CHUNKS = 20


async def search_site(
    page: PageInfo, question: Question, *, known: Collection[int], asks_index: bool, parts: Parts
) -> list[tuple[str, str]]:
    """Return URL and title of the pages of a page's site that may answer, best first.

    They are searched among what is stored of the site, without those whose source_id is `known`.
    Where that has none, the site's own search index is asked, if `asks_index`.
    """
    if page.origin != "fetched" or is_file_url(page.url):
        return []
    stored = await _find_stored_pages(page.final_url, question, known=known, parts=parts)
    if stored or not asks_index or page.kind != "html":
        return stored
    words = parse_query(question.query).weights
    return await parts.ingester.search_site(page.final_url, words, limit=_PAGES)


async def _find_stored_pages(
    url: str, question: Question, *, known: Collection[int], parts: Parts
) -> list[tuple[str, str]]:
    address = urlsplit(url)
    root = f"{address.scheme}://{address.netloc}/"
    within = question.pages()
    if within.url_prefix is not None and not within.url_prefix.startswith(root):
        return []
    found = await retrieve(
        question.query,
        store=parts.store,
        models=Models(embedder=parts.embedder, reranker=parts.reranker),
        where=replace(within, url_prefix=within.url_prefix or root),
        options=Options(limit=_CHUNKS),
    )
    titles = {
        each.chunk.url: each.chunk.title
        for each in found.chunks
        if each.chunk.source_id not in known
    }
    return list(titles.items())[:_PAGES]
