"""Vectors as packed sign bits in memory: which chunks are worth an exact look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Ids = npt.NDArray[np.int64]

_BITS_PER_WORD = 64
# The scan goes block by block, so that its scratch arrays stay small.
_BLOCK_ROWS = 8192
_TOO_FAR = np.iinfo(np.uint16).max
_NO_ID = -1
# From a quarter of the rows on, moving the others together costs less than scanning the dead.
_MOST_DEAD_SHARE = 4


class VectorCodes:
    """One bit per dimension and chunk: on which side of the mean the vector lies.

    The number of bits in which two codes differ orders vectors nearly as their cosine does, and
    takes a sixteenth of the memory of half precision. The mean is that of the first vectors given,
    unless `centre` was given others; when there are many more, `is_off_centre` says that rebuilding
    would make better codes.
    """

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._words = -(-dimensions // _BITS_PER_WORD)
        self._mean = np.zeros(dimensions, np.float32)
        self._centred_on = 0
        self._size = 0
        self._ids = np.empty(0, np.int64)
        self._sources = np.empty(0, np.int64)
        # Word by word rather than row by row: the scan then runs over contiguous memory.
        self._codes = np.empty((self._words, 0), np.uint64)
        # Rows that are forgotten stay where they are until there are many.
        self._dead = np.empty(0, np.int64)
        self._highest_id = -1

    def __len__(self) -> int:
        return self._size - len(self._dead)

    @property
    def is_off_centre(self) -> bool:
        """Whether there are over twice as many vectors as the mean was taken of."""
        return len(self) > 2 * self._centred_on

    def centre(self, vectors: npt.NDArray[np.floating], *, stand_for: int) -> None:
        """Take the mean of these vectors, a sample of `stand_for` that will be given."""
        self._mean = vectors.mean(axis=0, dtype=np.float32)
        self._centred_on = stand_for

    def add(self, ids: Ids, sources: Ids, vectors: npt.NDArray[np.floating]) -> None:
        """Take in one vector per id; an id that was there before is replaced."""
        if not len(ids):
            return
        if not self._centred_on:
            self.centre(vectors, stand_for=len(ids))
        if ids.min() <= self._highest_id:
            self.discard(ids)
        self._highest_id = max(self._highest_id, int(ids.max()))
        self._reserve(self._size + len(ids))
        end = self._size + len(ids)
        self._ids[self._size : end] = ids
        self._sources[self._size : end] = sources
        self._codes[:, self._size : end] = self._encode(vectors).T
        self._size = end

    def discard(self, ids: Ids) -> None:
        """Forget these ids; those that are not there do not matter."""
        self._bury(np.isin(self._ids[: self._size], ids))

    def retain(self, ids: Ids, *, sources: Ids) -> None:
        """Forget all ids of these pages but `ids`."""
        of_sources = np.isin(self._sources[: self._size], sources)
        self._bury(of_sources & ~np.isin(self._ids[: self._size], ids))

    def retain_sources(self, sources: Ids) -> None:
        """Forget all pages but these."""
        self._bury(~np.isin(self._sources[: self._size], sources))

    def sources_of(self, ids: Ids) -> Ids:
        """Return the pages that these ids are of, each once."""
        return np.unique(self._sources[: self._size][np.isin(self._ids[: self._size], ids)])

    def nearest(
        self, vector: npt.NDArray[np.float32], count: int, *, sources: Ids | None = None
    ) -> Ids:
        """Return the `count` ids whose codes are nearest, of these pages only, in no order."""
        if not self._size:
            return np.empty(0, np.int64)
        distances = self._distances(self._encode(vector[np.newaxis])[0])
        distances[self._dead] = _TOO_FAR
        candidates = len(self)
        if sources is not None:
            allowed = self._mask(sources)
            allowed[self._dead] = False
            distances[~allowed] = _TOO_FAR
            candidates = int(np.count_nonzero(allowed))
        return self._ids[_smallest(distances, min(count, candidates), self._dimensions)]

    def _encode(self, vectors: npt.NDArray[np.floating]) -> npt.NDArray[np.uint64]:
        bits = np.packbits(vectors > self._mean, axis=1)
        padded = np.zeros((len(vectors), self._words * 8), np.uint8)
        padded[:, : bits.shape[1]] = bits
        return padded.view(np.uint64)

    def _distances(self, code: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint16]:
        distances = np.zeros(self._size, np.uint16)
        differing = np.empty(min(_BLOCK_ROWS, self._size), np.uint64)
        counts = np.empty(differing.shape, np.uint8)
        for start in range(0, self._size, _BLOCK_ROWS):
            end = min(start + _BLOCK_ROWS, self._size)
            rows = end - start
            for word in range(self._words):
                np.bitwise_xor(self._codes[word, start:end], code[word], out=differing[:rows])
                np.bitwise_count(differing[:rows], out=counts[:rows])
                distances[start:end] += counts[:rows]
        return distances

    def _mask(self, sources: Ids) -> npt.NDArray[np.bool_]:
        held = self._sources[: self._size]
        # A table by source id: one look-up per row instead of a set operation over all of them.
        allowed = np.zeros(int(held.max(initial=0)) + 1, np.bool_)
        allowed[sources[sources < len(allowed)]] = True
        mask: npt.NDArray[np.bool_] = allowed[held]
        return mask

    def _reserve(self, size: int) -> None:
        capacity = len(self._ids)
        if size <= capacity:
            return
        # Half as much again, so that many small additions do not copy everything each time.
        extra = max(size, capacity + capacity // 2) - capacity
        self._ids = np.concatenate([self._ids, np.empty(extra, np.int64)])
        self._sources = np.concatenate([self._sources, np.empty(extra, np.int64)])
        empty = np.empty((self._words, extra), np.uint64)
        self._codes = np.concatenate([self._codes, empty], axis=1)

    def _bury(self, gone: npt.NDArray[np.bool_]) -> None:
        if not gone.any():
            return
        gone[self._dead] = True
        self._dead = np.flatnonzero(gone)
        # An id that is given again must not be found where it was.
        self._ids[self._dead] = _NO_ID
        if len(self._dead) > self._size // _MOST_DEAD_SHARE:
            self._retain(~gone)

    def _retain(self, mask: npt.NDArray[np.bool_]) -> None:
        self._ids = self._ids[: self._size][mask]
        self._sources = self._sources[: self._size][mask]
        self._codes = np.ascontiguousarray(self._codes[:, : self._size][:, mask])
        self._size = len(self._ids)
        self._dead = np.empty(0, np.int64)


def _smallest(
    distances: npt.NDArray[np.uint16], count: int, dimensions: int
) -> npt.NDArray[np.int64]:
    """Return the places of the `count` smallest distances; ties at the edge go to the earlier."""
    near = distances[distances <= dimensions]
    totals = np.cumsum(np.bincount(near, minlength=dimensions + 1))
    edge = int(np.searchsorted(totals, count))
    inside = np.flatnonzero(distances < edge)
    at_edge = np.flatnonzero(distances == edge)[: count - len(inside)]
    return np.concatenate([inside, at_edge])
