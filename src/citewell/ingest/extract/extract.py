"""A fetched page as canonical Markdown, whatever it was before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.ingest.extract.asciidoc import extract_asciidoc
from citewell.ingest.extract.data import extract_json
from citewell.ingest.extract.html.page import extract_html
from citewell.ingest.extract.markdown.page import extract_markdown
from citewell.ingest.extract.pdf import extract_pdf
from citewell.ingest.extract.restructured_text import extract_restructured_text
from citewell.ingest.extract.text import extract_text
from citewell.ingest.extract.xml import extract_xml

if TYPE_CHECKING:
    from collections.abc import Callable

    from citewell.core.records import ExtractedPage, FetchedPage, PageKind

_EXTRACTORS: dict[PageKind, Callable[[FetchedPage], ExtractedPage]] = {
    "html": extract_html,
    "markdown": extract_markdown,
    "rst": extract_restructured_text,
    "asciidoc": extract_asciidoc,
    "text": extract_text,
    "pdf": extract_pdf,
    "json": extract_json,
    "xml": extract_xml,
}


def extract_page(fetched: FetchedPage) -> ExtractedPage:
    """Return the main content of a page as canonical Markdown.

    The sections of the result lie end to end and cover its text; the text ends with a newline and
    holds nothing that a reader of the page could not see.

    Raises:
        ExtractionError: the page is damaged.
        EmptyPage: it holds no readable text.
    """
    return _EXTRACTORS[fetched.kind](fetched)
