"""The record of pasted material, kept so that asking it again costs nothing."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt


@frozen
class Material:
    """A text that a caller gave for a task, cut into pieces, with the vectors made so far."""

    material_id: int
    pieces: tuple[str, ...]
    vectors: Mapping[int, npt.NDArray[np.float32]] = field(default_factory=dict)
    """By the place of the piece; only those of the model that was asked for."""
