"""Turn documents that a caller wrote into text, to check their citations and claims."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from citewell.core.errors import InvalidArgument
from citewell.core.records import FetchedPage
from citewell.ingest.reading import PageReader

if TYPE_CHECKING:
    from citewell.web.sandbox import Sandbox

_ADDRESS = "https://document.invalid/"


async def document_text(data: bytes, *, name: str, sandbox: Sandbox) -> str:
    """Return a document as text; HTML is extracted as a page would be.

    Raises:
        ExtractionError, EmptyPage: it is HTML without words.
        InvalidArgument: it is no text.
    """
    if b"\0" in data:
        raise InvalidArgument(
            f"{name} is not a text file.",
            suggestion="Pass Markdown, HTML, BibTeX or plain text in UTF-8.",
        )
    text = data.decode("utf-8", "replace")
    start = text[:1000].lstrip().lower()
    is_html = name.lower().endswith((".html", ".htm", ".xhtml"))
    if not is_html and not start.startswith(("<!doctype html", "<html")):
        return text
    fetched = FetchedPage(
        url=_ADDRESS,
        final_url=_ADDRESS,
        status=200,
        kind="html",
        body=b"",
        text=text,
        fetched_at=datetime.now(UTC),
    )
    return (await PageReader(sandbox).extract(fetched)).text
