"""Rank fusion."""

from __future__ import annotations

from citewell.retrieve.fuse import fuse_by_reciprocal_rank


def test_what_both_rankings_name_comes_before_what_one_does() -> None:
    scores = fuse_by_reciprocal_rank([([1, 2], 1.0), ([2, 3], 1.0)])

    assert sorted(scores, key=lambda chunk_id: -scores[chunk_id]) == [2, 1, 3]


def test_a_heavier_ranking_decides_between_equals() -> None:
    scores = fuse_by_reciprocal_rank([([1], 1.0), ([2], 0.5)])

    assert scores[1] > scores[2]


def test_nothing_fuses_to_nothing() -> None:
    assert fuse_by_reciprocal_rank([]) == {}
