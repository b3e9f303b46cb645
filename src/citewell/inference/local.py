"""An embedder that runs a model in this process: loaded on first use, one text per thread."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import anyio
import numpy as np

from citewell.core.background import is_background
from citewell.core.places import Places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from citewell.inference.protocols import Vectors

_CACHED_QUERIES = 256
# Sentences are embedded again for every question about their page, and licences and tables stand
# on many pages; this much holds some 2,000 of them.
_RECENT_BYTES = 4_000_000
# Characters that go through the model before a thread is free for another caller: some 40 ms.
_BATCH_CHARACTERS = 1_500
# Background work waits until nobody has called for so long: a search embeds its query, ranks, and
# then reads. Callers without a pause do not stop it for good.
_QUIET_SECONDS = 0.1
_MOST_PAUSES = 10


class TextModel(Protocol):
    """A loaded model; its methods block and are thread-safe."""

    def embed_passage(self, text: str) -> Vectors:
        """Return the unit vector of a passage."""

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query."""


Model = TypeVar("Model", bound=TextModel)
Task = TypeVar("Task")
Made = TypeVar("Made")


class _RecentVectors:
    """An LRU cache of vectors by text, bounded in bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()

    def get(self, text: str) -> Vectors | None:
        """Return the cached vector of `text`, if any."""
        if text not in self._vectors:
            return None
        self._vectors.move_to_end(text)
        return self._vectors[text]

    def put(self, text: str, vector: Vectors) -> None:
        """Cache a vector; the least recently used are dropped."""
        if text not in self._vectors:
            self._bytes += len(text) + vector.nbytes
            self._vectors[text] = vector
        while self._bytes > self._max_bytes:
            oldest, forgotten = self._vectors.popitem(last=False)
            self._bytes -= len(oldest) + forgotten.nbytes


def _cut_batches(
    tasks: Sequence[Task], *, length: Callable[[Task], int], threads: int
) -> list[list[Task]]:
    """Return the tasks in order, short ones together, so that every thread has some."""
    batches: list[list[Task]] = []
    lengths = [length(task) for task in tasks]
    most = min(_BATCH_CHARACTERS, -(-sum(lengths) // threads))
    room = 0
    for task, characters in zip(tasks, lengths, strict=True):
        if characters > room or not batches:
            batches.append([])
            room = most
        batches[-1].append(task)
        room -= characters
    return batches


class LocalEmbedder(Generic[Model]):
    """An `Embedder` around a `TextModel` that `load` makes when it is first needed.

    Passages of all callers share `threads` places, taken text by text, so callers advance side by
    side and a cancelled one stops after the texts under way. A query never waits for passages.
    What runs `in_background` starts no text while a caller waits, or has just been answered.
    """

    def __init__(
        self,
        name: str,
        *,
        load: Callable[[], Model],
        threads: int,
        dimensions: int = 0,
        supports: Callable[[str], bool] = lambda _text: True,
    ) -> None:
        self._name = name
        self._dimensions = dimensions
        self._load = load
        self._supports = supports
        self._threads = threads
        self._passage_places = Places(threads)
        self._query_places = Places(1)
        self._model: Model | None = None
        self._loading = threading.Lock()
        self._callers = 0
        self._quiet_at = -math.inf
        self._queries: OrderedDict[str, Vectors] = OrderedDict()
        self._recent = _RecentVectors(_RECENT_BYTES)

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
        known = {text: self._recent.get(text) for text in texts}
        vectors = {text: vector for text, vector in known.items() if vector is not None}
        # Longest first, so that no thread is left alone with a long text at the end.
        missing = sorted((text for text in known if text not in vectors), key=len, reverse=True)
        made = await self._run_each(self._embed_passage, missing, length=len)
        for text, vector in zip(missing, made, strict=True):
            vectors[text] = vector
            self._recent.put(text, vector)
        stacked = np.stack([vectors[text] for text in texts])
        self._dimensions = stacked.shape[1]
        return stacked

    async def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of one query; recent queries are cached.

        Raises:
            InferenceError: the model cannot be loaded or run.
        """
        vector = self._queries.get(text)
        if vector is None:
            with self._calling():
                vector = await self._query_places.run(self._embed_query, text)
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
        self._recent = _RecentVectors(_RECENT_BYTES)

    async def _run_each(
        self,
        work: Callable[[Task], Made],
        tasks: Sequence[Task],
        *,
        length: Callable[[Task], int],
    ) -> list[Made]:
        """Return what `work` makes of each task, in order; all callers share the places.

        `length` is how many characters of a task go through the model.
        """
        batches = _cut_batches(tasks, length=length, threads=self._threads)
        made: dict[int, list[Made]] = {}
        waiting = iter(enumerate(batches))

        def work_on(batch: Sequence[Task]) -> list[Made]:
            return [work(task) for task in batch]

        async def take() -> None:
            for place, batch in waiting:
                if is_background():
                    await self._give_way()
                made[place] = await self._passage_places.run(work_on, batch)

        try:
            with nullcontext() if is_background() else self._calling():
                async with anyio.create_task_group() as group:
                    for _ in range(min(self._threads, len(batches))):
                        group.start_soon(take)
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors.exceptions[0].__cause__
        return [each for place in range(len(batches)) for each in made[place]]

    @contextmanager
    def _calling(self) -> Iterator[None]:
        """Count a caller who waits."""
        self._callers += 1
        try:
            yield
        finally:
            self._callers -= 1
            self._quiet_at = anyio.current_time() + _QUIET_SECONDS

    async def _give_way(self) -> None:
        """Wait until no caller waits, within a limit."""
        for _ in range(_MOST_PAUSES):
            if not self._callers and anyio.current_time() >= self._quiet_at:
                return
            await anyio.sleep(_QUIET_SECONDS)

    def _embed_passage(self, text: str) -> Vectors:
        return self._loaded().embed_passage(text)

    def _embed_query(self, text: str) -> Vectors:
        return self._loaded().embed_query(text)

    def _loaded(self) -> Model:
        with self._loading:
            if self._model is None:
                self._model = self._load()
            return self._model
