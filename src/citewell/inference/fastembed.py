"""Models of the optional `fastembed` package: embedders and cross-encoders."""

from __future__ import annotations

import importlib.util
import math
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from citewell.core.errors import InferenceError
from citewell.core.extras import install_command
from citewell.core.places import Places
from citewell.inference.candidate_text import candidate_text
from citewell.inference.local import LocalEmbedder
from citewell.inference.unit import unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.inference.protocols import Candidate, Vectors


def fastembed_embedder(model: str, *, threads: int) -> LocalEmbedder[FastembedModel]:
    """Return an embedder for one of fastembed's models, loaded (or downloaded) on first use.

    Raises:
        InferenceError: the package is not installed.
    """
    _require_package()
    return LocalEmbedder(f"fastembed:{model}", load=lambda: FastembedModel(model), threads=threads)


class FastembedModel:
    """Embed text as unit vectors; thread-safe."""

    def __init__(self, model: str) -> None:
        from fastembed import TextEmbedding

        try:
            # One thread in the session: texts are embedded side by side.
            self._model = TextEmbedding(model, threads=1)
        except Exception as error:  # fastembed raises what its parts raise
            raise _load_failure(model) from error

    def embed_passage(self, text: str) -> Vectors:
        """Return the unit vector of a passage, with the model's passage prompt."""
        return _only(self._model.passage_embed([text]))

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query, with the model's query prompt."""
        return _only(self._model.query_embed(text))


class FastembedReranker:
    """A cross-encoder of fastembed, loaded (or downloaded) on first use."""

    def __init__(self, model: str, *, threads: int) -> None:
        _require_package()
        self._name = model
        self._threads = threads
        self._places = Places(1)
        self._model: Any = None
        self._loading = threading.Lock()

    async def score(self, query: str, candidates: Sequence[Candidate]) -> list[float]:
        """Return, per candidate, the probability from 0 to 1 that it answers `query`.

        Raises:
            InferenceError: the model cannot be loaded or run.
        """
        if not candidates:
            return []
        texts = [candidate_text(candidate) for candidate in candidates]
        return await self._places.run(self._score, query, texts)

    async def aclose(self) -> None:
        """Free the model."""
        self._model = None

    def _score(self, query: str, texts: Sequence[str]) -> list[float]:
        model = self._loaded()
        try:
            logits = list(model.rerank(query, texts))
        except Exception as error:  # fastembed raises what its parts raise
            raise InferenceError(f"the reranker {self._name} failed to run") from error
        return [1 / (1 + math.exp(-max(-50.0, min(50.0, float(logit))))) for logit in logits]

    def _loaded(self) -> Any:  # noqa: ANN401 - the package is optional and untyped here
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        with self._loading:
            if self._model is None:
                try:
                    self._model = TextCrossEncoder(self._name, threads=self._threads)
                except Exception as error:  # fastembed raises what its parts raise
                    raise _load_failure(self._name) from error
            return self._model


def _only(vectors: Any) -> Vectors:  # noqa: ANN401 - the package is optional and untyped here
    try:
        return unit(np.asarray(next(iter(vectors)), dtype=np.float32))
    except Exception as error:  # fastembed raises what its parts raise
        raise InferenceError("the fastembed model failed to run") from error


def _require_package() -> None:
    if importlib.util.find_spec("fastembed") is None:
        raise InferenceError(
            "the package fastembed is not installed",
            suggestion=f"Install it with: {install_command('fastembed')}",
        )


def _load_failure(model: str) -> InferenceError:
    return InferenceError(
        f"fastembed cannot load {model}",
        suggestion="Check the model's name in fastembed's list, and the network for its download.",
    )
