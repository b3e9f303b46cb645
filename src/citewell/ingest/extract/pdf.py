"""A PDF as canonical Markdown: headings, paragraphs in reading order, tables and code."""

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
from citewell.ingest.extract.html.code import fence
from citewell.ingest.extract.page_name import name_of
from citewell.ingest.extract.pdf_layout.blocks import (
    Block,
    blocks_of,
    title_key,
    without_furniture,
)
from citewell.ingest.extract.pdf_layout.drawn_underscores import join_at_underscores
from citewell.ingest.extract.pdf_layout.lines import Line, lines_in_order
from citewell.ingest.extract.pdf_layout.ruled_tables import in_ruled_cells
from citewell.ingest.extract.pdf_layout.visibility import drop_replacement_texts
from citewell.ingest.extract.pdf_layout.words import characters_beyond, extract_words

if TYPE_CHECKING:
    from citewell.core.records import FetchedPage

MAX_PDF_PAGES = 2_000
_MAX_OUTLINE_DEPTH = 5
_MAX_TITLE_CHARACTERS = 200
_NO_TITLES = frozenset({"anonymous", "untitled", "unknown", "title"})
# Programs put the name of what they printed where a title belongs.
_FILE_NAME = re.compile(
    r"^microsoft word|\.(?:html?|docx?|odt|rtf|tex|dvi|ps|indd|qxd|txt|pptx?|xlsx?|pdf)$", re.I
)
# PDFium keeps global state: two threads inside it at once crash the process.
_pdfium = threading.Lock()


def extract_pdf(fetched: FetchedPage) -> ExtractedPage:
    """Return the text of a PDF under its headings; one without headings, page by page.

    The anchor of a section is the page that it begins on, as browsers understand it.

    Raises:
        ExtractionError: the file is damaged or locked by a password.
        EmptyPage: it holds no text, as when its pages are scans.
    """
    with _pdfium:
        title, pages, outline, left_out = _read(fetched)
    if not any(pages):
        raise EmptyPage(
            f"{fetched.final_url} holds no text",
            suggestion="Its pages may be pictures of text; try another form of the document.",
        )
    blocks = blocks_of(without_furniture(pages), outline)
    writer = CanonicalWriter()
    canonical = writer.finish(join_blocks([*_rendered(blocks, writer), *left_out]))
    first = next((block.text for block in blocks if block.kind == "heading"), "")
    return ExtractedPage(
        title=title or first[:_MAX_TITLE_CHARACTERS] or name_of(fetched.final_url),
        text=canonical.text,
        kind="pdf",
        language=detect_language(canonical.text),
        sections=canonical.sections,
    )


def _rendered(blocks: list[Block], writer: CanonicalWriter) -> list[str]:
    has_headings = any(block.kind == "heading" for block in blocks)
    rendered: list[str] = []
    page = 0
    for block in blocks:
        if not has_headings and block.page != page:
            page = block.page
            mark = writer.mark_section(2, f"Page {page}", f"page={page}")
            rendered.append(f"{mark}## Page {page}")
        if block.kind == "heading":
            mark = writer.mark_section(block.level, block.text, f"page={block.page}")
            rendered.append(f"{mark}{'#' * block.level} {block.text}")
        elif block.kind == "code":
            rendered.append(fence(block.text, ""))
        else:
            rendered.append(block.text)
    return rendered


def _read(
    fetched: FetchedPage,
) -> tuple[str, list[list[Line]], dict[tuple[int, str], int], list[str]]:
    """Return a PDF's own title, the lines of its pages, its outline, and what was left out."""
    try:
        document = pypdfium2.PdfDocument(fetched.body)
    except pypdfium2.PdfiumError as error:
        locked = "password" in str(error).lower()
        reason = "is locked by a password" if locked else "is not a readable PDF"
        raise ExtractionError(f"{fetched.final_url} {reason}") from error
    try:
        title = collapse_spaces(clean_plain_text(document.get_metadata_dict().get("Title", "")))
        if title.strip("()").lower() in _NO_TITLES or _FILE_NAME.search(title):
            title = ""
        count = min(len(document), MAX_PDF_PAGES)
        left_out: list[str] = []
        pages = [_page_lines(document[i], i + 1, left_out) for i in range(count)]
        if count < len(document):
            left_out.append(f"[cut here: the PDF goes on for {len(document) - count:,} pages]")
        return title, pages, _outline(document), left_out
    except pypdfium2.PdfiumError as error:
        raise ExtractionError(f"{fetched.final_url} is a damaged PDF") from error
    finally:
        document.close()


def _page_lines(page: pypdfium2.PdfPage, number: int, left_out: list[str]) -> list[Line]:
    drop_replacement_texts(page)
    text_page = page.get_textpage()
    try:
        if more := characters_beyond(text_page):
            left_out.append(f"[cut here: page {number} goes on for {more:,} characters]")
        words = join_at_underscores(extract_words(page, text_page), page)
        words = in_ruled_cells(words, page)
        return lines_in_order(words, page=number)
    finally:
        text_page.close()
        page.close()


def _outline(document: pypdfium2.PdfDocument) -> dict[tuple[int, str], int]:
    """Return the levels of the titles in a document's outline, by page and `title_key`."""
    levels: dict[tuple[int, str], int] = {}
    for bookmark in document.get_toc(max_depth=_MAX_OUTLINE_DEPTH):
        place = bookmark.get_dest()
        index = place.get_index() if place is not None else None
        key = title_key(bookmark.get_title())
        if index is not None and key:
            levels.setdefault((index + 1, key), bookmark.level + 1)
    return levels
