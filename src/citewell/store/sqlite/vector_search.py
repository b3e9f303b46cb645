"""Vectors of chunks: writing them, and finding those nearest to a query."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from citewell.core.frozen import frozen
from citewell.core.records import Hit
from citewell.store.filters import allowed_pages
from citewell.store.sqlite.session import SQL, SqliteSession, run_to_end
from citewell.store.sqlite.vector_codes import VectorCodes

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from citewell.core.records import SearchFilter

    Vector = npt.NDArray[np.float32]
    Read = Callable[[Callable[[sqlite3.Connection], Any]], Any]

# How many of the nearest codes are compared exactly. On 100,000 made-up vectors of 384
# dimensions 200 held .997 of the ten nearest and 300 all; real ones are given some room.
_RESCORED = 500
_RESCORED_PER_HIT = 5
# Vectors that become codes at a stretch, so that they are never all in memory.
_BATCH_ROWS = 4096
# Vectors that the mean is taken of when there are more than one batch.
_SAMPLE = 4096


@frozen
class _Model:
    model_id: int
    dimensions: int
    revision: int


class VectorSearch:
    """The nearest chunks by cosine: packed codes choose candidates, stored vectors decide.

    The codes are a cache of one model's vectors. Each search first takes in what was written since
    the last, by this process or another; chunks that are gone are noticed when they are rescored.
    """

    def __init__(self, *, most_chunks_to_wait_for: int) -> None:
        self._most_chunks_to_wait_for = most_chunks_to_wait_for
        self._lock = threading.Lock()
        self._codes = VectorCodes(0)
        self._model_id = 0
        self._revision = 0
        self._loaded_model: str | None = None
        self._loading: threading.Thread | None = None
        self._is_closed = False

    def is_loaded(self, model: str) -> bool:
        """Return whether the codes of a model were loaded."""
        return self._loaded_model == model

    def is_ready(self, model: str, read: Read) -> bool:
        """Return whether a search need not wait for codes; else they are loaded in the background.

        `read` runs work on a separate connection, in the calling thread.
        """
        if self._loading is not None and self._loading.is_alive():
            return False
        chunks = read(lambda connection: connection.execute(SQL["corpus_totals"]).fetchone()[0])
        if chunks <= self._most_chunks_to_wait_for:
            return True

        def load(connection: sqlite3.Connection) -> None:
            known = _find_model(connection, model)
            if known is not None and known.dimensions:
                with self._lock:
                    self._catch_up(connection, known)
            self._loaded_model = model

        self._loading = threading.Thread(target=read, args=(load,), daemon=True)
        self._loading.start()
        return False

    def close(self) -> None:
        """Stop loading, and return once nothing is read any more."""
        self._is_closed = True
        if self._loading is not None:
            self._loading.join()

    def search(
        self,
        connection: sqlite3.Connection,
        vector: Vector,
        *,
        model: str,
        where: SearchFilter,
        limit: int,
    ) -> list[Hit]:
        """Return the `limit` chunks that pass `where` and are nearest, best first."""
        known = _find_model(connection, model)
        if known is None or not known.dimensions or limit < 1:
            return []
        query = _unit(vector, dimensions=known.dimensions)
        allowed = run_to_end(allowed_pages(SqliteSession(connection), where))
        sources = (
            np.array(json.loads(allowed.source_ids), np.int64) if allowed is not None else None
        )
        count = max(_RESCORED, _RESCORED_PER_HIT * limit)
        while True:
            candidates, revision = self._candidates(
                connection, query, known=known, model=model, sources=sources, count=count
            )
            ids, vectors = _load_vectors(connection, candidates, known=known)
            gone = np.setdiff1d(candidates, ids)
            # A snapshot older than the codes lacks the newest chunks.
            if not len(gone) or revision != known.revision:
                break
            self._forget(connection, gone, known=known, many=2 * len(gone) > len(candidates))
        scores = vectors @ query
        best = np.lexsort((ids, -scores))[:limit]
        return [Hit(chunk_id=int(ids[i]), score=float(scores[i])) for i in best]

    def _candidates(
        self,
        connection: sqlite3.Connection,
        query: Vector,
        *,
        known: _Model,
        model: str,
        sources: npt.NDArray[np.int64] | None,
        count: int,
    ) -> tuple[npt.NDArray[np.int64], int]:
        with self._lock:
            self._catch_up(connection, known)
            self._loaded_model = model
            return self._codes.nearest(query, count, sources=sources), self._revision

    def _catch_up(self, connection: sqlite3.Connection, known: _Model) -> None:
        if known.model_id != self._model_id:
            self._load(connection, known)
        elif known.revision > self._revision:
            values = {"model_id": known.model_id, "revision": self._revision}
            self._add(connection.execute(SQL["vectors_since"], values), known)
            self._revision = known.revision
            if self._codes.is_off_centre:
                self._load(connection, known)

    def _load(self, connection: sqlite3.Connection, known: _Model) -> None:
        codes = VectorCodes(known.dimensions)
        chunks = connection.execute(SQL["corpus_totals"]).fetchone()["chunks"]
        if chunks > _BATCH_ROWS:
            # The first rows are of the oldest pages, and their mean is not that of all.
            ids = connection.execute(SQL["chunk_id_range"]).fetchone()
            places = np.linspace(ids["lowest"], ids["highest"], _SAMPLE)
            _, sample = _load_vectors(connection, places.astype(np.int64), known=known)
            if len(sample):
                codes.centre(sample, stand_for=chunks)
        after = 0
        while not self._is_closed:
            values = {"model_id": known.model_id, "after": after, "limit": _BATCH_ROWS}
            row = connection.execute(SQL["vectors_after"], values).fetchone()
            ids = np.array(json.loads(row["chunk_ids"]), np.int64)
            if not len(ids):
                break
            sources = np.array(json.loads(row["source_ids"]), np.int64)
            codes.add(ids, sources, _unpack(row["vectors"], dimensions=known.dimensions))
            after = int(ids[-1])
        self._codes = codes
        self._model_id, self._revision = known.model_id, known.revision

    def _add(self, found: sqlite3.Cursor, known: _Model) -> None:
        ids: list[int] = []
        sources: list[int] = []
        # Filled row by row: a list of all rows would need twice the memory.
        packed = bytearray()
        for chunk_id, source_id, vector in found:
            ids.append(chunk_id)
            sources.append(source_id)
            packed += vector
        vectors = _unpack(packed, dimensions=known.dimensions)
        self._codes.add(np.array(ids, np.int64), np.array(sources, np.int64), vectors)

    def _forget(
        self,
        connection: sqlite3.Connection,
        gone: npt.NDArray[np.int64],
        *,
        known: _Model,
        many: bool,
    ) -> None:
        """Drop the codes of chunks that are gone and what else is gone of their pages.

        When `many` were met, a whole site may be: then the codes of all pages that are gone.
        """
        with self._lock:
            if self._model_id != known.model_id or self._revision != known.revision:
                return
            if many:
                self._codes.retain_sources(_ids_of(connection, "all_source_ids", {}))
            sources = self._codes.sources_of(gone)
            asked = {"model_id": known.model_id, "source_ids": json.dumps(sources.tolist())}
            left = _ids_of(connection, "embedded_chunk_ids_of_pages", asked)
            self._codes.retain(left, sources=sources)
            self._codes.discard(gone)


def put_vectors(
    connection: sqlite3.Connection, vectors: Mapping[int, Vector], *, model: str
) -> int:
    """Store the vectors of chunks and return how many chunks still exist.

    Raises:
        ValueError: a vector is not finite, or its length is not that of the model's others.
    """
    if not vectors:
        return 0
    dimensions = len(next(iter(vectors.values())))
    values = {"name": model, "dimensions": dimensions}
    known = _Model(**connection.execute(SQL["next_revision"], values).fetchone())
    rows = [
        (
            known.model_id,
            known.revision,
            _unit(vector, dimensions=known.dimensions).astype("<f2").tobytes(),
            chunk_id,
        )
        for chunk_id, vector in vectors.items()
    ]
    return connection.executemany(SQL["put_vector"], rows).rowcount


def pass_over(connection: sqlite3.Connection, chunk_ids: Sequence[int], *, model: str) -> None:
    """Note that `model` makes no vectors of these chunks."""
    values = {"name": model, "dimensions": 0}
    known = _Model(**connection.execute(SQL["next_revision"], values).fetchone())
    passed = {
        "model_id": known.model_id,
        "revision": known.revision,
        "chunk_ids": json.dumps([*chunk_ids]),
    }
    connection.execute(SQL["pass_over"], passed)


def get_vectors(
    connection: sqlite3.Connection, chunk_ids: Sequence[int], *, model: str
) -> dict[int, Vector]:
    """Return the vectors of `model` that these chunks have."""
    known = _find_model(connection, model)
    if known is None or not known.dimensions:
        return {}
    ids, vectors = _load_vectors(connection, np.array(chunk_ids, np.int64), known=known)
    return {int(chunk_id): vector for chunk_id, vector in zip(ids, vectors, strict=True)}


def compare_vectors(
    connection: sqlite3.Connection, chunk_ids: Sequence[int], vector: Vector, *, model: str
) -> dict[int, float]:
    """Return the cosine to `vector` of those of the chunks that have one of `model`."""
    vectors = get_vectors(connection, chunk_ids, model=model)
    query = _unit(vector, dimensions=len(vector))
    return {chunk_id: float(stored @ query) for chunk_id, stored in vectors.items()}


def _ids_of(
    connection: sqlite3.Connection, statement: str, values: Mapping[str, object]
) -> npt.NDArray[np.int64]:
    """Return the ids that a statement packs into one JSON list."""
    packed = connection.execute(SQL[statement], values).fetchone()[0]
    return np.array(json.loads(packed), np.int64)


def _find_model(connection: sqlite3.Connection, name: str) -> _Model | None:
    row = connection.execute(SQL["find_model"], {"name": name}).fetchone()
    return _Model(**row) if row else None


def _load_vectors(
    connection: sqlite3.Connection, chunk_ids: npt.NDArray[np.int64], *, known: _Model
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    # Ascending order reads neighbouring rows from disk.
    asked = json.dumps(np.unique(chunk_ids).tolist())
    values = {"chunk_ids": asked, "model_id": known.model_id}
    row = connection.execute(SQL["vectors_of_chunks"], values).fetchone()
    vectors = _unpack(row["vectors"], dimensions=known.dimensions)
    return np.array(json.loads(row["chunk_ids"]), np.int64), vectors.astype(np.float32)


def _unpack(packed: bytes | bytearray, *, dimensions: int) -> npt.NDArray[np.float16]:
    return np.frombuffer(packed, "<f2").reshape(-1, dimensions)


def _unit(vector: Vector, *, dimensions: int) -> Vector:
    """Return the vector scaled to length one, so that a product of two is their cosine."""
    if vector.shape != (dimensions,):
        raise ValueError(f"a vector of this model has {dimensions} numbers, not {vector.shape}")
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length):
        raise ValueError("a vector holds numbers that are not finite")
    return np.asarray(vector / length if length else vector, np.float32)
