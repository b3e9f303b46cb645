"""Text to token ids, cut to what a model can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Tokenizer

from citewell.core.errors import InferenceError

if TYPE_CHECKING:
    import numpy.typing as npt

# No text that people write has tokens this long on average; past it, tokenizing is wasted work.
_MAX_CHARACTERS_PER_TOKEN = 16


class TextTokenizer:
    """Tokenise text by a `tokenizer.json`; thread-safe."""

    def __init__(self, tokenizer_json: str, *, max_tokens: int) -> None:
        try:
            self._tokenizer = Tokenizer.from_str(tokenizer_json)
        except Exception as error:  # the tokenizers library raises Exception itself
            raise InferenceError("the model's tokenizer.json cannot be read") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)
        self._max_characters = max_tokens * _MAX_CHARACTERS_PER_TOKEN

    def encode(self, text: str) -> npt.NDArray[np.int64]:
        """Return the ids of `text` with the model's special tokens, at most `max_tokens`."""
        cut = text[: self._max_characters]
        # Half of a surrogate pair is a character to Python but not to the tokenizer.
        whole = cut.encode("utf-8", errors="replace").decode("utf-8")
        return np.array(self._tokenizer.encode(whole).ids, dtype=np.int64)
