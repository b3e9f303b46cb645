"""Picking quotes: which span, and how much around it."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.answer.results import block, quotes_of

from citewell.answer.quote import (
    FRAME_TOKENS,
    QuoteLimits,
    choose_quotes,
    cut_preview,
    quote_chunk,
    refuse_inexact,
)
from citewell.answer.spans import PassageText, Place
from citewell.core.question import parse_query
from citewell.core.tokens import count_tokens


def picked(
    question: str,
    *texts: str,
    max_quotes: int = 7,
    first_tokens: int = 120,
    other_tokens: int = 50,
    longest_tokens: int = 160,
) -> list[str]:
    limits = QuoteLimits(
        max_quotes=max_quotes,
        first_tokens=first_tokens,
        other_tokens=other_tokens,
        longest_tokens=longest_tokens,
    )
    passages = [PassageText(text=text) for text in texts]
    spans = choose_quotes(parse_query(question), passages, limits=limits)
    return [passages[span.passage].text[span.start : span.end] for span in spans]


def best_sentence(question: str, text: str) -> str:
    return picked(question, text, max_quotes=1, first_tokens=1)[0]


def test_the_sentence_that_holds_the_words_of_the_question_is_quoted() -> None:
    text = "Birds are many. Herons eat fish and frogs. They also sleep. Owls hunt at night."

    (quote,) = quotes_of("What do herons eat?", block(text, start=40))

    assert quote.text == "Herons eat fish and frogs."
    assert (quote.start, quote.end) == (56, 82)
    assert quote.citation_id == "c1-01234567-56-82"


def test_the_best_quote_is_given_the_sentences_around_it_while_they_fit() -> None:
    text = "Nothing here. The cache holds pages. Its lifetime is one hour. Done."

    assert picked("cache lifetime", text, max_quotes=1, first_tokens=12) == [
        "The cache holds pages. Its lifetime is one hour."
    ]
    assert picked("cache lifetime", text) == [text]


def test_a_quote_names_the_sentence_in_it_that_most_probably_answers() -> None:
    passage = PassageText(
        text="Nothing here. The cache holds pages. Its lifetime is one hour. Done."
    )
    reads = {(0, 0): -4.0, (0, 1): -1.0, (0, 2): 3.0, (0, 3): -4.0}
    query, limits = parse_query("How long does the cache live?"), QuoteLimits(max_quotes=1)

    (sure,) = choose_quotes(query, [passage], limits=limits, reads=reads)
    (even,) = choose_quotes(query, [passage], limits=limits, reads=dict.fromkeys(reads, 0.0))

    assert passage.text[slice(*sure.key)] == "Its lifetime is one hour."
    assert sure.key_share > 0.8
    assert even.key_share < 0.6
    quote = quote_chunk(block(passage.text, start=40), sure, confidence=0.5)
    assert (quote.key, quote.key_confidence) == ((77, 102), 0.5 * sure.key_share)


def test_what_a_lead_in_announces_belongs_to_the_sentence_that_answers() -> None:
    passage = PassageText(text="Install it with:\n\n```\npip install heron\n```\n\nThen rest.")
    reads = {(0, 0): 3.0, (0, 1): 0.0, (0, 2): -4.0}
    limits = QuoteLimits(max_quotes=1)

    (span,) = choose_quotes(
        parse_query("How do I install it?"), [passage], limits=limits, reads=reads
    )

    assert "pip install heron" in passage.text[slice(*span.key)]
    assert "rest" not in passage.text[slice(*span.key)]


def test_a_sentence_that_refers_back_is_quoted_with_the_one_before_it() -> None:
    text = "Rain fell. The file is cached. It expires after ten minutes. Snow fell."

    assert picked("when does the cached file expire", text, max_quotes=1, first_tokens=1) == [
        "The file is cached. It expires after ten minutes."
    ]


def test_japanese_sentences_are_quoted_whole() -> None:
    text = "鳥は多い。サギは魚を食べます。夜は眠ります。"

    assert best_sentence("サギは何を食べますか", text) == "サギは魚を食べます。"


def test_an_image_is_never_the_quote() -> None:
    page = '![Herons](https://example.org/h.png "Herons wade")\n\nThey wade.'

    assert best_sentence("herons wade", page) == "They wade."


def test_a_heading_is_quoted_only_where_there_is_no_other_text() -> None:
    assert picked("herons", "## Herons\n\nThey wade.") == ["They wade."]
    assert picked("herons", "## Herons wade all year") == ["## Herons wade all year"]


def test_a_table_row_is_quoted_for_the_words_of_its_header_and_from_it_on() -> None:
    table = (
        "| Level | Numeric value |\n|-------|---------------|\n"
        "| ERROR | 40 |\n| WARNING | 30 |\n| INFO | 20 |"
    )

    quote = best_sentence("numeric value of the WARNING level", table)

    assert quote == table.removesuffix("\n| INFO | 20 |")


def test_a_small_table_is_quoted_whole() -> None:
    table = (
        "| Setting | |\n|---|---|\n| Description: | How long credentials are cached |\n"
        "| Default: | 300 |\n| Module: | mod_authn_socache |"
    )

    assert picked("How long are credentials cached by default?", table) == [table]


def test_what_announces_a_table_is_quoted_with_its_rows() -> None:
    text = (
        "**Table 4.1. Attributes of connection strings**\n\n"
        "| Name | Meaning |\n|---|---|\n| SERVER | a host |\n| SERVERNAME | an entry |"
    )

    assert picked("Which attributes can connection strings have?", text) == [text]


def test_a_sentence_that_goes_on_in_code_is_quoted_with_it() -> None:
    text = "A rule can point to a script instead of a shell command, e.g.\n\n```\nscript: x.py\n```"

    assert picked("Can a rule point to an external script?", text) == [text]


def test_a_row_far_below_its_header_is_quoted_alone() -> None:
    rows = "".join(f"| level{n} | {n} |\n" for n in range(100))
    table = f"| Level | Value |\n|---|---|\n{rows}| WARNING | 30 |"

    assert best_sentence("value of the WARNING level", table) == "| WARNING | 30 |"


def test_a_sentence_speaks_of_what_the_heading_above_it_names() -> None:
    text = "## How many birds?\n\nTwo hundred.\n\n## What does a bird cost?\n\nAbout ten euros."

    assert best_sentence("What does a bird cost?", text) == "About ten euros."


def test_a_name_is_quoted_with_what_is_said_of_it() -> None:
    text = "**cancel(msg=None)**\n\nRequest the task to end.\n\nNew in version 3.9."

    assert picked("cancel", text, max_quotes=1, first_tokens=1) == [
        "**cancel(msg=None)**\n\nRequest the task to end."
    ]


def test_what_announces_something_too_long_is_quoted_with_its_beginning() -> None:
    code = "```\n" + "x = 1\n" * 100 + "```"
    text = f"By default the size is 128, as here:\n\n{code}"

    [quote] = picked("What is the default size?", text, max_quotes=1)

    assert quote.startswith("By default the size is 128, as here:\n\n```\nx = 1\nx = 1\n")
    assert quote.endswith("x = 1")
    assert len(quote) < len(text)


def test_a_quote_does_not_end_with_a_lead_in_whose_program_does_not_fit() -> None:
    code = "```\n" + "knotc zone-flush example.com\n" * 60 + "```"
    text = f"Freeze the zone before you edit its file. Then run:\n\n{code}"

    assert picked("How do I edit the file of a zone?", text, max_quotes=1) == [
        "Freeze the zone before you edit its file."
    ]


def test_code_is_quoted_with_the_sentence_that_introduces_it() -> None:
    text = "Rain fell.\n\nTo wade, call this:\n\n```\nheron.wade(deep=True)\n```"

    assert picked("how to wade deep with heron.wade", text, max_quotes=1, first_tokens=1) == [
        "To wade, call this:\n\n```\nheron.wade(deep=True)\n```"
    ]


def test_code_that_is_too_long_is_cut_between_its_lines() -> None:
    code = "```python\n" + "heron = wade(in_water=True)\n" * 40 + "```"

    quote = best_sentence("heron wade", code)

    assert quote.endswith("\nheron = wade(in_water=True)")


@pytest.mark.parametrize(
    "pointer",
    ["Source: [lib/heron.py](https://example.org/heron.py)", "Defined in lib/heron.py, line 3."],
)
def test_what_only_points_elsewhere_is_not_quoted(pointer: str) -> None:
    assert best_sentence("heron", f"{pointer}\n\nA bird that wades.") == "A bird that wades."


def test_the_sentence_that_defines_a_term_is_quoted_first() -> None:
    text = (
        "**hash**: In Git, another word for the name of an object in the index.\n\n"
        "**index**: A collection of files."
    )

    assert best_sentence("what is the index in git", text) == "**index**: A collection of files."


def test_a_question_for_a_default_is_answered_by_a_value() -> None:
    text = "The timeout of the cache can be set. The timeout is 300 seconds by default."

    assert best_sentence("What is the default timeout of the cache?", text).endswith("by default.")


def test_a_better_passage_goes_first() -> None:
    passages = [
        PassageText(text="The heron eats fish.", relevance=0.1),
        PassageText(text="A heron often eats fish.", relevance=0.9),
    ]

    spans = choose_quotes(parse_query("heron eats fish"), passages, limits=QuoteLimits())

    assert [span.passage for span in spans] == [1, 0]


def test_the_same_sentence_is_not_quoted_twice() -> None:
    assert picked("heron fish", "The heron eats fish.", "The heron eats fish.") == [
        "The heron eats fish."
    ]


def test_quotes_keep_to_the_number_asked_for() -> None:
    texts = [f"Heron number {n} eats fish. " + "word " * 200 for n in range(9)]

    found = picked("heron fish", *texts, max_quotes=3, first_tokens=15, other_tokens=15)

    assert found == [f"Heron number {n} eats fish." for n in range(3)]


def test_without_a_word_in_common_the_best_passage_speaks() -> None:
    assert best_sentence("zzz", "Alpha beta gamma delta. Epsilon.") == "Alpha beta gamma delta."
    assert picked("zzz") == []


def test_a_preview_is_a_slice_of_the_passage_and_shows_where_it_is_cut() -> None:
    text = "Owls hunt at night. The heron eats fish. It nests in trees. Rain fell."

    passage = PassageText(text=text)
    query = parse_query("what does a heron eat")

    assert "The heron eats fish." in cut_preview(query, passage, max_characters=60)
    assert cut_preview(query, passage, max_characters=12) == "The heron…"


@given(
    st.text(max_size=60),
    st.lists(st.text(alphabet="ab .。:\n#`|-*", max_size=120), max_size=3),
)
def test_quotes_are_slices_within_their_limits(question: str, texts: list[str]) -> None:
    found = picked(
        question, *texts, max_quotes=4, first_tokens=30, other_tokens=20, longest_tokens=40
    )

    assert len(found) <= 4
    assert all(quote and any(quote in text for text in texts) for quote in found)
    assert all(count_tokens(quote) <= 90 for quote in found)


def test_a_quote_that_the_page_does_not_hold_is_refused() -> None:
    quotes = [
        *quotes_of("fish", block("Herons eat fish.")),
        *quotes_of("fish", block("No fish.", source=2)),
    ]

    exact = refuse_inexact(quotes, {1: "Herons eat fish.", 2: "Other."})

    assert [quote.source_id for quote in exact] == [1]


def test_another_section_is_quoted_sooner_than_the_same_one_again() -> None:
    texts = (
        "Herons eat fish and frogs at dawn in the river.",
        "Herons eat fish.",
        "Egrets eat insects and some fish.",
    )
    sections = ((1, 1), (1, 1), (1, 2))
    passages = [
        PassageText(text=text, section=section)
        for text, section in zip(texts, sections, strict=True)
    ]
    question = parse_query("What do herons eat at dawn in the river?")

    spans = choose_quotes(question, passages, limits=QuoteLimits(max_quotes=2))

    assert [span.passage for span in spans] == [0, 2]


def test_what_was_quoted_before_is_left_to_that_quote() -> None:
    text = "Herons eat fish at dawn.\n\nHerons eat frogs at night."
    question = parse_query("What do herons eat?")
    passages = [PassageText(text=text)]

    [first, *_] = choose_quotes(question, passages, limits=QuoteLimits(first_tokens=8))
    second = choose_quotes(question, passages, limits=QuoteLimits(first_tokens=8), quoted=[(0, 0)])

    assert text[first.start : first.end] == "Herons eat fish at dawn."
    assert [text[span.start : span.end] for span in second] == ["Herons eat frogs at night."]


def test_an_image_that_is_a_link_is_not_quoted_before_words() -> None:
    text = (
        "[![<-](https://example.org/left.gif)](https://example.org/up)\n\n"
        "Herons nest in tall trees near the river, often with many others.\n"
    )
    passages = [PassageText(text=text, path=("Herons",))]

    spans = choose_quotes(parse_query("index of modules"), passages, limits=QuoteLimits())

    assert all("![" not in text[span.start : span.end] for span in spans)


def quoted_within(
    total_tokens: int, question: str, *texts: str, reads: Mapping[Place, float] | None = None
) -> list[str]:
    limits = QuoteLimits(first_tokens=8, other_tokens=8, total_tokens=total_tokens)
    passages = [PassageText(text=text) for text in texts]
    spans = choose_quotes(parse_query(question), passages, limits=limits, reads=reads)
    return [passages[span.passage].text[span.start : span.end] for span in spans]


def test_two_sentences_that_stand_near_each_other_are_quoted_as_one() -> None:
    text = "Herons eat fish at dawn.\n\nThey rest at noon.\n\nHerons eat frogs at night."

    assert quoted_within(400, "What do herons eat?", text) == [text]


def test_sentences_under_different_headings_are_quoted_apart() -> None:
    text = "Herons eat fish at dawn.\n\n## Night\n\nHerons eat frogs at night."

    assert quoted_within(400, "What do herons eat?", text) == [
        "Herons eat fish at dawn.",
        "Herons eat frogs at night.",
    ]


def test_all_quotes_with_their_frames_stay_within_their_limit() -> None:
    texts = [f"Herons eat {food} at dawn." for food in ("fish", "frogs", "mice", "snakes")]

    quotes = {
        total: quoted_within(total, "What do herons eat at dawn?", *texts)
        for total in range(100, 500, 50)
    }

    for total, chosen in quotes.items():
        assert sum(count_tokens(quote) + FRAME_TOKENS for quote in chosen) <= total
    assert len(quotes[450]) == len(texts)


def test_what_a_reader_takes_for_the_answer_comes_first() -> None:
    texts = ("Herons eat fish at dawn.", "Herons eat at dawn.", "Herons eat frogs.")

    unread = quoted_within(400, "What do herons eat at dawn?", *texts)
    read = quoted_within(
        400, "What do herons eat at dawn?", *texts, reads={(0, 0): 1.0, (1, 0): -2.0, (2, 0): 3.0}
    )

    assert unread[0] == "Herons eat fish at dawn."
    assert read[:2] == ["Herons eat frogs.", "Herons eat fish at dawn."]


def test_sentences_that_answer_together_come_before_a_better_one_that_stands_alone() -> None:
    passages = [
        PassageText(text="Herons eat at dawn."),
        PassageText(text="Herons eat fish. Herons eat frogs."),
    ]
    reads = {(0, 0): 1.2, (1, 0): 1.0, (1, 1): 1.0}

    best, *_ = choose_quotes(
        parse_query("What do herons eat?"), passages, limits=QuoteLimits(), reads=reads
    )

    assert (best.passage, best.start, best.end) == (1, 0, len(passages[1].text))


def test_more_is_quoted_where_the_best_quote_holds_a_smaller_share_of_the_odds() -> None:
    passages = [PassageText(text=f"Herons eat {food}.") for food in ("fish", "frogs", "mice")]

    def count_quotes(least_chance: float) -> int:
        limits = QuoteLimits(
            first_tokens=8, total_tokens=100, doubtful_tokens=400, least_chance=least_chance
        )
        return len(choose_quotes(parse_query("What do herons eat?"), passages, limits=limits))

    assert (count_quotes(0.3), count_quotes(0.4)) == (1, 3)


def test_a_note_on_versions_is_not_quoted_along_with_what_answers() -> None:
    text = (
        "Changed in version 3.11: Herons can be given a pond.\n\n"
        "To stop a heron, call `heron.stop()`.\n\nIt flies away."
    )

    asked = quoted_within(400, "How do I stop a heron?", text)
    changed = quoted_within(400, "Since which version can herons be given a pond?", text)

    assert asked[0].startswith("To stop a heron")
    assert changed[0].startswith("Changed in version 3.11")
