"""Texts that callers paste, each kept once for its owner and task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from citewell.core.materials import Material

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import numpy.typing as npt

    from citewell.store.session import Database, Session


class MaterialStore:
    """Texts by owner and task, each kept once. Every method may raise StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_material(
        self, owner: str, *, task: str, text_hash: str, model: str | None, now: datetime
    ) -> Material | None:
        """Return what the owner supplied for the task earlier, and record its use.

        Its vectors are those of `model`.
        """
        values = {"owner": owner, "task": task, "text_hash": text_hash}

        async def work(session: Session) -> Material | None:
            row = await session.fetch_one("find_material", values)
            if row is None:
                return None
            used = {"material_id": row["material_id"], "now": now}
            await session.execute("use_material", used)
            return await _load(session, row["material_id"], model=model)

        return await self._database.transaction(work)

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
        """Store a text, or return the one stored in the meantime.

        Of all that the owner has given, what was used longest ago goes when it is more than
        `max_bytes` together; the new text stays.
        """
        key = {"owner": owner, "task": task, "text_hash": text_hash}
        values = {**key, "bytes": sum(len(piece.encode()) for piece in pieces), "now": now}

        async def work(session: Session) -> Material:
            added = await session.fetch_one("add_material", values)
            if added is None:
                known = await session.fetch_one("find_material", key)
                assert known is not None, "what an insert ran into is there"
                return await _load(session, known["material_id"], model=None)
            material_id = added["material_id"]
            rows = [
                {"material_id": material_id, "ordinal": ordinal, "text": piece}
                for ordinal, piece in enumerate(pieces)
            ]
            await session.execute_many("add_material_piece", rows)
            bound = {"owner": owner, "max_bytes": max_bytes}
            await session.execute("drop_unused_materials", bound)
            return Material(material_id=material_id, pieces=tuple(pieces))

        return await self._database.transaction(work)

    async def put_material_vectors(
        self,
        material_id: int,
        vectors: Mapping[int, npt.NDArray[np.float32]],
        *,
        model: str,
    ) -> None:
        """Store the vectors of pieces; those of a deleted material are dropped."""
        rows = [
            {
                "material_id": material_id,
                "ordinal": ordinal,
                "model": model,
                "vector": vector.astype(np.float16).tobytes(),
            }
            for ordinal, vector in vectors.items()
        ]
        await self._database.transaction(
            lambda session: session.execute_many("put_material_vector", rows)
        )


async def _load(session: Session, material_id: int, *, model: str | None) -> Material:
    values = {"material_id": material_id, "model": model}
    rows = await session.fetch_all("material_pieces", values)
    return Material(
        material_id=material_id,
        pieces=tuple(row["text"] for row in rows),
        vectors={
            row["ordinal"]: np.frombuffer(row["vector"], np.float16).astype(np.float32)
            for row in rows
            if row["vector"] is not None
        },
    )
