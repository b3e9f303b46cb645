"""An embedder that remembers every vector on disk, so that measuring again is quick."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from citewell.core.ids import content_hash
from citewell.inference.protocols import Embedder, PassageUnits, Reader, Vectors


class CachedEmbedder:
    """Another embedder, with its vectors kept by the text they were made of."""

    def __init__(self, embedder: Embedder, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._embedder = embedder
        self._kept = sqlite3.connect(path, timeout=60, isolation_level=None)
        self._kept.execute("PRAGMA journal_mode=WAL")
        self._kept.execute("CREATE TABLE IF NOT EXISTS vector (key TEXT PRIMARY KEY, value BLOB)")

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def supports(self, text: str) -> bool:
        return self._embedder.supports(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        keys = [content_hash(f"{self.name} passage {text}") for text in texts]
        vectors = {key: vector for key in set(keys) if (vector := self._get(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        if missing:
            made = await self._embedder.embed_passages(list(missing.values()))
            for key, vector in zip(missing, made, strict=True):
                vectors[key] = vector
                self._put(key, vector)
        if not keys:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return np.stack([vectors[key] for key in keys])

    async def embed_query(self, text: str) -> Vectors:
        key = content_hash(f"{self.name} query {text}")
        vector = self._get(key)
        if vector is None:
            vector = await self._embedder.embed_query(text)
            self._put(key, vector)
        return vector

    async def read_passages(
        self, question: str, passages: Sequence[PassageUnits]
    ) -> list[tuple[float, ...]]:
        if not isinstance(self._embedder, Reader):
            return [() for _ in passages]
        return await self._embedder.read_passages(question, passages)

    async def aclose(self) -> None:
        self._kept.close()
        await self._embedder.aclose()

    def _get(self, key: str) -> Vectors | None:
        row = self._kept.execute("SELECT value FROM vector WHERE key = ?", (key,)).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float32)

    def _put(self, key: str, vector: Vectors) -> None:
        value = np.asarray(vector, dtype=np.float32).tobytes()
        self._kept.execute("INSERT OR REPLACE INTO vector VALUES (?, ?)", (key, value))
