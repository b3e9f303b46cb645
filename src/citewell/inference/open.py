"""Open the models that the settings name; each imports only what it needs."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.errors import SettingsError
from citewell.core.extras import install_command
from citewell.inference.names import vector_model

if TYPE_CHECKING:
    from citewell.inference.local import TextModel
    from citewell.inference.protocols import Embedder, Reranker, Synthesizer

RERANKERS = ("calibrated", "none", "fastembed:MODEL", "endpoint:MODEL")
SYNTHESIZERS = ("none", "openai:MODEL", "anthropic:MODEL")


def open_embedder(
    name: str, *, endpoint: str, api_key: str | None, threads: int
) -> Embedder | None:
    """Return the named embedder; no model is loaded before its first use.

    None means that searches use words only: for "none", and where the weights are not installed.
    `threads` 0 means one for each core; `endpoint` and `api_key` serve remote models only.

    Raises:
        SettingsError: there is no such embedder.
        InferenceError: the package it needs is not installed.
    """
    stored_as = vector_model(name)
    if stored_as is None:
        return None
    threads = threads or _cores()
    kind, _, model = name.partition(":")
    if kind == "granite":
        from citewell.inference.granite import GraniteEmbedder

        return GraniteEmbedder(threads=threads)
    if kind == "onnx":
        return _open_onnx_folder(Path(model), name=stored_as, threads=threads)
    if kind == "fastembed":
        from citewell.inference.fastembed import fastembed_embedder

        return fastembed_embedder(model, threads=threads)
    from citewell.inference.remote import RemoteEmbedder

    return RemoteEmbedder(model, endpoint=endpoint, api_key=api_key)


def open_reranker(
    name: str, *, endpoint: str, api_key: str | None, threads: int
) -> Reranker | None:
    """Return the named reranker, or None for "none"; no model is loaded before its first use.

    Raises:
        SettingsError: there is no such reranker.
        InferenceError: the package it needs is not installed.
    """
    kind, _, model = name.partition(":")
    match kind, bool(model):
        case "none", False:
            return None
        case "calibrated", False:
            from citewell.inference.calibrated_reranker import CalibratedReranker

            return CalibratedReranker()
        case "fastembed", True:
            from citewell.inference.fastembed import FastembedReranker

            return FastembedReranker(model, threads=threads or _cores())
        case "endpoint", True:
            from citewell.inference.remote import RemoteReranker

            return RemoteReranker(model, endpoint=endpoint, api_key=api_key)
    raise _unknown("reranker", name, RERANKERS)


def open_synthesizer(name: str, *, endpoint: str, api_key: str | None) -> Synthesizer | None:
    """Return the named language model, or None for "none"; an empty endpoint is the vendor's own.

    Raises:
        SettingsError: there is no such model.
    """
    kind, _, model = name.partition(":")
    if (kind, bool(model)) == ("none", False):
        return None
    if kind in ("openai", "anthropic") and model:
        from citewell.inference.synthesis import CHAT_APIS, RemoteSynthesizer

        return RemoteSynthesizer(CHAT_APIS[kind], model, endpoint=endpoint, api_key=api_key)
    raise _unknown("synthesis", name, SYNTHESIZERS)


def _open_onnx_folder(folder: Path, *, name: str, threads: int) -> Embedder:
    from citewell.inference.local import LocalEmbedder

    if not folder.is_dir():
        raise SettingsError("the folder of the ONNX embedder does not exist")
    if find_spec("tokenizers") is None:
        raise SettingsError(
            f"CITEWELL_EMBEDDER=onnx:FOLDER needs the tokenizers library: {install_command('onnx')}"
        )

    def load() -> TextModel:
        from citewell.inference.onnx_folder import load_folder

        return load_folder(folder)

    return LocalEmbedder(name, load=load, threads=threads)


def _unknown(what: str, name: str, choices: tuple[str, ...]) -> SettingsError:
    return SettingsError(f"unknown {what} {name!r}; choose one of {', '.join(choices)}")


def _cores() -> int:
    # What this process may use, which in a container is often less than the machine has.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
