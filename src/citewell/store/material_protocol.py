"""MaterialStore: what a database must promise of the texts that callers paste."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import numpy as np
    import numpy.typing as npt

    from citewell.core.materials import Material


class MaterialStore(Protocol):
    """Texts by owner and task, each kept once; every method may raise StoreError."""

    async def find_material(
        self, owner: str, *, task: str, text_hash: str, model: str | None, now: datetime
    ) -> Material | None:
        """Return what the owner gave for the task before, and note that it was used.

        Its vectors are those of `model`.
        """

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
        """Keep a text, or return the one that was kept meanwhile.

        Of all that the owner has given, what was used longest ago goes when it is more than
        `max_bytes` together; the new text stays.
        """

    async def put_material_vectors(
        self,
        material_id: int,
        vectors: Mapping[int, npt.NDArray[np.float32]],
        *,
        model: str,
    ) -> None:
        """Give pieces their vectors; those of a material that is gone are dropped."""
