"""Vectors of chunks: writing them, and finding those nearest to a query."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import numpy as np
from psycopg import sql

from citewell.core.frozen import frozen
from citewell.core.records import Hit
from citewell.store.filters import allowed_pages, names_project_at_most
from citewell.store.postgres.session import PostgresSession
from citewell.store.postgres.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt
    from psycopg import AsyncConnection

    from citewell.core.records import SearchFilter
    from citewell.store.postgres.connection import Database

    Session = AsyncConnection[dict[str, Any]]
    Vector = npt.NDArray[np.float32]

logger = logging.getLogger(__name__)

# Up to this many vectors an exact scan is as fast as the index.
FEW_VECTORS = 10_000
# While chunks wait for their vectors there is no index up to here: one vector is added to it in the
# time that ten take when it is built of all, and comparing so many takes tenths of a second.
_MOST_WITHOUT_INDEX = 100_000
_MOST_INDEX_MEMORY_BYTES = 2**30
# Memory pgvector needs for each vector while building, beside its numbers.
_INDEX_BYTES_PER_VECTOR = 800
# The longest half-precision vectors that pgvector can index.
_MOST_DIMENSIONS = 4_000
_MODEL_SECONDS = 30.0


@frozen
class _Model:
    model_id: int
    dimensions: int
    vectors: int
    indexed: bool

    def names(self) -> dict[str, sql.Composable]:
        """Return what statements about the model's own index must have spelt out."""
        return {
            "model_id": sql.Literal(self.model_id),
            "dimensions": sql.Literal(self.dimensions),
            "index": sql.Identifier(f"chunk_vectors_{self.model_id}"),
        }

    def index_bytes(self) -> int:
        """Return how much memory the model's index should be built in."""
        needed = self.vectors * (2 * self.dimensions + _INDEX_BYTES_PER_VECTOR)
        return min(needed, _MOST_INDEX_MEMORY_BYTES)


class VectorSearch:
    """The nearest chunks by cosine; remembers for a while what is known of a model."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._models: dict[str, tuple[_Model, float]] = {}

    async def search(
        self, vector: Vector, *, model: str, where: SearchFilter, limit: int
    ) -> list[Hit]:
        """Return the `limit` chunks that pass `where` and are nearest, best first."""
        if limit < 1:
            return []
        ask = partial(self._search, vector=vector, model=model, limit=limit)
        hits: list[Hit] = []
        if names_project_at_most(where):
            hits = await self._database.look(partial(ask, only_project=where.project))
        return hits or await self._database.read(partial(ask, where=where))

    async def compare(
        self, chunk_ids: Sequence[int], vector: Vector, *, model: str
    ) -> dict[int, float]:
        """Return the cosine to `vector` of those of the chunks that have one of `model`."""

        async def work(connection: Session) -> dict[int, float]:
            known = await self._find(connection, model)
            if known is None:
                return {}
            values = {
                "vector": _unit(vector, dimensions=known.dimensions),
                "chunk_ids": [*chunk_ids],
                "model_id": known.model_id,
            }
            rows = await connection.execute(SQL["compare_vectors"], values)
            return {row["chunk_id"]: row["cosine"] async for row in rows}

        return await self._database.look(work)

    async def _search(
        self,
        connection: Session,
        *,
        vector: Vector,
        model: str,
        limit: int,
        where: SearchFilter | None = None,
        only_project: str | None = None,
    ) -> list[Hit]:
        """Return the nearest that pass `where`; none if a project stands beside `only_project`."""
        known = await self._find(connection, model)
        if known is None:
            return []
        allowed = None if where is None else await allowed_pages(PostgresSession(connection), where)
        few = allowed is not None and allowed.chunks <= FEW_VECTORS
        values = {
            "vector": _unit(vector, dimensions=known.dimensions),
            "source_ids": allowed.source_ids if allowed is not None else None,
            "only_project": only_project,
            "model_id": known.model_id,
            "limit": limit,
        }
        if known.indexed and not few:
            statement = sql.SQL(SQL["nearest_by_index"]).format(**known.names())
            found = await connection.execute(statement, values)
        elif allowed is not None:
            found = await connection.execute(SQL["nearest_of_pages"], values)
        else:
            found = await connection.execute(SQL["nearest_exactly"], values)
        hits = [Hit(chunk_id=row["chunk_id"], score=row["score"]) for row in await found.fetchall()]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))

    async def _find(self, connection: Session, model: str) -> _Model | None:
        """Return the model if it has vectors; that it has an index may be noticed a little late."""
        known, until = self._models.get(model, (None, 0.0))
        if anyio.current_time() < until:
            return known
        found = await _find_model(connection, model)
        if found is None or not found.dimensions:
            return None
        self._models[model] = found, anyio.current_time() + _MODEL_SECONDS
        return found


async def put_vectors(connection: Session, vectors: Mapping[int, Vector], *, model: str) -> int:
    """Store the vectors of chunks and return how many chunks still exist.

    Raises:
        ValueError: a vector is not finite, or its length is not that of the model's others.
    """
    if not vectors:
        return 0
    dimensions = len(next(iter(vectors.values())))
    known = await _use_model(connection, model, dimensions=dimensions)
    values = {
        "model_id": known.model_id,
        "chunk_ids": list(vectors),
        "dimensions": known.dimensions,
        "numbers": np.concatenate(
            [_unit(vector, dimensions=known.dimensions) for vector in vectors.values()]
        ),
    }
    stored = await connection.execute(SQL["put_vectors"], values)
    count = {"model_id": known.model_id, "count": stored.rowcount}
    await connection.execute(SQL["count_vectors"], count)
    return stored.rowcount


async def index_vectors(database: Database, model: str) -> None:
    """Build the index of the model's vectors once there are many, without blocking writers.

    As long as more are to come it is put off, but not for ever.
    """
    known = await database.look(partial(_find_model, model=model))
    if known is None or known.indexed or known.vectors < FEW_VECTORS:
        return
    if known.dimensions > _MOST_DIMENSIONS:
        return
    waiting = await database.fetch_one("chunk_to_embed", {"model": model})
    if waiting is not None and known.vectors < _MOST_WITHOUT_INDEX:
        return
    model_now = known

    async def build(connection: Session) -> None:
        key = {"model_id": model_now.model_id}
        row = await (await connection.execute(SQL["lock_index"], key)).fetchone()
        if row is None or not row["locked"]:
            return
        try:
            logger.info("building the index of %d vectors", model_now.vectors)
            # Drop an index left half-built by a process that died.
            await connection.execute(sql.SQL(SQL["drop_index"]).format(**model_now.names()))
            await connection.execute(SQL["give_index_memory"], {"bytes": model_now.index_bytes()})
            await connection.execute(sql.SQL(SQL["build_index"]).format(**model_now.names()))
            await connection.execute(SQL["count_models"])
            await connection.execute(SQL["note_index"], key)
        finally:
            await connection.execute(SQL["take_index_memory_back"], prepare=False)
            await connection.execute(SQL["unlock_index"], key)

    await database.run_alone(build)


async def pass_over(connection: Session, chunk_ids: Sequence[int], *, model: str) -> None:
    """Note that `model` makes no vectors of these chunks."""
    known = await _use_model(connection, model, dimensions=0)
    values = {"model_id": known.model_id, "chunk_ids": [*chunk_ids]}
    await connection.execute(SQL["pass_over"], values)


async def get_vectors(
    connection: Session, chunk_ids: Sequence[int], *, model: str
) -> dict[int, Vector]:
    """Return the vectors of `model` that these chunks have."""
    values = {"chunk_ids": [*chunk_ids], "model": model}
    rows = await connection.execute(SQL["vectors_of_chunks"], values)
    return {row["chunk_id"]: np.array(row["vector"], np.float32) async for row in rows}


async def _find_model(connection: Session, model: str) -> _Model | None:
    row = await (await connection.execute(SQL["find_model"], {"name": model})).fetchone()
    return _Model(**row) if row else None


async def _use_model(connection: Session, model: str, *, dimensions: int) -> _Model:
    values = {"name": model, "dimensions": dimensions}
    row = await (await connection.execute(SQL["use_model"], values)).fetchone()
    assert row is not None, "an upsert returns its row"
    return _Model(**row)


def _unit(vector: Vector, *, dimensions: int) -> Vector:
    """Return `vector` with length 1, or as it is when it is all zeros."""
    if vector.shape != (dimensions,):
        raise ValueError(f"a vector of this model has {dimensions} numbers, not {vector.shape}")
    if not np.isfinite(vector).all():
        raise ValueError("a vector holds a number that is not finite")
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector
