"""Reading a question."""

import pytest

from citewell.core.answer_types import AnswerType, agreement, asked_type
from citewell.core.question import parse_query


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What is the default timeout?", "value"),
        ("How many commits are listed?", "value"),
        ("Which Python release made it legal?", "version"),
        ("Why does the field not know its name?", "why"),
        ("get_event_loop() or get_running_loop(), which is the better one?", "choice"),
        ("How do I stop after five seconds?", "how"),
        ("What is a task?", "definition"),
        ("Can I rely on it?", "yes_no"),
        ("alien コマンドは何をするツールですか", "definition"),
        ("disable octal escapes", "fact"),
    ],
)
def test_a_question_wants_a_kind_of_answer(question: str, wanted: AnswerType) -> None:
    assert asked_type(question) == wanted


def test_a_sentence_agrees_with_the_kind_of_answer_it_may_be() -> None:
    assert agreement("value", "The default is 300 seconds.") > agreement("value", "Set it.")
    assert agreement("yes_no", "This is not supported.") > agreement("yes_no", "It is grey.")
    assert agreement("how", "Use the --abort option.") > agreement("how", "It was grey.")


def test_pasted_code_and_the_story_count_less_than_what_is_asked() -> None:
    query = parse_query(
        "class Field:\n    def __set_name__(self, owner, name):\n        self.name = name\n\n"
        "I wrote this descriptor yesterday. It prints nothing at all. "
        "Why does the field not know its title?"
    )

    weights = query.weights
    assert weights["titl"] > weights["descriptor"] > weights["owner"] > 0
    assert query.ask == "Why does the field not know its title?"


def test_words_that_only_ask_count_less() -> None:
    weights = parse_query("How do I find the right timeout?").weights

    assert weights["timeout"] > weights["find"]


@pytest.mark.parametrize(
    ("question", "signs"),
    [
        ("What replaces the `$?` variable of other shells?", ("$?",)),
        ("Is && the same as ;?", ("&&",)),
        ("When do I need -> and when ::?", ("->", "::")),
        ("Does it wait -- or not?! See the rule ===== above :)", ()),
        ("How do I list tasks?", ()),
    ],
)
def test_operators_are_asked_about_though_they_are_no_words(
    question: str, signs: tuple[str, ...]
) -> None:
    assert parse_query(question).signs == signs
