"""Models behind HTTP: OpenAI-compatible embeddings, and Cohere- or Jina-style reranking."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from citewell.inference.candidate_text import candidate_text
from citewell.inference.model_endpoint import ModelEndpoint
from citewell.inference.unit import unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.inference.protocols import Candidate, Vectors

_TEXTS_PER_REQUEST = 64
_RERANK_SECONDS = 30.0
# Endpoints refuse texts above 8,192 tokens outright instead of cutting them.
_MAX_TEXT_CHARACTERS = 20_000


class RemoteEmbedder:
    """An embedder that posts to `{endpoint}/embeddings`."""

    def __init__(
        self,
        model: str,
        *,
        endpoint: str,
        api_key: str | None,
        timeout_seconds: float = 60.0,
        first_wait_seconds: float = 0.5,
    ) -> None:
        self._model = model
        self._dimensions = 0
        self._endpoint = ModelEndpoint(
            endpoint.rstrip("/") + "/embeddings",
            api_key=api_key,
            timeout_seconds=timeout_seconds,
            first_wait_seconds=first_wait_seconds,
        )

    @property
    def name(self) -> str:
        """The model's name; vectors of different names are never compared."""
        return f"openai:{self._model}"

    @property
    def dimensions(self) -> int:
        """The length of a vector; 0 until the endpoint has answered once."""
        return self._dimensions

    def supports(self, text: str) -> bool:
        """Return True: only the endpoint knows its languages."""
        return True

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, in order.

        Raises:
            InferenceError: the endpoint cannot be reached, refuses or answers wrongly.
        """
        parts = [
            await self._embed(texts[start : start + _TEXTS_PER_REQUEST])
            for start in range(0, len(texts), _TEXTS_PER_REQUEST)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self._dimensions), np.float32)

    async def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of one query.

        Raises:
            InferenceError: the endpoint cannot be reached, refuses or answers wrongly.
        """
        vectors = await self._embed([text])
        query: Vectors = vectors[0]
        return query

    async def aclose(self) -> None:
        """Close the connections."""
        await self._endpoint.aclose()

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        # An empty text is refused by some endpoints; a space is embedded by all.
        wanted = [text[:_MAX_TEXT_CHARACTERS] or " " for text in texts]
        answer = await self._endpoint.post(
            {"model": self._model, "input": wanted, "encoding_format": "float"}
        )
        rows = self._rows(answer, len(texts))
        vectors = unit(np.array(rows, dtype=np.float32))
        if self._dimensions not in (0, vectors.shape[1]):
            raise self._endpoint.unexpected_answer("vectors of another length than before")
        self._dimensions = vectors.shape[1]
        return vectors

    def _rows(self, answer: Any, count: int) -> list[list[float]]:  # noqa: ANN401 - JSON, checked here
        try:
            rows = {
                int(item["index"]): list(map(float, item["embedding"])) for item in answer["data"]
            }
        except (KeyError, TypeError, ValueError) as error:
            raise self._endpoint.unexpected_answer("something that is not embeddings") from error
        if sorted(rows) != list(range(count)):
            raise self._endpoint.unexpected_answer(f"{len(rows)} vectors for {count} texts")
        if len({len(row) for row in rows.values()}) != 1 or not rows[0]:
            raise self._endpoint.unexpected_answer("vectors of different lengths")
        return [rows[i] for i in range(count)]


class RemoteReranker:
    """A reranker that posts query and documents to `endpoint`, a full URL."""

    def __init__(
        self,
        model: str,
        *,
        endpoint: str,
        api_key: str | None,
        first_wait_seconds: float = 0.5,
    ) -> None:
        self._model = model
        self._endpoint = ModelEndpoint(
            endpoint,
            api_key=api_key,
            timeout_seconds=_RERANK_SECONDS,
            first_wait_seconds=first_wait_seconds,
        )

    async def score(self, query: str, candidates: Sequence[Candidate]) -> list[float]:
        """Return, per candidate, the probability from 0 to 1 that it answers `query`.

        Raises:
            InferenceError: the endpoint cannot be reached, refuses or answers wrongly.
        """
        if not candidates:
            return []
        documents = [candidate_text(candidate)[:_MAX_TEXT_CHARACTERS] for candidate in candidates]
        answer = await self._endpoint.post(
            {
                "model": self._model,
                "query": query[:_MAX_TEXT_CHARACTERS],
                "documents": documents,
                "top_n": len(documents),
            }
        )
        return self._scores(answer, len(documents))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._endpoint.aclose()

    def _scores(self, answer: Any, count: int) -> list[float]:  # noqa: ANN401 - JSON, checked here
        try:
            scores = {
                int(item["index"]): float(item["relevance_score"]) for item in answer["results"]
            }
        except (KeyError, TypeError, ValueError) as error:
            raise self._endpoint.unexpected_answer("something that is not a ranking") from error
        if sorted(scores) != list(range(count)):
            raise self._endpoint.unexpected_answer(f"{len(scores)} scores for {count} documents")
        ordered = [scores[i] for i in range(count)]
        if all(0.0 <= score <= 1.0 for score in ordered):
            return ordered
        # These are logits: cutting them off at 0 and 1 would lose their order.
        return [1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, score)))) for score in ordered]
