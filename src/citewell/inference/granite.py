"""The built-in models, from a wheel and without torch: an embedder that also reads.

The embedder is IBM granite-embedding-30m-english; the reader was trained from its first layers.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from typing_extensions import override

from citewell.core.language import cjk_share
from citewell.inference.local import LocalEmbedder
from citewell.inference.names import GRANITE_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.inference.granite_model import GraniteModel
    from citewell.inference.protocols import PassageUnits

# The model was trained on English; fusing its ranks for Japanese made search worse (DESIGN §6).
_MOST_CJK = 0.3
# Passages are read for support, again for quotes, and in every round of following links.
_RECENT_READS = 512


class GraniteEmbedder(LocalEmbedder["GraniteModel"]):
    """An `Embedder` and a `Reader`; weights, onnxruntime and tokenizer are loaded on first use."""

    def __init__(self, *, threads: int) -> None:
        super().__init__(
            GRANITE_NAME,
            dimensions=384,
            load=_load,
            threads=threads,
            supports=lambda text: cjk_share(text) < _MOST_CJK,
        )
        self._read = lru_cache(maxsize=_RECENT_READS)(self._read_passage)

    async def read_passages(
        self, question: str, passages: Sequence[PassageUnits]
    ) -> list[tuple[float, ...]]:
        """Return for each passage the log-odds of each unit being the answer.

        Raises:
            InferenceError: the model cannot be loaded or run.
        """
        return await self._run_each(partial(self._read, question), passages, length=_length)

    @override
    async def aclose(self) -> None:
        """Free the model; a later call would load it again."""
        await super().aclose()
        self._read.cache_clear()

    def _read_passage(self, question: str, passage: PassageUnits) -> tuple[float, ...]:
        return self._loaded().read_passage(question, passage)


def _length(passage: PassageUnits) -> int:
    return sum(map(len, passage.units))


def _load() -> GraniteModel:
    from citewell.inference.granite_model import load_granite

    return load_granite()
