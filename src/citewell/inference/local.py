"""An embedder that runs a model in this process: loaded on first use, one text per thread."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Protocol

import anyio
import anyio.to_thread
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from citewell.inference.protocols import Vectors

_CACHED_QUERIES = 256


class TextModel(Protocol):
    """A loaded model; its methods block and may be called from several threads at once."""

    def embed_passage(self, text: str) -> Vectors:
        """Return the unit vector of a passage."""

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query."""


class LocalEmbedder:
    """An `Embedder` around a `TextModel` that `load` makes when it is first needed.

    Passages of all callers share `threads` places, taken text by text, so callers advance side by
    side and a cancelled one stops after the texts under way. A query never waits for passages.
    """

    def __init__(
        self,
        name: str,
        *,
        load: Callable[[], TextModel],
        threads: int,
        dimensions: int = 0,
        supports: Callable[[str], bool] = lambda _text: True,
    ) -> None:
        self._name = name
        self._dimensions = dimensions
        self._load = load
        self._supports = supports
        self._threads = threads
        self._passage_places = anyio.CapacityLimiter(threads)
        self._query_places = anyio.CapacityLimiter(1)
        self._model: TextModel | None = None
        self._loading = threading.Lock()
        self._queries: OrderedDict[str, Vectors] = OrderedDict()

    @property
    def name(self) -> str:
        """The model's name; vectors of different names are never compared."""
        return self._name

    @property
    def dimensions(self) -> int:
        """The length of a vector; 0 until the first one is made, unless it was given."""
        return self._dimensions

    def supports(self, text: str) -> bool:
        """Return whether the model knows the language of `text` well enough to embed it."""
        return self._supports(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, in order.

        Raises:
            InferenceError: the model cannot be loaded or run.
        """
        if not texts:
            return np.empty((0, self._dimensions), dtype=np.float32)
        vectors: dict[int, Vectors] = {}
        # Longest first, so that no thread is left alone with a long text at the end.
        order = iter(sorted(range(len(texts)), key=lambda i: len(texts[i]), reverse=True))
        try:
            async with anyio.create_task_group() as group:
                for _ in range(min(self._threads, len(texts))):
                    group.start_soon(self._embed_each, texts, order, vectors)
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors.exceptions[0].__cause__
        stacked = np.stack([vectors[i] for i in range(len(texts))])
        self._dimensions = stacked.shape[1]
        return stacked

    async def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of one query; recent queries are remembered.

        Raises:
            InferenceError: the model cannot be loaded or run.
        """
        vector = self._queries.get(text)
        if vector is None:
            vector = await anyio.to_thread.run_sync(
                self._embed_query, text, limiter=self._query_places
            )
            vector.setflags(write=False)
            self._dimensions = len(vector)
            self._queries[text] = vector
        self._queries.move_to_end(text)
        if len(self._queries) > _CACHED_QUERIES:
            self._queries.popitem(last=False)
        return vector

    async def aclose(self) -> None:
        """Free the model; a later call would load it again."""
        self._model = None
        self._queries.clear()

    async def _embed_each(
        self, texts: Sequence[str], order: Iterator[int], vectors: dict[int, Vectors]
    ) -> None:
        for i in order:
            vectors[i] = await anyio.to_thread.run_sync(
                self._embed_passage, texts[i], limiter=self._passage_places
            )

    def _embed_passage(self, text: str) -> Vectors:
        return self._loaded().embed_passage(text)

    def _embed_query(self, text: str) -> Vectors:
        return self._loaded().embed_query(text)

    def _loaded(self) -> TextModel:
        with self._loading:
            if self._model is None:
                self._model = self._load()
            return self._model
