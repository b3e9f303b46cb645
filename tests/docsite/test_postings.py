"""The postings of all words: what is kept as bytes reads as the dictionary it was made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from citewell.core.words import words
from citewell.docsite.postings import (
    MAX_PAGES,
    MAX_WEIGHT,
    Postings,
    decode_postings,
    encode_posting,
)

WORDS = st.text(max_size=12).map(words).filter(bool).map(lambda found: found[0])
PAIRS = st.tuples(st.integers(0, MAX_PAGES - 1), st.integers(1, MAX_WEIGHT))
POSTINGS = st.lists(PAIRS, min_size=1, max_size=4).map(
    lambda pairs: "".join(encode_posting(*pair) for pair in pairs)
)


@given(st.dictionaries(WORDS, POSTINGS), st.lists(WORDS))
def test_every_word_is_found_and_no_other(plain: dict[str, str], others: list[str]) -> None:
    postings = Postings.of(plain)

    assert dict(postings) == plain
    assert len(postings) == len(plain)
    assert [postings.get(word) for word in others] == [plain.get(word) for word in others]


@given(st.lists(PAIRS))
def test_pairs_come_back_as_they_were(pairs: list[tuple[int, int]]) -> None:
    assert decode_postings("".join(encode_posting(*pair) for pair in pairs)) == pairs
