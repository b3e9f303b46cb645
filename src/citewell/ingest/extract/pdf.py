"""The text of a PDF, page by page."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import pypdfium2

from citewell.core.errors import EmptyPage, ExtractionError
from citewell.core.language import detect_language
from citewell.core.records import ExtractedPage
from citewell.ingest.extract.canonical import CanonicalWriter, join_blocks
from citewell.ingest.extract.characters import clean_plain_text, collapse_spaces
from citewell.ingest.extract.text import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.core.records import FetchedPage

MAX_PDF_PAGES = 2_000
# PDFium keeps global state: two threads inside it at once crash the process.
_pdfium = threading.Lock()
_HYPHEN_AT_LINE_END = re.compile(r"(?<=[^\W\d_])[-\ufffe\u00ad]\n(?=[a-zß-öø-ÿ])")
_PARAGRAPH_END = re.compile(r"[.!?:;。！？][\"'”’)\]]*$")


def extract_pdf(fetched: FetchedPage) -> ExtractedPage:
    """Return the text of a PDF with a section for each of its pages.

    Raises:
        ExtractionError: the file is damaged or locked by a password.
        EmptyPage: it holds no text, as when its pages are scans.
    """
    with _pdfium:
        title, pages = _read(fetched)
    if not any(page.strip() for page in pages):
        raise EmptyPage(
            f"{fetched.final_url} holds no text",
            suggestion="Its pages may be pictures of text; try another form of the document.",
        )
    writer = CanonicalWriter()
    blocks: list[str] = []
    for number, page in enumerate(pages, start=1):
        paragraphs = list(_paragraphs(page))
        if paragraphs:
            mark = writer.mark_section(2, f"Page {number}", f"page={number}")
            blocks.extend((f"{mark}## Page {number}", *paragraphs))
    canonical = writer.finish(join_blocks(blocks))
    return ExtractedPage(
        title=title or name_of(fetched.final_url),
        text=canonical.text,
        kind="pdf",
        language=detect_language(canonical.text),
        sections=canonical.sections,
    )


def _read(fetched: FetchedPage) -> tuple[str, list[str]]:
    try:
        document = pypdfium2.PdfDocument(fetched.body)
    except pypdfium2.PdfiumError as error:
        locked = "password" in str(error).lower()
        reason = "is locked by a password" if locked else "is not a readable PDF"
        raise ExtractionError(f"{fetched.final_url} {reason}") from error
    try:
        title = collapse_spaces(clean_plain_text(document.get_metadata_dict().get("Title", "")))
        return title, [_page_text(document[i]) for i in range(min(len(document), MAX_PDF_PAGES))]
    except pypdfium2.PdfiumError as error:
        raise ExtractionError(f"{fetched.final_url} is a damaged PDF") from error
    finally:
        document.close()


def _page_text(page: pypdfium2.PdfPage) -> str:
    text_page = page.get_textpage()
    try:
        return str(text_page.get_text_bounded())
    finally:
        text_page.close()
        page.close()


def _paragraphs(text: str) -> Iterator[str]:
    """Join lines that run on; a blank line or the short last line of a paragraph ends it."""
    text = _HYPHEN_AT_LINE_END.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    lines = [collapse_spaces(line) for line in clean_plain_text(text).split("\n")]
    usual = sorted(map(len, lines))[int(0.8 * len(lines))] if lines else 0
    paragraph: list[str] = []
    for line in lines:
        if line:
            paragraph.append(line)
        ends = len(line) < 0.8 * usual and (not line or bool(_PARAGRAPH_END.search(line)))
        if paragraph and ends:
            yield " ".join(paragraph)
            paragraph = []
    if paragraph:
        yield " ".join(paragraph)
