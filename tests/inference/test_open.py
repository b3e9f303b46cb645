from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from citewell.core.errors import InferenceError, SettingsError
from citewell.inference.names import vector_model
from citewell.inference.open import open_embedder, open_reranker
from citewell.inference.protocols import Embedder, Reranker

pytestmark = pytest.mark.anyio

needs_no_fastembed = pytest.mark.skipif(
    importlib.util.find_spec("fastembed") is not None, reason="fastembed is installed"
)


def embedder_named(name: str) -> Embedder | None:
    return open_embedder(name, endpoint="http://127.0.0.1:9/v1", api_key=None, threads=0)


def reranker_named(name: str) -> Reranker | None:
    return open_reranker(name, endpoint="http://127.0.0.1:9/rerank", api_key=None, threads=0)


def test_none_means_no_model() -> None:
    assert embedder_named("none") is None
    assert reranker_named("none") is None


async def test_each_embedder_knows_its_name_before_it_is_used(tmp_path: Path) -> None:
    names = []
    for name in ("granite", "openai:text-embedding-3-small", f"onnx:{tmp_path}"):
        embedder = embedder_named(name)
        assert embedder is not None
        names.append(embedder.name)
        await embedder.aclose()

    assert names == [
        "granite-30m-en-int8",
        "openai:text-embedding-3-small",
        f"onnx:{tmp_path.name}",
    ]


@pytest.mark.parametrize("name", ["calibrated", "endpoint:rerank-v3.5"])
async def test_each_reranker_scores_no_candidates_without_a_model(name: str) -> None:
    reranker = reranker_named(name)

    assert reranker is not None
    assert await reranker.score("heron", []) == []
    await reranker.aclose()


@pytest.mark.parametrize("name", ["granit", "", "openai", "openai:", "granite:large"])
def test_an_unknown_embedder_is_refused_with_the_choices(name: str) -> None:
    with pytest.raises(SettingsError) as caught:
        embedder_named(name)

    assert caught.value.message == (
        f"unknown embedder {name!r}; choose one of "
        "granite, none, onnx:FOLDER, fastembed:MODEL, openai:MODEL"
    )


def test_an_unknown_reranker_is_refused_with_the_choices() -> None:
    with pytest.raises(SettingsError) as caught:
        reranker_named("cohere")

    assert caught.value.message == (
        "unknown reranker 'cohere'; choose one of calibrated, none, fastembed:MODEL, endpoint:MODEL"
    )


def test_an_onnx_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="does not exist"):
        embedder_named(f"onnx:{tmp_path / 'missing'}")


@pytest.mark.parametrize("endpoint", ["", "api.example.org/v1", "ftp://example.org", "http://"])
def test_an_endpoint_that_is_not_a_web_address_is_refused(endpoint: str) -> None:
    with pytest.raises(SettingsError, match="URL of the model endpoint"):
        open_embedder("openai:small", endpoint=endpoint, api_key=None, threads=0)


@needs_no_fastembed
@pytest.mark.parametrize("open_named", [embedder_named, reranker_named])
def test_a_missing_fastembed_package_says_how_to_install_it(
    open_named: Callable[[str], object],
) -> None:
    with pytest.raises(InferenceError, match="fastembed is not installed") as caught:
        open_named("fastembed:BAAI/bge-small-en-v1.5")

    assert "pip install 'citewell[fastembed]'" in caught.value.suggestion


@pytest.mark.parametrize("name", ["granite", "none", "openai:text-embedding-3-small"])
def test_the_name_of_an_embedders_vectors_is_known_without_loading_it(name: str) -> None:
    opened = open_embedder(name, endpoint="http://127.0.0.1:9/v1", api_key=None, threads=1)

    assert vector_model(name) == (None if opened is None else opened.name)
