"""A piece of HTML inside another format, as Markdown blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.ingest.extract.html.blocks import BlockRenderer
from citewell.ingest.extract.html.tree import parse_document

if TYPE_CHECKING:
    from citewell.ingest.extract.canonical import CanonicalWriter
    from citewell.ingest.extract.links import LinkResolver


def render_fragment(html: str, writer: CanonicalWriter, links: LinkResolver) -> list[str]:
    """Return all that a reader would see of `html`, nothing taken for boilerplate."""
    return BlockRenderer(writer, links).blocks(parse_document(html).body)
