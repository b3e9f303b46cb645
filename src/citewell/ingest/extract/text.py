"""Plain text as canonical Markdown: its headings by their place, mail archives by message."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from citewell.core.errors import EmptyPage
from citewell.core.language import detect_language
from citewell.core.records import ExtractedPage
from citewell.ingest.extract.canonical import CanonicalWriter, join_blocks
from citewell.ingest.extract.characters import clean_plain_text, collapse_spaces
from citewell.ingest.extract.html.fragment import render_fragment
from citewell.ingest.extract.links import LinkResolver
from citewell.ingest.extract.mail import is_mail, mail_messages
from citewell.ingest.extract.man import extract_man_page, is_man_source
from citewell.ingest.extract.page_name import name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import FetchedPage

_MAX_TITLE_CHARACTERS = 120
_MAX_HEADING_CHARACTERS = 72
_OPENING_LINES = 40
# In an RFC or a man page all but the headings is indented.
_INDENTED_SHARE = 0.5
_NUMBER = re.compile(r"(?:appendix )?(\d{1,3}|[A-Z])((?:\.\d{1,3}){0,5})\.?\s", re.IGNORECASE)
_COLUMNS = re.compile(r"\S {3,}\S")
_PAGE_NUMBER = re.compile(r"\[Page \w+\]$|^\W*\d+\W*$")
_DIGITS = re.compile(r"\d+")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,}|~{3,}|\^{3,})$")


def extract_text(fetched: FetchedPage) -> ExtractedPage:
    """Return plain text as it stands, in sections where it has headings; man pages are rendered.

    Raises:
        EmptyPage: there is no text.
    """
    if is_man_source(fetched.text):
        return extract_man_page(fetched)
    writer = CanonicalWriter()
    if is_mail(fetched.text):
        title, text = _mark_messages(fetched, writer)
    else:
        lines = clean_plain_text(_without_page_breaks(fetched.text)).split("\n")
        title, text = _title_of(lines), _mark_headings(lines, writer)
    if not text.strip():
        raise EmptyPage(f"{fetched.final_url} holds no readable text")
    canonical = writer.finish(text)
    is_short = 0 < len(title) <= _MAX_TITLE_CHARACTERS
    return ExtractedPage(
        title=title if is_short else name_of(fetched.final_url),
        text=canonical.text,
        kind="text",
        language=detect_language(canonical.text),
        sections=canonical.sections,
    )


def _mark_messages(fetched: FetchedPage, writer: CanonicalWriter) -> tuple[str, str]:
    """Return the subject of an archive's first message, and all messages, a section each."""
    links = LinkResolver(fetched.final_url)
    messages = mail_messages(fetched.text)
    shown: list[str] = []
    for message in messages:
        mark = writer.mark_section(2, message.subject, None)
        body = message.body or join_blocks(render_fragment(message.html, writer, links))
        shown.append(f"{mark}## {message.subject}\n\n{message.about}\n\n{body}")
    return (messages[0].subject if messages else ""), "\n\n".join(shown)


def _without_page_breaks(text: str) -> str:
    """Return text without the feet and heads of printed pages, between which forms are fed."""
    pages = [page.strip("\n").split("\n") for page in text.split("\f")]
    heads = Counter(_DIGITS.sub("0", page[0]) for page in pages[1:])
    kept: list[str] = []
    for place, page in enumerate(pages):
        if place and heads[_DIGITS.sub("0", page[0])] >= max(1, (len(pages) - 1) / 2):
            page = page[1:]
        if len(pages) > 1 and page and _PAGE_NUMBER.search(page[-1].rstrip()):
            page = page[:-1]
        kept.append("\n".join(page).strip("\n"))
    return "\n\n".join(kept) if len(pages) > 1 else text


def _title_of(lines: Sequence[str]) -> str:
    """Return the first line, without the signs of a heading or a comment before it.

    Where that is columns, it is the first centred one below.
    """
    opening = [line for line in lines[:_OPENING_LINES] if line.strip()]
    first = next(iter(opening), "")
    if _COLUMNS.search(first.strip()):
        centred = (line for line in opening if line.startswith(" " * 8))
        first = next((line for line in centred if not _COLUMNS.search(line.strip())), first)
    title = collapse_spaces(first).strip()
    return title.lstrip("#").strip() or title


def _mark_headings(lines: Sequence[str], writer: CanonicalWriter) -> str:
    full = [line for line in lines if line.strip()]
    indented = sum(line.startswith("  ") for line in full)
    is_indented = indented >= _INDENTED_SHARE * len(full)
    marked: list[str] = []
    for place, line in enumerate(lines):
        before = lines[place - 1].strip() if place else ""
        after = lines[place + 1].rstrip() if place + 1 < len(lines) else ""
        is_alone = not before and 0 < len(line.rstrip()) <= _MAX_HEADING_CHARACTERS
        if is_alone and not line.startswith(" ") and _is_heading(line, after, is_indented):
            heading = collapse_spaces(line).strip()
            marked.append(writer.mark_section(_level(heading), heading, None) + line)
        else:
            marked.append(line)
    return "\n".join(marked)


def _is_heading(line: str, after: str, is_indented: bool) -> bool:
    if _UNDERLINE.fullmatch(after) and abs(len(after) - len(line.rstrip())) <= 2:
        return True
    ends_open = not line.rstrip().endswith((".", ",", ";"))
    is_title = (ends_open or _NUMBER.match(line) is not None) and not _COLUMNS.search(line)
    return is_indented and not after and is_title


def _level(heading: str) -> int:
    """Return the level of a heading: 2, and deeper by the dots of its number."""
    number = _NUMBER.match(heading)
    return min(2 + (number.group(2).count(".") if number is not None else 0), 6)
