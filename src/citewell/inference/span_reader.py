"""The reader: a small model that reads a passage for a question and scores each of its units.

It is the first layers of the granite encoder, trained by bench/fit_reader.py on questions with the
sentences that answer them. A score is the log-odds of a unit being the answer against none being
it. Tokenizer and word vectors are granite's, so the file holds only the layers.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from citewell.core.frozen import frozen
from citewell.inference.granite_graph import (
    INPUT,
    SCORES,
    SPANS,
    build_reader_graph,
    memory_inputs,
    memory_outputs,
)
from citewell.inference.hms_pack import open_pack
from citewell.inference.onnx_session import open_session, run_session

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from citewell.inference.byte_level_bpe import ByteLevelTokenizer
    from citewell.inference.hms_pack import QuantizedMatrix
    from citewell.inference.protocols import PassageUnits, Vectors

READER_FILE = Path(__file__).with_name("span_reader.hmsemb")

# Longer questions and headings say what they ask at the beginning.
_QUESTION_TOKENS = 64
_PATH_TOKENS = 32
_UNIT_TOKENS = 72
_WINDOW_TOKENS = 224
_HEADINGS = 3
_RECENT_QUESTIONS = 16

QUESTION, HEADINGS, UNIT = range(3)
"""What a token is of: each kind has a vector of its own."""


@frozen
class Window:
    """A stretch of a passage that is read at once: its headings and some units."""

    ids: tuple[int, ...]
    start: int
    """Where the units begin; before them stand the headings."""
    ends: tuple[int, ...]
    """Where each unit ends; the next begins there."""

    @property
    def kinds(self) -> npt.NDArray[np.int64]:
        """The kind of each token."""
        return np.repeat([HEADINGS, UNIT], [self.start, len(self.ids) - self.start])

    def means(self) -> Vectors:
        """Return a row a unit: the share that each token from `start` on has in its mean."""
        rows = np.zeros((len(self.ends), len(self.ids) - self.start), dtype=np.float32)
        for row, (start, end) in zip(rows, pairwise((self.start, *self.ends)), strict=True):
            row[start - self.start : end - self.start] = 1 / (end - start)
        return rows


def encode_question(tokenizer: ByteLevelTokenizer, question: str) -> tuple[int, ...]:
    """Return the tokens of a question, which every window follows."""
    return tuple(tokenizer.encode_start(question, _QUESTION_TOKENS))


def cut_windows(tokenizer: ByteLevelTokenizer, passage: PassageUnits) -> Iterator[Window]:
    """Give the windows that hold the units of a passage in order, each in one of them."""
    headings = list(dict.fromkeys(filter(None, passage.path)))[-_HEADINGS:]
    _, *path, end = _encode_path(tokenizer, " > ".join(headings))
    opening = [*path, end]
    ids, ends = [*opening], list[int]()
    for unit in passage.units:
        _, *tokens, _ = tokenizer.encode_start(f" {unit}", _UNIT_TOKENS)
        if ends and len(ids) + len(tokens) >= _WINDOW_TOKENS:
            yield Window(ids=tuple(ids), start=len(opening), ends=tuple(ends))
            ids, ends = [*opening], []
        ids += [*tokens, end]
        ends.append(len(ids))
    if ends:
        yield Window(ids=tuple(ids), start=len(opening), ends=tuple(ends))


# Many passages stand under the same headings.
@lru_cache(maxsize=256)
def _encode_path(tokenizer: ByteLevelTokenizer, path: str) -> tuple[int, ...]:
    return tuple(tokenizer.encode_start(path, _PATH_TOKENS))


@frozen
class _AskedQuestion:
    """A question as it was read: what each layer keeps of it."""

    length: int
    memory: Mapping[str, Vectors]


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
        layers = int(pack.architecture["layers"])
        self._memory_inputs, self._memory_outputs = memory_inputs(layers), memory_outputs(layers)
        empty = np.zeros((1, 0, int(pack.architecture["hidden"])), dtype=np.float32)
        self._nothing_before = dict.fromkeys(self._memory_inputs, empty)
        self._session = open_session(build_reader_graph(pack))
        self._asked = lru_cache(maxsize=_RECENT_QUESTIONS)(self._read_question)
        self._asking = Lock()

    def read(self, question: str, passage: PassageUnits) -> tuple[float, ...]:
        """Return a score per unit of the passage.

        Raises:
            InferenceError: the model cannot be run.
        """
        # Passages are read in several threads: without the lock each would read the question.
        with self._asking:
            asked = self._asked(question)
        scores: list[float] = []
        for window in cut_windows(self._tokenizer, passage):
            inputs = {
                INPUT: self._embed(window.ids, window.kinds, first=asked.length),
                SPANS: window.means()[np.newaxis],
                **asked.memory,
            }
            [found] = run_session(self._session, inputs, [SCORES])
            scores += found[0, :, 0].tolist()
        return tuple(scores)

    def _read_question(self, question: str) -> _AskedQuestion:
        ids = encode_question(self._tokenizer, question)
        inputs = {
            INPUT: self._embed(ids, np.full(len(ids), QUESTION), first=0),
            SPANS: np.zeros((1, 1, 1), dtype=np.float32),
            **self._nothing_before,
        }
        memory = run_session(self._session, inputs, self._memory_outputs)
        return _AskedQuestion(
            length=len(ids), memory=dict(zip(self._memory_inputs, memory, strict=True))
        )

    def _embed(self, ids: Sequence[int], kinds: npt.NDArray[np.int64], *, first: int) -> Vectors:
        """Return the vectors of tokens that stand from the place `first` on."""
        tokens = self._words.take_rows(np.array(ids)) + self._places[first : first + len(ids)]
        tokens += self._kinds[kinds]
        embedded: Vectors = tokens[np.newaxis]
        return embedded
