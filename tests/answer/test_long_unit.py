"""Which part of a sentence, row or program is quoted where the whole is too long."""

from hypothesis import given
from hypothesis import strategies as st

from citewell.answer.long_unit import part_to_quote
from citewell.core.question import parse_query
from citewell.core.tokens import count_tokens

BIRDS = ", ".join(f"bird number {n} eats worms" for n in range(60))
NESTS = ", ".join(f"nest number {n} holds eggs" for n in range(60))


def part_of(text: str, question: str, *, max_tokens: int = 40) -> str:
    start, end = part_to_quote(text, parse_query(question).weights, max_tokens=max_tokens)
    return text[start:end]


def test_the_part_of_a_long_sentence_with_the_words_of_the_question_is_quoted() -> None:
    text = f"Of all animals {BIRDS}, the timeout of a heron is 30 seconds, {NESTS}."

    part = part_of(text, "What is the timeout of a heron?")

    assert "the timeout of a heron is 30 seconds" in part
    assert part.startswith("bird number")
    assert count_tokens(part) <= 40


def test_the_part_of_a_long_cell_with_the_words_of_the_question_is_quoted() -> None:
    row = f"| heron | {BIRDS}. The default timeout is 30 seconds. {NESTS} |"

    assert "The default timeout is 30 seconds." in part_of(row, "default timeout")


def test_the_beginning_is_quoted_where_no_other_part_holds_more() -> None:
    text = f"The timeout of a heron is 30 seconds, {BIRDS}, and the heron has a timeout."

    assert part_of(text, "timeout of a heron").startswith("The timeout of a heron is 30 seconds")
    assert part_of(text, "zzz").startswith("The timeout of a heron is 30 seconds")


def test_a_sentence_without_spaces_is_quoted_around_the_words_of_the_question() -> None:
    text = "鳥は多い、" * 60 + "サギの寿命は十五年で、" + "巣は高い、" * 60

    assert "サギの寿命は十五年で" in part_of(text, "サギの寿命は何年ですか")


def test_a_part_does_not_begin_inside_a_link() -> None:
    link = f"[{'far ' * 30}timeout](https://example.org/)"

    assert part_of(f"{BIRDS} {link} {NESTS}", "timeout").startswith("[far far")


def test_a_fence_is_never_quoted_without_code() -> None:
    code = "```python\ndef heron(" + "wade: int = 1, " * 60 + ")\n```"

    part = part_of(code, "heron")

    assert part.startswith("```python\ndef heron(wade: int = 1,")
    assert count_tokens(part) <= 40


def test_code_is_quoted_from_its_beginning_up_to_the_end_of_a_line() -> None:
    code = "```\n" + "x = 1\n" * 40 + "heron = 2\n```"

    part = part_of(code, "heron")

    assert part.startswith("```\nx = 1\n")
    assert part.endswith("x = 1")


@given(st.text(alphabet="ab ,.|[]()`\n鷺", max_size=400), st.text(alphabet="ab鷺 ", max_size=20))
def test_a_part_is_never_longer_than_it_may_be(text: str, question: str) -> None:
    start, end = part_to_quote(text, parse_query(question).weights, max_tokens=20)

    assert 0 <= start <= end <= len(text)
    assert count_tokens(text[start:end]) <= 20
