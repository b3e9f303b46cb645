"""JSON of bounded structure."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.bounded_json import TooManyValues, parse_bounded_json

VALUES = st.recursive(
    st.none() | st.integers(-(2**70), 2**70) | st.text(st.sampled_from('a,:[{"\\\n\u00e9')),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.sampled_from('k,"\\[')), inner),
    max_leaves=30,
)


def signs(value: Any) -> int:
    """Return how many of `,:[{` JSON needs to write a value."""
    if isinstance(value, dict):
        parts = len(value) + sum(map(signs, value.values()))
        return 1 + parts + max(0, len(value) - 1)
    if isinstance(value, list):
        return 1 + max(0, len(value) - 1) + sum(map(signs, value))
    return 0


@given(value=VALUES, escaped=st.booleans())
def test_the_signs_between_values_are_counted_and_those_within_texts_are_not(
    value: Any, escaped: bool
) -> None:
    raw = json.dumps(value, ensure_ascii=escaped).encode()

    assert parse_bounded_json(raw, max_values=signs(value)) == value
    if signs(value):
        with pytest.raises(TooManyValues):
            parse_bounded_json(raw, max_values=signs(value) - 1)


def test_a_text_is_one_value_however_many_commas_it_has() -> None:
    text = 'a, "b": [c\\' * 10_000

    assert parse_bounded_json(json.dumps([text]).encode(), max_values=1) == [text]


@pytest.mark.parametrize(
    "raw",
    [
        "[1]".encode("utf-16"),
        "[1]".encode("utf-32-le"),
        b'["\xff"]',
        b"[" * 100_000,
        b"[" + b"9" * 1_001 + b"]",
        b"",
    ],
)
def test_what_is_not_plain_json_in_utf8_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        parse_bounded_json(raw, max_values=1_000_000)

    assert not isinstance(raised.value, TooManyValues)
