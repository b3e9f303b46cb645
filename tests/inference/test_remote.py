from __future__ import annotations

import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
import pytest
from tests.inference.model_server import Answer, Answering, Call, running_model_server
from tests.stored import Candidate, stored_chunk

from citewell.core.errors import InferenceError
from citewell.inference.remote import RemoteEmbedder, RemoteReranker

pytestmark = pytest.mark.anyio

KEY = "sk-very-secret"


def candidate(text: str, *, title: str = "", headings: tuple[str, ...] = ()) -> Candidate:
    return Candidate(chunk=stored_chunk(text, title=title, heading_path=headings))


def embeddings(call: Call) -> Answer:
    """Answer in reverse order, each vector saying how long its text is."""
    data = [
        {"object": "embedding", "index": i, "embedding": [float(len(text)), 1.0, 0.0]}
        for i, text in enumerate(call.body["input"])
    ]
    return Answer(body={"object": "list", "data": data[::-1], "model": call.body["model"]})


def always(body: object, *, status: int = 200, headers: dict[str, str] | None = None) -> Answering:
    return lambda _call: Answer(body=body, status=status, headers=headers or {})


@asynccontextmanager
async def embedder_at(url: str) -> AsyncIterator[RemoteEmbedder]:
    embedder = RemoteEmbedder(
        "small", endpoint=f"{url}/v1/", api_key=KEY, timeout_seconds=60, first_wait_seconds=0
    )
    yield embedder
    await embedder.aclose()


@asynccontextmanager
async def reranker_at(url: str) -> AsyncIterator[RemoteReranker]:
    reranker = RemoteReranker("rank", endpoint=f"{url}/rerank", api_key=KEY, first_wait_seconds=0)
    yield reranker
    await reranker.aclose()


async def test_an_embedding_request_follows_the_openai_api() -> None:
    with running_model_server(embeddings) as server:
        async with embedder_at(server.url) as embedder:
            await embedder.embed_query("heron")

    call = server.calls[0]
    assert call.path == "/v1/embeddings"
    assert call.headers["Authorization"] == f"Bearer {KEY}"
    assert call.body == {"model": "small", "input": ["heron"], "encoding_format": "float"}


async def test_vectors_follow_the_order_of_the_texts_over_several_requests() -> None:
    texts = ["x" * (i + 1) for i in range(150)]

    with running_model_server(embeddings) as server:
        async with embedder_at(server.url) as embedder:
            vectors = await embedder.embed_passages(texts)

    assert len(server.calls) == 3
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0)
    assert np.allclose(vectors[:, 0] / vectors[:, 1], np.arange(1, 151), rtol=1e-5)


async def test_dimensions_are_learnt_from_the_first_answer() -> None:
    with running_model_server(embeddings) as server:
        async with embedder_at(server.url) as embedder:
            before = embedder.dimensions
            await embedder.embed_query("heron")

            assert (before, embedder.dimensions, embedder.name) == (0, 3, "openai:small")


async def test_no_texts_need_no_request() -> None:
    with running_model_server(embeddings) as server:
        async with embedder_at(server.url) as embedder:
            assert (await embedder.embed_passages([])).shape == (0, 0)

    assert server.calls == []


async def test_an_empty_text_is_sent_as_a_space_and_a_huge_one_is_cut() -> None:
    with running_model_server(embeddings) as server:
        async with embedder_at(server.url) as embedder:
            await embedder.embed_passages(["", "x" * 100_000])

    assert [len(text) for text in server.calls[0].body["input"]] == [1, 20_000]


@pytest.mark.parametrize("retry_after", ["0", "Thu, 01 Jan 1970 00:00:00 GMT", "soon", ""])
async def test_a_busy_endpoint_is_asked_again(retry_after: str) -> None:
    busy = always({}, status=429, headers={"Retry-After": retry_after})

    with running_model_server(busy, always({}, status=503), embeddings) as server:
        async with embedder_at(server.url) as embedder:
            vector = await embedder.embed_query("heron")

    assert vector.shape == (3,)
    assert len(server.calls) == 3


async def test_an_endpoint_that_stays_busy_is_given_up() -> None:
    with running_model_server(always({}, status=429)) as server:
        async with embedder_at(server.url) as embedder:
            with pytest.raises(InferenceError, match="status 429") as caught:
                await embedder.embed_query("heron")

    assert len(server.calls) == 4
    assert caught.value.details == {"status": 429}


async def test_a_refused_key_is_not_tried_again_and_never_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    refusal = always({"error": {"message": f"Incorrect API key: {KEY}"}}, status=401)

    with running_model_server(refusal) as server:
        async with embedder_at(server.url) as embedder:
            with pytest.raises(InferenceError, match="status 401") as caught:
                await embedder.embed_query("heron")

    assert len(server.calls) == 1
    assert caught.value.suggestion == "Check the endpoint's API key."
    assert KEY not in f"{caught.value!r} {caught.value.__cause__!r} {caplog.text}"


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        [],
        {"data": None},
        {"data": [{"index": 0}]},
        {"data": [{"index": 0, "embedding": "AAAA"}]},
        {"data": []},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]},
    ],
)
async def test_an_answer_of_another_shape_is_an_inference_error(body: object) -> None:
    with running_model_server(always(body)) as server:
        async with embedder_at(server.url) as embedder:
            with pytest.raises(InferenceError, match="answered with"):
                await embedder.embed_query("heron")


async def test_vectors_of_another_length_than_before_are_refused() -> None:
    shorter = always({"data": [{"index": 0, "embedding": [1.0]}]})

    with running_model_server(embeddings, shorter) as server:
        async with embedder_at(server.url) as embedder:
            await embedder.embed_query("heron")
            with pytest.raises(InferenceError, match="another length"):
                await embedder.embed_query("egret")


async def test_an_endpoint_that_is_not_there_is_an_inference_error() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"

        async with embedder_at(url) as embedder:
            with pytest.raises(InferenceError, match=r"127\.0\.0\.1 cannot be reached"):
                await embedder.embed_query("heron")


async def test_a_rerank_request_gives_scores_in_the_order_of_the_candidates() -> None:
    cohere = {
        "id": "x",
        "results": [
            {"index": 1, "relevance_score": 0.93},
            {"index": 0, "relevance_score": 0.08},
        ],
        "meta": {"api_version": {"version": "2"}},
    }

    with running_model_server(always(cohere)) as server:
        async with reranker_at(server.url) as reranker:
            scores = await reranker.score(
                "heron",
                [candidate("one"), candidate("two", title="Birds", headings=("Birds", "H"))],
            )

    assert scores == [0.08, 0.93]
    assert server.calls[0].path == "/rerank"
    assert server.calls[0].headers["Authorization"] == f"Bearer {KEY}"
    assert server.calls[0].body == {
        "model": "rank",
        "query": "heron",
        "documents": ["one", "Birds › H\ntwo"],
        "top_n": 2,
    }


async def test_scores_beyond_one_are_logits_and_keep_their_order() -> None:
    jina = {
        "model": "rank",
        "usage": {"total_tokens": 3},
        "results": [
            {"index": 0, "document": {"text": "one"}, "relevance_score": 1.4},
            {"index": 1, "document": {"text": "two"}, "relevance_score": 2.9},
            {"index": 2, "document": {"text": "three"}, "relevance_score": -7.0},
        ],
    }

    with running_model_server(always(jina)) as server:
        async with reranker_at(server.url) as reranker:
            one, two, three = await reranker.score("q", [candidate(text) for text in "abc"])

    assert 0.0 < three < 0.01 < one < two < 1.0


async def test_no_candidates_need_no_rerank_request() -> None:
    with running_model_server(always({})) as server:
        async with reranker_at(server.url) as reranker:
            assert await reranker.score("q", []) == []

    assert server.calls == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"results": [{"index": 0}]},
        {"results": []},
        {"results": [{"index": 4, "relevance_score": 0.5}]},
        {"results": [{"index": 0, "relevance_score": "high"}]},
    ],
)
async def test_a_ranking_of_another_shape_is_an_inference_error(body: object) -> None:
    with running_model_server(always(body)) as server:
        async with reranker_at(server.url) as reranker:
            with pytest.raises(InferenceError, match="answered with"):
                await reranker.score("q", [candidate("one")])
