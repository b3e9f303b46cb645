"""Renderer: what the parts of a page ask of whoever renders the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.ingest.extract.html.element import Element


class Renderer(Protocol):
    """Turns elements into Markdown blocks and keeps track of sections."""

    def blocks(self, element: Element) -> list[str]:
        """Return the blocks inside the element, in order."""

    def block(self, element: Element) -> list[str]:
        """Return the element itself as blocks."""

    def paragraphs(self, children: Sequence[Element | str]) -> list[str]:
        """Return running text as paragraphs."""

    def line(self, children: Sequence[Element | str]) -> str:
        """Return running text on one line."""

    def plain_line(self, children: Sequence[Element | str]) -> str:
        """Return running text on one line, without emphasis."""

    def open_section(self, heading: str, anchor: str) -> str:
        """Open a section one level below the heading in force and return its mark."""

    def close_section(self, *, is_continued: bool = False) -> None:
        """Close it; text that follows belongs to the heading around it again, or still to it."""
