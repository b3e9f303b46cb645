from __future__ import annotations

import itertools
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import numpy as np
import pytest
from anyio.abc import TaskGroup

from citewell.core.background import in_background
from citewell.core.errors import InferenceError
from citewell.inference.local import LocalEmbedder, TextModel
from citewell.inference.protocols import Vectors

pytestmark = pytest.mark.anyio


class WatchedModel:
    """Notes what it embeds; a passage waits until `gate` opens, a query does not."""

    def __init__(self) -> None:
        self.passages: list[str] = []
        self.queries: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.started = threading.Semaphore(0)
        self.loads = 0

    def load(self) -> TextModel:
        self.loads += 1
        return self

    def embed_passage(self, text: str) -> Vectors:
        self.started.release()
        assert self.gate.wait(60), "the gate stayed closed"
        self.passages.append(text)
        if text == "bad":
            raise InferenceError("the model failed to run")
        return np.array([len(text), 0], dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        self.queries.append(text)
        return np.array([len(text), 1], dtype=np.float32)


# Longer than what goes through the model at a stretch.
LONG_TEXTS = [f"{number} " * 1_000 for number in range(20)]


def embedder_of(
    model: WatchedModel, *, load: Callable[[], TextModel] | None = None
) -> LocalEmbedder[TextModel]:
    return LocalEmbedder("watched", load=load or model.load, threads=2)


async def until_started(model: WatchedModel, *, passages: int) -> None:
    with anyio.fail_after(60):
        for _ in range(passages):
            await anyio.to_thread.run_sync(model.started.acquire)


@asynccontextmanager
async def embedding_long_texts(
    embedder: LocalEmbedder[TextModel], model: WatchedModel
) -> AsyncIterator[TaskGroup]:
    """Begin two texts, which end when the gate is set."""
    model.gate.clear()
    async with anyio.create_task_group() as group:
        group.start_soon(embedder.embed_passages, LONG_TEXTS)
        await until_started(model, passages=2)
        yield group


async def test_the_model_is_loaded_once_and_only_when_needed() -> None:
    model = WatchedModel()
    embedder = embedder_of(model)
    assert (model.loads, embedder.dimensions) == (0, 0)

    async with anyio.create_task_group() as group:
        for i in range(5):
            group.start_soon(embedder.embed_query, f"query {i}")
            group.start_soon(embedder.embed_passages, ["a", "b"])

    assert (model.loads, embedder.dimensions) == (1, 2)


async def test_vectors_come_in_the_order_of_the_texts() -> None:
    texts = ["four", "1", "333", "22", "666666"]

    vectors = await embedder_of(WatchedModel()).embed_passages(texts)

    assert vectors[:, 0].tolist() == [4, 1, 3, 2, 6]


async def test_a_text_that_stands_there_twice_or_was_there_before_is_embedded_once() -> None:
    model = WatchedModel()
    embedder = embedder_of(model)

    vectors = await embedder.embed_passages(["licence", "one", "licence"])
    again = await embedder.embed_passages(["two", "licence"])

    assert sorted(model.passages) == ["licence", "one", "two"]
    assert vectors[:, 0].tolist() == [7, 3, 7]
    assert again[:, 0].tolist() == [3, 7]


async def test_a_query_does_not_wait_for_passages() -> None:
    model = WatchedModel()
    embedder = embedder_of(model)

    async with embedding_long_texts(embedder, model):
        with anyio.fail_after(60):
            vector = await embedder.embed_query("heron")
        done_before = len(model.passages)
        model.gate.set()

    assert vector.tolist() == [5, 1]
    assert done_before == 0


async def test_a_cancelled_caller_stops_after_the_texts_under_way() -> None:
    model = WatchedModel()

    async with embedding_long_texts(embedder_of(model), model) as group:
        group.cancel_scope.cancel()
        model.gate.set()

    assert len(model.passages) == 2


async def test_a_repeated_query_is_remembered_and_cannot_be_changed() -> None:
    model = WatchedModel()
    embedder = embedder_of(model)

    first = await embedder.embed_query("heron")
    again = await embedder.embed_query("heron")

    assert model.queries == ["heron"]
    assert again is first
    assert not first.flags.writeable


async def test_only_the_latest_queries_are_remembered() -> None:
    model = WatchedModel()
    embedder = embedder_of(model)

    for i in range(300):
        await embedder.embed_query(str(i))
    await embedder.embed_query("299")
    await embedder.embed_query("0")

    assert model.queries[300:] == ["0"]


async def test_a_failing_text_fails_the_call_with_the_models_own_error() -> None:
    model = WatchedModel()

    with pytest.raises(InferenceError, match="failed to run"):
        await embedder_of(model).embed_passages(["good", "bad", "bad"])


async def test_a_model_that_cannot_be_loaded_is_tried_again_at_the_next_call() -> None:
    model = WatchedModel()
    failures = [InferenceError("no weights")]

    def load() -> TextModel:
        if failures:
            raise failures.pop()
        return model

    embedder = embedder_of(model, load=load)
    with pytest.raises(InferenceError, match="no weights"):
        await embedder.embed_passages(["a"])

    assert (await embedder.embed_passages(["a"])).tolist() == [[1, 0]]


async def test_a_closed_embedder_has_freed_its_model() -> None:
    model = WatchedModel()
    embedder = embedder_of(model)
    await embedder.embed_query("heron")

    await embedder.aclose()
    await embedder.embed_query("heron")

    assert model.loads == 2


async def test_background_work_begins_no_text_while_a_caller_waits() -> None:
    model = WatchedModel()
    embedder = embedder_of(model)
    model.gate.clear()
    async with anyio.create_task_group() as group:
        group.start_soon(embedder.embed_passages, ["of a caller"])
        await until_started(model, passages=1)
        with in_background():
            group.start_soon(embedder.embed_passages, LONG_TEXTS)

        begun_meanwhile = await anyio.to_thread.run_sync(lambda: model.started.acquire(timeout=0.2))
        model.gate.set()

    assert not begun_meanwhile
    assert model.passages[0] == "of a caller"
    assert len(model.passages) == 1 + len(LONG_TEXTS)


async def test_callers_without_a_pause_do_not_stop_background_work_for_good() -> None:
    model = WatchedModel()
    embedder = embedder_of(model)
    async with anyio.create_task_group() as group:

        async def call_again_and_again() -> None:
            for number in itertools.count():
                await embedder.embed_query(f"query {number}")

        group.start_soon(call_again_and_again)
        with in_background():
            await embedder.embed_passages(LONG_TEXTS[:2])
        group.cancel_scope.cancel()

    assert len(model.passages) == 2
