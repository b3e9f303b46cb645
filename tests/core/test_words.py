"""Search words: stems, symbols and CJK bigrams."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.words import (
    as_symbol,
    content_words,
    search_words,
    text_words,
    weight_of,
    words,
    written_words,
)


def test_english_words_are_lower_cased_and_stemmed() -> None:
    assert words("Installing the Packages") == ["instal", "the", "packag"]


def test_an_apostrophe_ends_a_word() -> None:
    assert words("the server's log") == ["the", "server", "log"]


def test_a_dotted_symbol_is_found_whole_and_by_its_parts() -> None:
    assert words("os.path.join") == ["os.path.join", "os", "path", "join"]


def test_an_underscored_part_of_a_dotted_symbol_stays_whole_too() -> None:
    assert words("message.add_header") == [
        "message.add_header",
        "messag",
        "add_header",
        "add",
        "header",
    ]


def test_a_special_method_keeps_its_underscores() -> None:
    assert words("define __init__ first") == ["defin", "__init__", "init", "first"]


def test_a_full_stop_does_not_join_sentences() -> None:
    assert words("It ends. Then more.") == ["it", "end", "then", "more"]


def test_camel_case_is_found_whole_and_by_its_humps() -> None:
    assert words("HTTPServer") == ["httpserver", "http", "server"]


def test_japanese_becomes_bigrams_and_latin_within_it_words() -> None:
    assert words("日本語のPod") == ["日本", "本語", "語の", "pod"]


def test_wide_letters_are_the_same_as_narrow_ones() -> None:
    assert words("ＡＰＩ") == words("API")


@pytest.mark.parametrize("word", ["pod", "os.path", "1989"])
def test_a_word_between_spaces_counts_in_full(word: str) -> None:
    assert weight_of(word) == 1.0


@pytest.mark.parametrize("bigram", ["日本", "ーバ", "한국", "第"])
def test_a_bigram_counts_less_than_a_word(bigram: str) -> None:
    assert weight_of(bigram) < weight_of("pod")


@pytest.mark.parametrize("bigram", ["する", "語の", "の"])
def test_a_particle_or_an_ending_counts_least(bigram: str) -> None:
    assert weight_of(bigram) < weight_of("日本")


def test_content_words_leave_stop_words_out() -> None:
    assert content_words("how do I install the server") == ["instal", "server"]


def test_a_text_of_stop_words_keeps_them() -> None:
    assert content_words("to be or not to be") == ["to", "be", "or", "not", "to", "be"]


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("os.path.join", "os.path.join"),
        ("`Path.resolve()`", "path.resolve"),
        ("std::vector", "std.vector"),
        ("zip()", "zip"),
        ("read_text", "read_text"),
        ("TaskGroup", "taskgroup"),
        ("installation", None),
        ("Binary operations", None),
        ("What is os.path?", None),
        ("", None),
    ],
)
def test_a_symbol_is_told_from_ordinary_words(text: str, symbol: str | None) -> None:
    assert as_symbol(text) == symbol


@given(st.text())
def test_any_text_gives_words_without_white_space(text: str) -> None:
    assert all(word and not word.isspace() for word in words(text))


@given(st.text(alphabet="abcXYZ_. '", max_size=40))
def test_a_query_copied_from_a_text_is_found_in_it(text: str) -> None:
    assert set(words(text)) <= set(words(f"before {text} after"))


def test_the_words_of_markdown_leave_link_targets_out() -> None:
    markdown = "See [task groups](https://docs.example/asyncio_(3).html) and (this note)."

    assert text_words(markdown) == words("See [task groups] and (this note).")


@given(st.text() | st.text(alphabet="abcXYZ09_. '`,\n語・é\u3000\u0301\u00a8ﬁ", max_size=40))
def test_the_words_of_a_text_are_those_of_its_written_words(text: str) -> None:
    assert words(text) == list(search_words(written_words(text)))


def test_an_apostrophe_after_underscores_leaves_no_empty_word() -> None:
    assert words("x__'y") == ["x__'y", "x"]


def test_more_different_words_than_are_remembered_are_all_found() -> None:
    numbers = [f"n{number}" for number in range(100_100)]

    assert words(" ".join(numbers)) == numbers
