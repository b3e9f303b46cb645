"""Scoring chunks by their words."""

from __future__ import annotations

from citewell.store.bm25 import Totals, score_chunks

CHUNKS = [(1, "a b", "a a a c"), (2, "", "c"), (3, "", ""), (4, "d", "aa ba")]
TOTALS = Totals(chunks=4, words=10)


def test_words_that_no_chunk_holds_change_no_score_however_many_they_are() -> None:
    weights = {"a": 1.5, "b": 0.5, "c": 0.25}
    few = list(score_chunks(CHUNKS, weights, TOTALS))
    many = list(score_chunks(CHUNKS, weights | {f"z{n}": 1.0 for n in range(20)}, TOTALS))

    assert [chunk_id for _, chunk_id in few] == [1, 2]
    assert few == many
