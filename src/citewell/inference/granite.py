"""The default embedder: IBM granite-embedding-30m-english, from a wheel, without torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.language import cjk_share
from citewell.inference.local import LocalEmbedder
from citewell.inference.names import GRANITE_NAME

if TYPE_CHECKING:
    from citewell.inference.local import TextModel

# The model was trained on English; fusing its ranks for Japanese made search worse (DESIGN §6).
_MOST_CJK = 0.3


def granite_embedder(*, threads: int) -> LocalEmbedder:
    """Return the embedder; its weights, onnxruntime and tokenizer are loaded on first use."""
    return LocalEmbedder(
        GRANITE_NAME,
        dimensions=384,
        load=_load,
        threads=threads,
        supports=lambda text: cjk_share(text) < _MOST_CJK,
    )


def _load() -> TextModel:
    from citewell.inference.granite_model import load_granite

    return load_granite()
