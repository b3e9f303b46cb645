"""The protocols of models: embedder, reader, reranker, synthesizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import StoredChunk

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Embeds text as unit vectors."""

    @property
    def name(self) -> str:
        """The model's name; vectors of different names are never compared."""

    @property
    def dimensions(self) -> int:
        """The length of a vector; 0 while only the model knows it and has not been used yet."""

    def supports(self, text: str) -> bool:
        """Return whether the model knows the language of `text` well enough to embed it."""

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, in order, shape (len(texts), dimensions).

        Raises:
            InferenceError: the model cannot be loaded or its endpoint fails.
        """

    async def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of one query, shape (dimensions,)."""

    async def aclose(self) -> None:
        """Free what the model holds."""


@frozen
class PassageUnits:
    """The input of a reader."""

    path: tuple[str, ...]
    """Its page's title and the headings above it."""
    units: tuple[str, ...]
    """Its sentences, items, rows and code blocks, in order."""


@runtime_checkable
class Reader(Protocol):
    """Scores the units of passages for a question."""

    async def read_passages(
        self, question: str, passages: Sequence[PassageUnits]
    ) -> list[tuple[float, ...]]:
        """Return for each passage the log-odds of each unit being the answer.

        Raises:
            InferenceError: the model cannot be loaded or run.
        """


class Candidate(Protocol):
    """A chunk with the evidence gathered for it before reranking."""

    @property
    def chunk(self) -> StoredChunk:
        """The chunk itself."""

    @property
    def word_score(self) -> float:
        """Its BM25 score; 0 when words did not find it."""

    @property
    def vector_score(self) -> float | None:
        """Cosine with the query; None when the chunk has no vector."""

    @property
    def fused_score(self) -> float:
        """Its score after rank fusion."""


class Reranker(Protocol):
    """Estimates how likely each candidate answers a query."""

    async def score(self, query: str, candidates: Sequence[Candidate]) -> list[float]:
        """Return, per candidate, the probability from 0 to 1 that it answers `query`."""

    async def aclose(self) -> None:
        """Free what the model holds."""


class Synthesizer(Protocol):
    """A language model that writes text."""

    @property
    def name(self) -> str:
        """The model's name in results."""

    async def write(self, prompt: str, *, max_tokens: int) -> str:
        """Return what the model writes to `prompt`.

        Raises:
            InferenceError: its endpoint fails or does not answer with text.
        """

    async def aclose(self) -> None:
        """Free what the model holds."""
