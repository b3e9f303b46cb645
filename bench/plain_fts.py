"""Plain full-text search by section: what anyone has after twenty lines, to compare with."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass

from citewell.core.language import has_cjk
from citewell.core.records import SearchFilter
from citewell.store.protocol import Store

_HEADING_WEIGHT = 5.0
_TOP = 5
_WORD = re.compile(r"\w+")
_TRIGRAM = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section as FTS5 found it."""

    url: str
    heading: str
    text: str

    @property
    def shown(self) -> str:
        """What a reader would be shown of it."""
        return f"{self.heading}\n{self.url}\n{self.text}"


class PlainSearch:
    """The sections of a store in an FTS5 table of their own."""

    def __init__(self, *, trigrams: bool) -> None:
        tokenizer = "trigram" if trigrams else "porter unicode61"
        self._trigrams = trigrams
        self._rows = sqlite3.connect(":memory:")
        self._rows.execute(
            "CREATE VIRTUAL TABLE section USING "
            f"fts5(heading, body, url UNINDEXED, tokenize='{tokenizer}')"
        )

    async def fill(self, store: Store) -> None:
        """Read every page of the store, section by section."""
        last = 0
        while pages := await store.list_pages(SearchFilter(), limit=200, after_source_id=last):
            last = pages[-1].source_id
            for info in pages:
                sections: dict[int, list[str]] = {}
                headings: dict[int, str] = {}
                for chunk in await store.chunks_of_page(info.source_id):
                    sections.setdefault(chunk.section, []).append(chunk.text)
                    headings[chunk.section] = " ".join((chunk.title, *chunk.heading_path))
                self._rows.executemany(
                    "INSERT INTO section VALUES (?, ?, ?)",
                    [(headings[at], "\n".join(text), info.url) for at, text in sections.items()],
                )

    def search(self, question: str) -> list[Section]:
        """Return the five best sections: any of the question's words, the heading counting more."""
        words = _WORD.findall(question)
        if self._trigrams:
            words = [piece for word in words for piece in _trigrams(word)]
        query = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
        rows = self._rows.execute(
            "SELECT url, heading, body FROM section WHERE section MATCH ? "
            "ORDER BY bm25(section, ?, 1.0) LIMIT ?",
            (query, _HEADING_WEIGHT, _TOP),
        )
        return [Section(url=url, heading=heading, text=body) for url, heading, body in rows]


def _trigrams(word: str) -> list[str]:
    if not has_cjk(word) or len(word) <= _TRIGRAM:
        return [word]
    return [word[at : at + _TRIGRAM] for at in range(len(word) - _TRIGRAM + 1)]
