"""MaterialStore on PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from citewell.core.materials import Material
from citewell.store.postgres.connection import SQL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import numpy.typing as npt
    from psycopg import AsyncConnection

    from citewell.store.postgres.connection import Database

    Session = AsyncConnection[dict[str, Any]]


class PostgresMaterials:
    """Pasted texts; see MaterialStore for what each method promises."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_material(
        self, owner: str, *, task: str, text_hash: str, model: str | None, now: datetime
    ) -> Material | None:
        """Return what the owner gave for the task before, and note that it was used."""
        values = {"owner": owner, "task": task, "text_hash": text_hash}

        async def find(connection: Session) -> Material | None:
            row = await (await connection.execute(SQL["find_material"], values)).fetchone()
            if row is None:
                return None
            used = {"material_id": row["material_id"], "now": now}
            await connection.execute(SQL["use_material"], used)
            return await _load(connection, row["material_id"], model=model)

        return await self._database.write(find)

    async def add_material(
        self,
        owner: str,
        *,
        task: str,
        text_hash: str,
        pieces: Sequence[str],
        max_bytes: int,
        now: datetime,
    ) -> Material:
        """Keep a text, or return the one that was kept meanwhile."""
        values = {
            "owner": owner,
            "task": task,
            "text_hash": text_hash,
            "bytes": sum(len(piece.encode()) for piece in pieces),
            "now": now,
        }

        async def add(connection: Session) -> Material:
            row = await (await connection.execute(SQL["add_material"], values)).fetchone()
            if row is None:
                known = await (await connection.execute(SQL["find_material"], values)).fetchone()
                assert known is not None, "what an insert ran into is there"
                return await _load(connection, known["material_id"], model=None)
            kept = {"material_id": row["material_id"], "pieces": list(pieces)}
            await connection.execute(SQL["add_material_pieces"], kept)
            bound = {"owner": owner, "max_bytes": max_bytes}
            await connection.execute(SQL["drop_unused_materials"], bound)
            return Material(material_id=row["material_id"], pieces=tuple(pieces))

        return await self._database.write(add)

    async def put_material_vectors(
        self,
        material_id: int,
        vectors: Mapping[int, npt.NDArray[np.float32]],
        *,
        model: str,
    ) -> None:
        """Give pieces their vectors; those of a material that is gone are dropped."""
        if not vectors:
            return
        values = {
            "material_id": material_id,
            "model": model,
            "ordinals": list(vectors),
            "numbers": np.concatenate([*vectors.values()]),
            "dimensions": len(next(iter(vectors.values()))),
        }
        await self._database.change("put_material_vectors", values)


async def _load(connection: Session, material_id: int, *, model: str | None) -> Material:
    values = {"material_id": material_id, "model": model}
    found = await connection.execute(SQL["material_pieces"], values)
    rows = await found.fetchall()
    return Material(
        material_id=material_id,
        pieces=tuple(row["text"] for row in rows),
        vectors={
            row["ordinal"]: np.array(row["vector"], np.float32)
            for row in rows
            if row["vector"] is not None
        },
    )
