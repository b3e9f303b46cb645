"""Correcting slips of the keyboard."""

from citewell.core.words import words
from citewell.retrieve.spelling import apply_corrections, correct_words, find_suspects

TEXT = "An exception can carry extra information. Rotate the log file at midnight, local time."
HELD = frozenset(words(TEXT))


def test_words_that_no_text_holds_become_those_that_are_meant() -> None:
    question = "put extra infomation on an exeption at midnite, local tiem"

    corrected = correct_words(find_suspects(question, held=HELD), [TEXT])

    assert corrected == {
        "infomation": "information",
        "exeption": "exception",
        "midnite": "midnight",
        "tiem": "time",
    }
    assert apply_corrections(question, corrected) == (
        "put extra information on an exception at midnight, local time"
    )


def test_words_that_are_held_in_another_form_stay() -> None:
    assert find_suspects("rotating logs and exceptions", held=HELD) == []


def test_names_and_words_without_likeness_stay() -> None:
    suspects = find_suspects("does GridFS or zstd or elephant what", held=HELD)

    assert suspects == ["zstd", "elephant"]
    assert correct_words(suspects, [TEXT]) == {}


def test_the_parts_of_a_name_are_not_slips() -> None:
    assert find_suspects("ssl.op_no_sslv2 or pond::herron", held=HELD) == []
    assert apply_corrections("ssl.op_no_sslv2", {"sslv": "ssl"}) == "ssl.op_no_sslv2"
