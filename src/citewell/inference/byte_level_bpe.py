"""The tokenizer of GPT-2 and RoBERTa models, on tiktoken, which Citewell already depends on.

The tokenizers library would bring eleven packages and 45 MB along for this one model.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from tiktoken import Encoding

from citewell.core.errors import InferenceError

if TYPE_CHECKING:
    import numpy.typing as npt

# How GPT-2 splits text before it merges bytes.
_PIECES = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
# No text that people write has tokens this long on average; past it, tokenizing is wasted work.
_MAX_CHARACTERS_PER_TOKEN = 16
_BYTES = 256
# A letter that is in no vocabulary of this kind, and a byte that is in no UTF-8.
_BETWEEN = "\u0400"
_NO_BYTE = 0xFF


class ByteLevelTokenizer:
    """Tokenise text by the `tokenizer.json` of a RoBERTa model; thread-safe."""

    def __init__(self, tokenizer_json: str, *, max_tokens: int) -> None:
        try:
            declared = json.loads(tokenizer_json)
            vocabulary: dict[str, int] = declared["model"]["vocab"]
            self._ids, ranks = _rank_tokens(vocabulary, declared["model"]["merges"])
            self._begin, self._end = _marks(declared["post_processor"])
        except (ValueError, KeyError, TypeError) as error:
            raise InferenceError("the model's tokenizer.json cannot be read") from error
        self._encoding = Encoding(
            "byte-level", pat_str=_PIECES, mergeable_ranks=ranks, special_tokens={}
        )
        self._max_tokens = max_tokens

    def encode(self, text: str) -> npt.NDArray[np.int64]:
        """Return the ids of `text` between the model's marks, at most `max_tokens`.

        What looks like a mark in `text` is text.
        """
        ids = self.encode_start(text, self._max_tokens - 2)
        return np.array(ids, dtype=np.int64)

    def encode_start(self, text: str, max_tokens: int) -> list[int]:
        """Return the ids of the first `max_tokens` tokens of `text`, between the model's marks."""
        cut = text[: max_tokens * _MAX_CHARACTERS_PER_TOKEN]
        # Half of a surrogate pair is a character to Python but not to the tokenizer.
        whole = cut.encode("utf-8", errors="replace").decode("utf-8")
        ranks = self._encoding.encode_ordinary(whole)[:max_tokens]
        return [self._begin, *self._ids[ranks].tolist(), self._end]


def _rank_tokens(
    vocabulary: dict[str, int], merges: list[Any]
) -> tuple[npt.NDArray[np.int64], dict[bytes, int]]:
    """Return the model's id of each rank, and the ranks: the bytes first, then in merging order."""
    letters = _byte_letters()
    written = map(" ".join, merges) if isinstance(merges[0], list) else merges
    # In one pass each: token by token it would take longer than the rest of loading the model.
    joined = _BETWEEN.join(written).replace(" ", "")
    tokens = [*letters.values(), *joined.split(_BETWEEN)]
    as_bytes = {ord(letter): byte for byte, letter in letters.items()} | {ord(_BETWEEN): _NO_BYTE}
    merged = joined.translate(as_bytes).encode("latin-1").split(bytes([_NO_BYTE]))
    encoded = [*(bytes([byte]) for byte in letters), *merged]
    ids = np.fromiter(map(vocabulary.__getitem__, tokens), dtype=np.int64, count=len(tokens))
    # A token that two merges make has the rank of the first: what is set last stays.
    ranks = dict(zip(reversed(encoded), reversed(range(len(encoded))), strict=True))
    return ids, ranks


def _marks(processor: dict[str, Any]) -> tuple[int, int]:
    return processor["cls"][1], processor["sep"][1]


def _byte_letters() -> dict[int, str]:
    """Return the letter of each byte, in their order, in the vocabulary: itself if printable."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(_BYTES) if byte not in set(shown)]
    letters = {byte: chr(byte) for byte in shown}
    letters |= {byte: chr(_BYTES + place) for place, byte in enumerate(hidden)}
    return {byte: letters[byte] for byte in range(_BYTES)}
