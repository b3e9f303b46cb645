"""Scale vectors to unit length, so that a dot product is a cosine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from citewell.inference.protocols import Vectors


def unit(vectors: Vectors) -> Vectors:
    """Return `vectors` (one, or one per row) at unit length; a zero vector stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vectors = vectors / np.maximum(lengths, np.float32(1e-12))
    return scaled
