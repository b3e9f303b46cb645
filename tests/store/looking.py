"""Looking into a store, as the contract tests do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from citewell.core.records import (
    SearchFilter,
)
from citewell.core.words import words
from citewell.store.protocol import Store

ALL = SearchFilter()
MODEL = "model-a"


def vector(*numbers: float) -> npt.NDArray[np.float32]:
    return np.array(numbers, np.float32)


async def found(store: Store, query: str, where: SearchFilter = ALL) -> list[str]:
    hits = await store.search_words(words(query), where=where, limit=10)
    return [chunk.text for chunk in await store.load_chunks([hit.chunk_id for hit in hits])]


async def chunk_ids(store: Store, source_id: int) -> list[int]:
    return [chunk.chunk_id for chunk in await store.chunks_of_page(source_id)]


async def nearest(
    store: Store, query: Sequence[float], where: SearchFilter = ALL, model: str = MODEL
) -> list[int]:
    hits = await store.search_vectors(vector(*query), model=model, where=where, limit=10)
    return [hit.chunk_id for hit in hits]
