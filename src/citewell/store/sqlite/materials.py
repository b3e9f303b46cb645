"""MaterialStore on SQLite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from citewell.core.materials import Material
from citewell.store.sqlite.connection import SQL, timestamp

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import numpy.typing as npt

    from citewell.store.sqlite.connection import Database


class SqliteMaterials:
    """Pasted texts; see MaterialStore for what each method promises."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_material(
        self, owner: str, *, task: str, text_hash: str, model: str | None, now: datetime
    ) -> Material | None:
        """Return what the owner gave for the task before, and note that it was used."""
        values = {"owner": owner, "task": task, "text_hash": text_hash}

        def find(connection: sqlite3.Connection) -> Material | None:
            row = connection.execute(SQL["find_material"], values).fetchone()
            if row is None:
                return None
            used = {"material_id": row["material_id"], "now": timestamp(now)}
            connection.execute(SQL["use_material"], used)
            return _load(connection, row["material_id"], model=model)

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
        values = {"owner": owner, "task": task, "text_hash": text_hash}

        def add(connection: sqlite3.Connection) -> Material:
            row = connection.execute(SQL["find_material"], values).fetchone()
            if row is not None:
                return _load(connection, row["material_id"], model=None)
            size = sum(len(piece.encode()) for piece in pieces)
            kept = {**values, "bytes": size, "now": timestamp(now)}
            material_id = connection.execute(SQL["add_material"], kept).lastrowid
            assert material_id is not None, "an insert has a row id"
            connection.executemany(
                SQL["add_material_piece"],
                [
                    {"material_id": material_id, "ordinal": ordinal, "text": piece}
                    for ordinal, piece in enumerate(pieces)
                ],
            )
            bound = {"owner": owner, "max_bytes": max_bytes}
            connection.execute(SQL["drop_unused_materials"], bound)
            return Material(material_id=material_id, pieces=tuple(pieces))

        return await self._database.write(add)

    async def put_material_vectors(
        self,
        material_id: int,
        vectors: Mapping[int, npt.NDArray[np.float32]],
        *,
        model: str,
    ) -> None:
        """Give pieces their vectors; those of a material that is gone are dropped."""
        rows = [
            {
                "material_id": material_id,
                "ordinal": ordinal,
                "model": model,
                "vector": vector.astype(np.float16).tobytes(),
            }
            for ordinal, vector in vectors.items()
        ]
        await self._database.write(
            lambda connection: connection.executemany(SQL["put_material_vector"], rows)
        )


def _load(connection: sqlite3.Connection, material_id: int, *, model: str | None) -> Material:
    values = {"material_id": material_id, "model": model}
    rows = connection.execute(SQL["material_pieces"], values).fetchall()
    return Material(
        material_id=material_id,
        pieces=tuple(row["text"] for row in rows),
        vectors={
            row["ordinal"]: np.frombuffer(row["vector"], np.float16).astype(np.float32)
            for row in rows
            if row["vector"] is not None
        },
    )
