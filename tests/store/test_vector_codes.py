"""Packed codes of vectors: who is near, what is forgotten, what a filter leaves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from citewell.store.sqlite.vector_codes import VectorCodes

DIMENSIONS = 100


def some_vectors(count: int, seed: int = 1) -> npt.NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((count, DIMENSIONS)) + 2).astype(np.float32)


def codes_of(vectors: npt.NDArray[np.float32]) -> VectorCodes:
    """Codes with ids 0, 1, 2 …, ten chunks to a page."""
    codes = VectorCodes(DIMENSIONS)
    ids = np.arange(len(vectors), dtype=np.int64)
    codes.add(ids, ids // 10, vectors)
    return codes


@pytest.mark.parametrize("count", [1, 9, 8192, 8193, 20_000])
def test_a_vector_is_nearest_to_itself(count: int) -> None:
    vectors = some_vectors(count)
    codes = codes_of(vectors)

    for at in (0, count // 2, count - 1):
        assert codes.nearest(vectors[at], 1).tolist() == [at]


def test_as_many_as_asked_come_back_each_once() -> None:
    codes = codes_of(np.repeat(some_vectors(5), 20, axis=0))

    found = codes.nearest(some_vectors(1)[0], 30)

    assert len(set(found.tolist())) == 30
    assert len(codes.nearest(some_vectors(1)[0], 1000)) == 100


def test_only_the_pages_allowed_are_looked_at() -> None:
    vectors = some_vectors(100)
    codes = codes_of(vectors)
    pages = np.array([3, 7, 999_999], np.int64)

    found = codes.nearest(vectors[0], 50, sources=pages)

    assert sorted(found.tolist()) == [*range(30, 40), *range(70, 80)]
    assert codes.nearest(vectors[0], 5, sources=np.array([], np.int64)).tolist() == []


def test_an_id_given_again_is_replaced() -> None:
    vectors = some_vectors(50)
    codes = codes_of(vectors)

    codes.add(np.array([7]), np.array([0]), -vectors[7:8])

    assert len(codes) == 50
    assert codes.nearest(-vectors[7], 1).tolist() == [7]


def test_what_is_discarded_or_not_retained_is_gone() -> None:
    vectors = some_vectors(50)
    codes = codes_of(vectors)

    codes.discard(np.array([0, 1, 999], np.int64))
    codes.retain(np.arange(1, 13, dtype=np.int64), sources=np.array([0, 1]))
    codes.retain_sources(np.array([0, 1, 4, 999]))

    left = [*range(2, 13), *range(40, 50)]
    assert len(codes) == len(left)
    assert sorted(codes.nearest(vectors[0], 50).tolist()) == left
    assert codes.sources_of(np.array([0, 5, 41, 42])).tolist() == [0, 4]


def test_an_id_that_was_discarded_can_come_again() -> None:
    vectors = some_vectors(50)
    codes = codes_of(vectors)

    codes.discard(np.array([7]))
    codes.add(np.array([7]), np.array([3]), vectors[7:8])

    assert len(codes) == 50
    assert codes.nearest(vectors[7], 1).tolist() == [7]
    assert codes.nearest(vectors[7], 50, sources=np.array([3])).tolist().count(7) == 1


def test_growing_to_more_than_twice_the_first_vectors_asks_for_a_new_mean() -> None:
    codes = codes_of(some_vectors(10))
    more = some_vectors(11, seed=2)

    codes.add(np.arange(10, 20), np.zeros(10, np.int64), more[:10])
    at_twice = codes.is_off_centre
    codes.add(np.array([20]), np.array([0]), more[10:])

    assert (at_twice, codes.is_off_centre) == (False, True)


def test_empty_codes_find_nothing() -> None:
    codes = VectorCodes(DIMENSIONS)
    codes.add(np.array([], np.int64), np.array([], np.int64), some_vectors(0))

    assert codes.nearest(some_vectors(1)[0], 5).tolist() == []
    assert len(codes) == 0
