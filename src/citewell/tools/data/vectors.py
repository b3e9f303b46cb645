"""Vectors that callers made with the server's own embedding model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from citewell.core.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from citewell.inference.protocols import Embedder

    Vector = npt.NDArray[np.float32]


def unit_vector(numbers: Sequence[float], embedder: Embedder | None, *, argument: str) -> Vector:
    """Return a caller's vector at unit length; `argument` names it in errors.

    Raises:
        InvalidArgument: the server has no embedding model, or the vector is not one of its model.
    """
    if embedder is None:
        raise InvalidArgument(f"{argument}: this server has no embedding model.")
    vector = np.array(numbers, dtype=np.float32)
    length = float(np.linalg.norm(vector))
    if len(vector) != embedder.dimensions or not np.isfinite(length) or length == 0.0:
        raise InvalidArgument(
            f"{argument} must be {embedder.dimensions} finite numbers, not all zero.",
            suggestion=f"Leave {argument} out: the server makes its own.",
        )
    return vector / np.float32(length)
