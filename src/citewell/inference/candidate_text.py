"""The text of a candidate that a reranking model reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.inference.protocols import Candidate


def candidate_text(candidate: Candidate) -> str:
    """Return the candidate's words under its page title and headings."""
    chunk = candidate.chunk
    titles = [title for title in (chunk.title, *chunk.heading_path) if title]
    # The first heading of a page often repeats its title.
    context = " › ".join(dict.fromkeys(titles))
    return f"{context}\n{chunk.text}" if context else chunk.text
