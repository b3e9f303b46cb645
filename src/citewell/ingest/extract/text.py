"""Plain text as canonical Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.errors import EmptyPage
from citewell.core.language import detect_language
from citewell.core.records import ExtractedPage
from citewell.ingest.extract.canonical import CanonicalWriter
from citewell.ingest.extract.characters import clean_plain_text, collapse_spaces

if TYPE_CHECKING:
    from citewell.core.records import FetchedPage

_MAX_TITLE_CHARACTERS = 120


def extract_text(fetched: FetchedPage) -> ExtractedPage:
    """Return plain text as it stands, titled by its first line when that is short.

    Raises:
        EmptyPage: there is no text.
    """
    text = clean_plain_text(fetched.text)
    if not text.strip():
        raise EmptyPage(f"{fetched.final_url} holds no readable text")
    canonical = CanonicalWriter().finish(text)
    first_line = collapse_spaces(canonical.text.lstrip().partition("\n")[0])
    is_title = len(first_line) <= _MAX_TITLE_CHARACTERS
    return ExtractedPage(
        title=first_line if is_title else name_of(fetched.final_url),
        text=canonical.text,
        kind="text",
        language=detect_language(canonical.text),
        sections=canonical.sections,
    )


def name_of(url: str) -> str:
    """Return the last part of a URL's path, for pages that have no title."""
    path = url.partition("#")[0].partition("?")[0].rstrip("/")
    return path.rpartition("/")[2] or url
