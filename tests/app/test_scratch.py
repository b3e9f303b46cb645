"""Scratch: whose passages are whose, and what goes when room or time runs out."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from citewell.app.scratch import Passage, PassagePlace, ScratchStore, parse_scratch_uri
from citewell.core.records import Caller

ME, YOU = Caller(session="me"), Caller(session="you")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def place(start: int = 0, *, source: int = 1, page_hash: str = "h1") -> PassagePlace:
    return PassagePlace(
        section_id="7",
        source_id=source,
        page_hash=page_hash,
        start=start,
        end=start + 10,
        title="Herons",
        url="https://example.org/",
        tags=("birds", "water"),
        heading_path=(),
        anchor=None,
    )


def scratch(
    clock: Clock | None = None, *, max_bytes: int = 1_000_000, ttl_seconds: float = 100
) -> ScratchStore:
    return ScratchStore(ttl_seconds=ttl_seconds, max_bytes=max_bytes, clock=clock or Clock())


def test_a_passage_comes_back_whole_with_its_address() -> None:
    store = scratch()

    passage = store.put(ME, place(), "鷺 words")

    assert store.get(ME, passage.passage_id) == passage
    assert passage.size_bytes == 9
    assert passage.place.doc_tag == "birds"
    assert passage.uri == f"citewell://scratch/{store.session_of(ME)}/{passage.passage_id}"


def test_the_same_place_keeps_its_id_and_another_page_version_does_not() -> None:
    store = scratch()

    first, again = store.put(ME, place(), "a"), store.put(ME, place(), "a")
    newer = store.put(ME, place(page_hash="h2"), "a")

    assert first.passage_id == again.passage_id != newer.passage_id


def test_nobody_reads_the_passages_of_another() -> None:
    store = scratch()
    passage = store.put(ME, place(), "secret")

    assert store.get(YOU, passage.passage_id) is None
    assert store.place_of(YOU, passage.passage_id) is None
    assert store.read(YOU, passage.session_id, passage.passage_id) is None
    assert store.read(ME, store.session_of(YOU), passage.passage_id) is None
    assert store.read(ME, passage.session_id, passage.passage_id) == passage


def test_a_key_owns_its_passages_across_sessions_and_projects_are_apart() -> None:
    store = scratch()
    passage = store.put(Caller(session="a", key_hash="k"), place(), "x")

    assert store.get(Caller(session="b", key_hash="k"), passage.passage_id) == passage
    assert store.get(Caller(session="a", key_hash="other"), passage.passage_id) is None
    assert store.get(Caller(session="a", key_hash="k", project="p"), passage.passage_id) is None


def test_after_its_time_only_the_place_of_a_passage_is_left() -> None:
    clock = Clock()
    store = scratch(clock, ttl_seconds=30)
    passage = store.put(ME, place(), "words")

    clock.now = 29
    assert store.get(ME, passage.passage_id) is not None
    clock.now = 30
    assert store.get(ME, passage.passage_id) is None
    assert store.place_of(ME, passage.passage_id) == place()
    assert (store.stats().expired, store.stats().bytes) == (1, 0)


def test_putting_again_begins_the_time_anew() -> None:
    clock = Clock()
    store = scratch(clock, ttl_seconds=30)
    store.put(ME, place(), "words")

    clock.now = 20
    passage = store.put(ME, place(), "words")
    clock.now = 45

    assert store.get(ME, passage.passage_id) is not None


def test_without_room_the_least_recently_used_goes_first() -> None:
    store = scratch(max_bytes=5_000)
    first = store.put(ME, place(0), "a" * 1_500)
    second = store.put(ME, place(20), "b" * 1_500)

    store.get(ME, first.passage_id)
    store.put(YOU, place(40), "c" * 1_500)

    assert store.get(ME, first.passage_id) is not None
    assert store.get(ME, second.passage_id) is None
    stats = store.stats()
    assert (stats.passages, stats.evicted, stats.sessions) == (2, 1, 2)
    assert stats.bytes <= 5_000


def test_a_passage_larger_than_all_room_is_not_kept() -> None:
    store = scratch(max_bytes=2_000)

    passage = store.put(ME, place(), "a" * 9_000)

    assert store.get(ME, passage.passage_id) is None
    assert store.stats().bytes == 0


def test_many_evictions_in_a_minute_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    store = scratch(max_bytes=1_000)

    with caplog.at_level(logging.WARNING):
        for start in range(120):
            store.put(ME, place(start), "a" * 300)

    assert [record.message.split(":")[0] for record in caplog.records] == ["scratch is full"]


def test_many_threads_neither_mix_callers_nor_outgrow_the_bound() -> None:
    store = scratch(max_bytes=50_000)

    def use(number: int) -> list[Passage]:
        me = Caller(session=f"caller {number}")
        made = [store.put(me, place(at, source=number), f"{number} " * 50) for at in range(60)]
        return [each for each in made if store.get(me, each.passage_id) not in (None, each)]

    with ThreadPoolExecutor(16) as pool:
        wrong = list(pool.map(use, range(64)))

    assert not any(wrong)
    assert store.stats().bytes <= 50_000
    assert store.stats().sessions == 64


@pytest.mark.parametrize(
    ("uri", "parts"),
    [
        ("citewell://scratch/123/456", ("123", "456")),
        ("citewell://scratch/123", None),
        ("citewell://scratch/123/", None),
        ("citewell://scratch/1/2/3", None),
        ("citewell://scratch/../456", None),
        ("https://example.org/1/2", None),
        ("456", None),
    ],
)
def test_only_scratch_uris_are_taken_apart(uri: str, parts: tuple[str, str] | None) -> None:
    assert parse_scratch_uri(uri) == parts
