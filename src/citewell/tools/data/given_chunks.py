"""Compose a page of chunks that were cut elsewhere, with exact spans."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.language import detect_language
from citewell.core.records import Chunk, ExtractedPage, FetchedPage, PageDraft, Section
from citewell.core.text import one_line
from citewell.core.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citewell.core.library import Website

_HEADER = re.compile(r"Header ([1-6])")


@frozen
class GivenChunk:
    """The text of a chunk and the headings above it, by level."""

    content: str
    headings: Mapping[int, str]


def parse_headings(metadata: Mapping[str, str]) -> dict[int, str]:
    """Return the headings of metadata such as `{"Header 2": "Requirements"}`, by level."""
    headings = {
        int(match[1]): one_line(value)
        for key, value in metadata.items()
        if (match := _HEADER.fullmatch(key)) and value.strip()
    }
    return dict(sorted(headings.items()))


def compose_page(website: Website, chunks: Sequence[GivenChunk], *, supplied_by: str) -> PageDraft:
    """Return the page of a website that consists of these chunks, in order."""
    pen = _Pen()
    placed = [pen.write(chunk) for chunk in chunks]
    text = pen.text
    title = website.title or next(
        (section.heading for section in pen.sections if section.heading), ""
    )
    extracted = ExtractedPage(
        title=title,
        text=text,
        kind="markdown",
        language=detect_language(text),
        sections=pen.closed_sections(),
    )
    fetched = FetchedPage(
        url=website.url,
        final_url=website.url,
        status=200,
        kind="markdown",
        body=text.encode("utf-8", "surrogatepass"),
        text=text,
        fetched_at=datetime.now(UTC),
        origin="supplied",
        supplied_by=supplied_by,
    )
    return PageDraft(
        url=website.url,
        fetched=fetched,
        extracted=extracted,
        chunks=tuple(
            _chunk(chunk, extracted, ordinal=ordinal, section=section, start=start)
            for ordinal, (chunk, (section, start)) in enumerate(zip(chunks, placed, strict=True))
        ),
        project=website.project,
        tags=website.tags,
        content_type=website.content_type,
    )


def _chunk(
    chunk: GivenChunk, page: ExtractedPage, *, ordinal: int, section: int, start: int
) -> Chunk:
    path = page.heading_path(section)
    trail = path if path and path[0] == page.title else (page.title, *path)
    return Chunk(
        ordinal=ordinal,
        section=section,
        start=start,
        end=start + len(chunk.content),
        text=chunk.content,
        tokens=count_tokens(chunk.content),
        heading_path=path,
        anchor=None,
        embedded_text=" › ".join(part for part in trail if part) + "\n" + chunk.content,
        has_code="```" in chunk.content,
    )


class _Pen:
    """Writes headings and chunks one after the other, and records their offsets."""

    def __init__(self) -> None:
        self.text = ""
        self.sections: list[Section] = []
        self._open: dict[int, str] = {}

    def write(self, chunk: GivenChunk) -> tuple[int, int]:
        """Write a chunk below its headings; return its section and where it starts."""
        if dict(chunk.headings) != self._open:
            self._enter(chunk.headings)
        elif not self.sections:
            self._add_section(0, "")
        start = len(self.text)
        self.text += chunk.content + "\n\n"
        return len(self.sections) - 1, start

    def closed_sections(self) -> tuple[Section, ...]:
        """Return the sections, each ending where the next begins."""
        ends = [section.start for section in self.sections[1:]] + [len(self.text)]
        return tuple(
            Section(
                ordinal=section.ordinal,
                parent=section.parent,
                level=section.level,
                heading=section.heading,
                anchor=None,
                start=section.start,
                end=end,
            )
            for section, end in zip(self.sections, ends, strict=True)
        )

    def _enter(self, headings: Mapping[int, str]) -> None:
        is_new = False
        for level, heading in headings.items():
            is_new = is_new or self._open.get(level) != heading
            if is_new:
                self._add_section(level, heading)
                self.text += f"{'#' * level} {heading}\n\n"
        if not is_new:
            # Back from a sub-heading: only a new section can express that.
            level, heading = list(headings.items())[-1] if headings else (0, "")
            self._add_section(level, heading)
            if heading:
                self.text += f"{'#' * level} {heading}\n\n"
        self._open = dict(headings)

    def _add_section(self, level: int, heading: str) -> None:
        above = [section for section in self.sections if 0 < section.level < level]
        parent = above[-1].ordinal if above else None
        # A heading of the same or a higher level in between closes the sections before it.
        if parent is not None and any(
            0 < section.level <= self.sections[parent].level
            for section in self.sections[parent + 1 :]
        ):
            parent = None
        self.sections.append(
            Section(
                ordinal=len(self.sections),
                parent=parent,
                level=level,
                heading=heading,
                anchor=None,
                start=len(self.text),
                end=len(self.text),
            )
        )
