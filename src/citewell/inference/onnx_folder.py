"""Any sentence-transformers model exported to ONNX in a local folder, as a text model.

The folder holds `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`. Pooling, prompts and the
greatest length are taken from the files in which sentence-transformers keeps them, if there.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from citewell.core.errors import InferenceError
from citewell.inference.onnx_session import open_session, run_session
from citewell.inference.text_tokenizer import TextTokenizer
from citewell.inference.unit import unit

if TYPE_CHECKING:
    from pathlib import Path

    from citewell.inference.protocols import Vectors

_MODEL_FILES = ("model.onnx", "onnx/model.onnx")
_DEFAULT_MAX_TOKENS = 512


def load_folder(folder: Path) -> OnnxFolderModel:
    """Return the model in `folder`.

    Raises:
        InferenceError: a file is missing, or is not what its name says.
    """
    model = next((folder / name for name in _MODEL_FILES if (folder / name).is_file()), None)
    if model is None or not (folder / "tokenizer.json").is_file():
        raise InferenceError(
            "the ONNX folder needs model.onnx and tokenizer.json",
            suggestion="Export the model with its tokenizer, then name the folder again.",
        )
    return OnnxFolderModel(folder, model)


class OnnxFolderModel:
    """Embed text as unit vectors; thread-safe."""

    def __init__(self, folder: Path, model: Path) -> None:
        prompts = _read_json(folder / "config_sentence_transformers.json").get("prompts") or {}
        self._query_prompt: str = prompts.get("query", "")
        self._passage_prompt: str = prompts.get("document", prompts.get("passage", ""))
        pooling = _read_json(folder / "1_Pooling" / "config.json")
        self._uses_first_token = bool(pooling.get("pooling_mode_cls_token", False))
        settings = _read_json(folder / "sentence_bert_config.json")
        max_tokens: int = settings.get("max_seq_length") or _DEFAULT_MAX_TOKENS
        self._tokenizer = TextTokenizer(
            _read_text(folder / "tokenizer.json"), max_tokens=max_tokens
        )
        self._session = open_session(str(model), optimize=True)
        self._inputs = {entry.name for entry in self._session.get_inputs()}

    def embed_passage(self, text: str) -> Vectors:
        """Return the unit vector of a passage, with the model's passage prompt."""
        return self._embed(self._passage_prompt + text)

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query, with the model's query prompt."""
        return self._embed(self._query_prompt + text)

    def _embed(self, text: str) -> Vectors:
        ids = self._tokenizer.encode(text)[np.newaxis]
        possible = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        wanted = {name: array for name, array in possible.items() if name in self._inputs}
        output = run_session(self._session, wanted)[0][0]
        if output.ndim == 1:
            return unit(output)
        return unit(output[0] if self._uses_first_token else output.mean(axis=0))


def _read_json(path: Path) -> dict[str, Any]:
    """Return the object in a settings file, or an empty one if the file is missing."""
    if not path.exists():
        return {}
    try:
        found = json.loads(_read_text(path))
    except ValueError as error:
        raise _unreadable(path) from error
    return found if isinstance(found, dict) else {}


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path) from error


def _unreadable(path: Path) -> InferenceError:
    return InferenceError(f"{path.name} of the ONNX folder cannot be read")
