"""Giving stored chunks their vectors, in the background and at once where someone waits."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import anyio

from citewell.core.background import in_background
from citewell.core.errors import InferenceError, StoreError
from citewell.core.progress import OnProgress, Progress, no_progress
from citewell.core.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from citewell.inference.protocols import Embedder
    from citewell.store.protocol import Store

logger = logging.getLogger(__name__)

# Enough for the embedder to sort by length and pad little; few enough to lose little at a stop.
_BATCH_CHUNKS = 128
_FIRST_RETRY_SECONDS = 5.0
_LAST_RETRY_SECONDS = 300.0


class EmbeddingQueue:
    """Embeds what has no vector yet; the store itself is the queue, so a stop loses nothing."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._work = anyio.Event()
        # Whoever waits for a page and the background would otherwise embed the same chunks.
        self._turn = anyio.Lock()

    def wake(self) -> None:
        """Say that there are chunks to embed."""
        self._work.set()

    async def run(self) -> None:
        """Embed whenever there is something to embed, until cancelled."""
        retry_seconds = _FIRST_RETRY_SECONDS
        while True:
            await self._work.wait()
            self._work = anyio.Event()
            try:
                await self.embed_all()
                retry_seconds = _FIRST_RETRY_SECONDS
            except (InferenceError, StoreError) as error:
                logger.warning("embedding waits %.0f s: %s", retry_seconds, error.message)
                await anyio.sleep(retry_seconds)
                retry_seconds = min(2 * retry_seconds, _LAST_RETRY_SECONDS)
                self.wake()

    async def embed_all(
        self, *, source_ids: Sequence[int] | None = None, on_progress: OnProgress = no_progress
    ) -> int:
        """Embed every chunk (of `source_ids`) that lacks a vector; return how many.

        Raises:
            InferenceError, StoreError: some chunks are left; those done are kept.
        """
        if source_ids is not None and not await self._lack_vectors(source_ids):
            # Pages that did not change have theirs, and need not wait for the others' turn.
            return 0
        done = bytes_done = 0
        while texts := await self._embed_batch(source_ids):
            done += len(texts)
            bytes_done += sum(len(text.encode("utf-8", "replace")) for text in texts)
            message = f"Embedded {counted(done, 'chunk')}"
            progress = Progress(phase="embed", message=message, done=done, bytes_done=bytes_done)
            await on_progress(progress)
        return done

    async def _lack_vectors(self, source_ids: Sequence[int]) -> bool:
        model = self._embedder.name
        return bool(await self._store.chunks_to_embed(model=model, limit=1, source_ids=source_ids))

    async def _embed_batch(self, source_ids: Sequence[int] | None) -> list[str]:
        """Embed some chunks and return their texts; none when no chunk lacks a vector."""
        model = self._embedder.name
        async with self._turn:
            waiting = await self._store.chunks_to_embed(
                model=model, limit=_BATCH_CHUNKS, source_ids=source_ids
            )
            known = {at: text for at, text in waiting if self._embedder.supports(text)}
            if known:
                await self._store.put_vectors(await self._vectors_of(known), model=model)
            passed = [at for at, _ in waiting if at not in known]
            if passed:
                await self._store.pass_over(passed, model=model)
        return [text for _, text in waiting]

    async def _vectors_of(self, texts: Mapping[int, str]) -> dict[int, npt.NDArray[np.float32]]:
        """Return the vector of each chunk; what is said twice is embedded once.

        Two versions of a documentation site share 60 to 85 % of their chunks.
        """
        model = self._embedder.name
        twins = await self._store.releases.twins_of_chunks(list(texts), model=model)
        of_twins = await self._store.get_vectors(list(set(twins.values())), model=model)
        vectors = {at: of_twins[twin] for at, twin in twins.items() if twin in of_twins}
        new = list(dict.fromkeys(text for at, text in texts.items() if at not in vectors))
        with in_background():
            embedded = await self._embedder.embed_passages(new) if new else ()
        by_text = dict(zip(new, embedded, strict=True))
        return vectors | {at: by_text[text] for at, text in texts.items() if at not in vectors}
