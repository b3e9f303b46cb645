"""A page that can be proved: its text is what the extractor makes of the kept response."""

from __future__ import annotations

from dataclasses import replace

from tests.drafts import FETCHED_AT, draft
from tests.stored import html_response
from tests.tools.library import Library

from citewell.core.ids import citation_id
from citewell.core.records import FetchedPage, PageDraft
from citewell.ingest.extract.extract import extract_page
from citewell.ingest.extract.version import EXTRACTOR_VERSION

URL = "https://birds.example/storks.html"
QUOTE = "The stork eats frogs."
BODY = f"<html><head><title>Storks</title></head><body><p>{QUOTE}</p></body></html>"


def provable(body: str = BODY, *, project: str = "default", is_kept: bool = True) -> PageDraft:
    """Return the page that a site's answer makes."""
    fetched = FetchedPage(
        url=URL, final_url=URL, status=200, kind="html", body=b"", text=body, fetched_at=FETCHED_AT
    )
    extracted = extract_page(fetched)
    return replace(
        draft(URL, extracted.text),
        extracted=extracted,
        extractor=EXTRACTOR_VERSION,
        response=html_response(URL, body) if is_kept else None,
        project=project,
    )


async def cite(library: Library, *, project: str = "default", length: int = len(QUOTE)) -> str:
    """Return the citation of as many characters of the stored page from the quote on."""
    page = await library.parts.store.find_page(URL, project=project)
    assert page is not None
    stored = await library.parts.store.get_page(page.source_id)
    assert stored is not None
    start = stored.text.index(QUOTE)
    return citation_id(page.source_id, page.text_hash, start, start + length)
