"""The reader: a small model that reads a passage for a question and scores each of its units.

It is the first layers of the granite encoder, trained by bench/fit_reader.py on questions with the
sentences that answer them. A score is the log-odds of a unit being the answer against none being
it. Tokenizer and word vectors are granite's, so the file holds only the layers.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from citewell.core.frozen import frozen
from citewell.inference.granite_graph import INPUT, SPANS, build_reader_graph
from citewell.inference.hms_pack import open_pack
from citewell.inference.onnx_session import open_session, run_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from citewell.inference.byte_level_bpe import ByteLevelTokenizer
    from citewell.inference.hms_pack import QuantizedMatrix
    from citewell.inference.protocols import PassageUnits, Vectors

READER_FILE = Path(__file__).with_name("span_reader.hmsemb")

# Longer questions and headings say what they ask at the beginning.
_QUESTION_TOKENS = 64
_PATH_TOKENS = 32
_UNIT_TOKENS = 72
_WINDOW_TOKENS = 256
_HEADINGS = 3


@frozen
class Window:
    """One input of the model: the question, the headings and some units."""

    ids: tuple[int, ...]
    first_kinds: tuple[int, int]
    """How many tokens the question takes, and where the units begin."""
    ends: tuple[int, ...]
    """Where each unit ends; the next begins there."""

    @property
    def kinds(self) -> npt.NDArray[np.int64]:
        """0 for a token of the question, 1 of the headings, 2 of a unit."""
        asked, units = self.first_kinds
        return np.repeat([0, 1, 2], [asked, units - asked, len(self.ids) - units])

    def means(self) -> Vectors:
        """Return a row a unit: the share that each token has in its mean."""
        rows = np.zeros((len(self.ends), len(self.ids)), dtype=np.float32)
        starts = (self.first_kinds[1], *self.ends)
        for row, (start, end) in zip(rows, pairwise(starts), strict=True):
            row[start:end] = 1 / (end - start)
        return rows


def cut_windows(
    tokenizer: ByteLevelTokenizer, question: str, passage: PassageUnits
) -> Iterator[Window]:
    """Give the windows that hold the units of a passage in order, each in one of them."""
    begin, *asked, end = _encode(tokenizer, question, _QUESTION_TOKENS)
    headings = list(dict.fromkeys(filter(None, passage.path)))[-_HEADINGS:]
    _, *path, _ = _encode(tokenizer, " > ".join(headings), _PATH_TOKENS)
    opening = [begin, *asked, end, *path, end]
    kinds = (len(asked) + 2, len(opening))
    ids, ends = [*opening], list[int]()
    for unit in passage.units:
        _, *tokens, _ = tokenizer.encode_start(f" {unit}", _UNIT_TOKENS)
        if ends and len(ids) + len(tokens) >= _WINDOW_TOKENS:
            yield Window(ids=tuple(ids), first_kinds=kinds, ends=tuple(ends))
            ids, ends = [*opening], []
        ids += [*tokens, end]
        ends.append(len(ids))
    if ends:
        yield Window(ids=tuple(ids), first_kinds=kinds, ends=tuple(ends))


# Each passage is read with the same question, and many under the same headings.
@lru_cache(maxsize=256)
def _encode(tokenizer: ByteLevelTokenizer, text: str, max_tokens: int) -> tuple[int, ...]:
    return tuple(tokenizer.encode_start(text, max_tokens))


class SpanReader:
    """Score the units of passages for questions; thread-safe."""

    def __init__(
        self, tokenizer: ByteLevelTokenizer, words: QuantizedMatrix, places: Vectors
    ) -> None:
        pack = open_pack(READER_FILE)
        self._tokenizer = tokenizer
        self._words = words
        self._places = places
        self._kinds = pack.floats["kind_emb"]
        self._session = open_session(build_reader_graph(pack))

    def read(self, question: str, passage: PassageUnits) -> tuple[float, ...]:
        """Return a score per unit of the passage.

        Raises:
            InferenceError: the model cannot be run.
        """
        scores: list[float] = []
        for window in cut_windows(self._tokenizer, question, passage):
            ids = np.array(window.ids)
            tokens = self._words.take_rows(ids) + self._places[: len(ids)]
            tokens += self._kinds[window.kinds]
            spans = window.means()[:, window.first_kinds[1] :]
            inputs = {INPUT: tokens[np.newaxis], SPANS: spans[np.newaxis]}
            scores += run_session(self._session, inputs)[0, :, 0].tolist()
        return tuple(scores)
