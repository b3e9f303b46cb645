"""Picking quotes."""

from hypothesis import given
from hypothesis import strategies as st
from tests.answer.results import block

from citewell.answer.quote import MAX_QUOTE_CHARACTERS, pick_quotes, refuse_inexact


def test_the_sentence_that_holds_the_words_of_the_question_is_quoted() -> None:
    text = "Birds are many. Herons eat fish and frogs. They also sleep. Owls hunt at night."

    (quote,) = pick_quotes("What do herons eat?", [block(text, start=40)], limit=5)

    assert quote.text == "Herons eat fish and frogs."
    assert (quote.start, quote.end) == (56, 82)
    assert quote.citation_id == "c1-01234567-56-82"


def test_neighbouring_sentences_are_joined_when_both_bear_on_the_question() -> None:
    text = "Nothing here. The cache holds pages. Its lifetime is one hour. Done."

    (quote,) = pick_quotes("cache lifetime", [block(text)], limit=5)

    assert quote.text == "The cache holds pages. Its lifetime is one hour."


def test_japanese_sentences_are_quoted_whole() -> None:
    text = "鳥は多い。サギは魚を食べます。夜は眠ります。"

    (quote,) = pick_quotes("サギは何を食べますか", [block(text)], limit=5)

    assert quote.text == "サギは魚を食べます。"


def test_an_image_is_never_the_quote() -> None:
    page = '![Herons](https://example.org/h.png "Herons wade")\n\nThey wade.'

    (quote,) = pick_quotes("herons wade", [block(page)], limit=5)

    assert quote.text == "They wade."


def test_a_heading_is_never_the_quote() -> None:
    (quote,) = pick_quotes("herons", [block("## Herons\n\nThey wade.")], limit=5)

    assert quote.text == "They wade."


def test_a_table_row_is_quoted_for_the_words_of_its_header_and_from_it_on() -> None:
    table = (
        "| Level | Numeric value |\n|-------|---------------|\n"
        "| ERROR | 40 |\n| WARNING | 30 |\n| INFO | 20 |"
    )

    (quote,) = pick_quotes("numeric value of the WARNING level", [block(table)], limit=1)

    assert quote.text == table.removesuffix("\n| INFO | 20 |")


def test_a_row_is_not_quoted_for_standing_beside_a_quote() -> None:
    text = "| M2 | 12.42 |\n| S2 | 12.00 |\n| O1 | 25.82 |\n\nM2 is told from S2 in 15 days."

    quotes = pick_quotes("What is M2?", [block(text)], limit=1, per_block=(2,))

    assert [quote.text for quote in quotes] == ["M2 is told from S2 in 15 days.", "| M2 | 12.42 |"]


def test_a_sentence_speaks_of_what_the_heading_above_it_names() -> None:
    text = "## How many birds?\n\nTwo hundred.\n\n## What does a bird cost?\n\nAbout ten euros."

    (quote,) = pick_quotes("What does a bird cost?", [block(text)], limit=1)

    assert quote.text == "About ten euros."


def test_the_header_of_a_table_is_quoted_only_with_a_row() -> None:
    table = "| Herons | Fish |\n|---|---|\n| grey | eel |"

    (quote,) = pick_quotes("herons fish", [block(table)], limit=1)

    assert quote.text.endswith("| grey | eel |")


def test_a_name_is_quoted_with_what_is_said_of_it() -> None:
    text = "**cancel(msg=None)**\n\nRequest the task to end.\n\nNew in version 3.9."

    (quote,) = pick_quotes("cancel", [block(text)], limit=1)

    assert quote.text == "**cancel(msg=None)**\n\nRequest the task to end."


def test_what_announces_something_too_long_to_quote_is_quoted_alone() -> None:
    code = "```\n" + "x = 1\n" * 100 + "```"
    text = f"By default the size is 128, as here:\n\n{code}"

    (quote,) = pick_quotes("What is the default size?", [block(text)], limit=1)

    assert quote.text == "By default the size is 128, as here:"


def test_a_sentence_is_quoted_with_the_one_that_takes_it_back() -> None:
    text = "Dropped entries cannot be recovered. However, you can try this: look. Rain fell."

    (quote,) = pick_quotes("Can dropped entries be recovered?", [block(text)], limit=1)

    assert quote.text == text.removesuffix(" Rain fell.")


def test_code_that_is_too_long_is_cut_between_its_lines() -> None:
    code = "```python\n" + "heron = wade(in_water=True)\n" * 40 + "```"

    (quote,) = pick_quotes("heron wade", [block(code)], limit=1)

    assert quote.text.endswith("\nheron = wade(in_water=True)")


def test_part_of_a_program_is_not_quoted_where_something_else_can_be() -> None:
    code = "```python\n" + "heron = wade(in_water=True)\n" * 40 + "```"
    text = f"{code}\n\nThe heron then stands still."

    (quote,) = pick_quotes("heron wade", [block(text)], limit=1)

    assert quote.text == "The heron then stands still."


def test_what_only_points_elsewhere_is_not_quoted() -> None:
    text = "Source: [lib/heron.py](https://example.org/heron.py)\n\nA bird that wades."

    (quote,) = pick_quotes("heron", [block(text)], limit=1)

    assert quote.text == "A bird that wades."


def test_the_sentence_that_defines_a_term_is_quoted_first() -> None:
    text = (
        "**hash**: In Git, another word for the name of an object in the index.\n\n"
        "**index**: A collection of files."
    )

    first, *_ = pick_quotes("what is the index in git", [block(text)], limit=1, per_block=(2,))

    assert first.text == "**index**: A collection of files."


@given(st.text(alphabet="ab .。\n#`|-", min_size=1, max_size=900), st.integers(0, 50))
def test_a_quote_is_always_a_slice_of_its_page(text: str, start: int) -> None:
    page = "x" * start + text

    for quote in pick_quotes("a b ab", [block(text, start=start)], limit=3, per_block=(3,)):
        assert page[quote.start : quote.end] == quote.text != ""
        assert len(quote.text) <= MAX_QUOTE_CHARACTERS


def test_a_block_may_have_several_quotes_and_neighbours_become_one() -> None:
    text = (
        "Manning is the oldest quarterback to play in a Super Bowl. The record was held by Elway.\n\n"
        "Rain fell.\n\nThe Super Bowl was played in Denver."
    )

    quotes = pick_quotes("Who was the oldest quarterback?", [block(text)], limit=1, per_block=(3,))

    assert quotes[0].text == (
        "Manning is the oldest quarterback to play in a Super Bowl. The record was held by Elway."
    )
    assert all(
        one.end <= other.start or other.end <= one.start
        for one in quotes
        for other in quotes
        if one is not other
    )


def test_a_quote_that_the_page_does_not_hold_is_refused() -> None:
    quotes = pick_quotes("fish", [block("Herons eat fish."), block("No fish.", source=2)], limit=5)

    assert [q.source_id for q in refuse_inexact(quotes, {1: "Herons eat fish.", 2: "Other."})] == [
        1
    ]
