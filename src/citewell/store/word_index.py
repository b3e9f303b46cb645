"""Which words of a chunk are indexed, whatever the database, and that it is what it claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from citewell.core.off_loop import in_thread
from citewell.core.words import text_words, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import Chunk, PageDraft

MANY_CHUNKS = 100
"""A page with more is prepared beside the event loop, before it is written."""


class IndexedWords(NamedTuple):
    """The words of a chunk, those of its headings apart, and how many there are in all."""

    heading: str
    """Joined by spaces, as the body is."""
    body: str
    total: int


class WordIndex:
    """Yields the words of a page's chunks; those of a heading path are tokenised once."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._of_path: dict[tuple[str, ...], list[str]] = {}
        self._prepared: dict[int, IndexedWords] = {}

    def prepare(self, chunks: Sequence[Chunk]) -> None:
        """Tokenise the chunks of the page, so that `words_of` has nothing left to do."""
        self._prepared = {chunk.ordinal: self.words_of(chunk) for chunk in chunks}

    def words_of(self, chunk: Chunk) -> IndexedWords:
        """Return the words that find the chunk."""
        if chunk.ordinal in self._prepared:
            return self._prepared[chunk.ordinal]
        path = chunk.heading_path
        heading = self._of_path.get(path)
        if heading is None:
            shown = [self._title, *(part for part in path if part != self._title)]
            heading = self._of_path[path] = words("\n".join(shown))
        body = text_words(chunk.text)
        return IndexedWords(" ".join(heading), " ".join(body), len(heading) + len(body))


async def index_words(draft: PageDraft) -> WordIndex:
    """Return the word index of a page, prepared where it has many chunks."""
    index = WordIndex(draft.extracted.title)
    if len(draft.chunks) > MANY_CHUNKS:
        await in_thread(index.prepare, draft.chunks)
    return index


def check_slices(draft: PageDraft) -> None:
    """Reject a page whose chunks are not slices of its text.

    Raises:
        ValueError: a chunk is not the slice that it claims to be.
    """
    text = draft.extracted.text
    for chunk in draft.chunks:
        if text[chunk.start : chunk.end] != chunk.text:
            raise ValueError(f"chunk {chunk.ordinal} is not the slice of the text it claims to be")
