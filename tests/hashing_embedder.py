"""An embedder for tests in which the real model does not matter: words hashed into a vector."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from citewell.core.words import words
from citewell.inference.protocols import Vectors


class HashingEmbedder:
    """Texts that share words have near vectors; the same text always has the same one."""

    def __init__(self, name: str = "hashing", *, dimensions: int = 128) -> None:
        self._name = name
        self._dimensions = dimensions
        self.embedded: list[str] = []
        """Every passage embedded so far."""

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def supports(self, text: str) -> bool:
        return True

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.embedded.extend(texts)
        vectors = np.empty((len(texts), self._dimensions), dtype=np.float32)
        for i, text in enumerate(texts):
            vectors[i] = self._vector(text)
        return vectors

    async def embed_query(self, text: str) -> Vectors:
        return self._vector(text)

    async def aclose(self) -> None:
        pass

    def _vector(self, text: str) -> Vectors:
        vector = np.zeros(self._dimensions, dtype=np.float32)
        for word in words(text) or [""]:
            digest = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
            vector[digest % self._dimensions] += 1.0
        return vector / np.float32(np.linalg.norm(vector))
