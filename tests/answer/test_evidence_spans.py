"""Ranking spans by the rule of seed D §4.6.1, and choosing quotes among them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from citewell.answer.evidence_quotes import QuoteLimits, choose_quotes, cut_preview
from citewell.answer.evidence_spans import (
    PassageText,
    question_terms,
    rank_spans,
    split_spans,
)
from citewell.core.tokens import count_tokens


def ranked(question: str, *texts: str) -> list[tuple[str, float]]:
    passages = [PassageText(text=text) for text in texts]
    return [
        (passages[span.passage].text[span.start : span.end], round(span.score, 2))
        for span in rank_spans(question, passages)
    ]


def quotes(question: str, *texts: str, rerank: bool = True, **limits: int) -> list[str]:
    passages = [PassageText(text=text) for text in texts]
    chosen = choose_quotes(question, passages, limits=QuoteLimits(**limits), rerank=rerank)
    return [passages[span.passage].text[span.start : span.end] for span in chosen]


def test_the_question_becomes_lower_case_tokens_of_three_characters_or_more() -> None:
    assert question_terms("How do I cancel_a Task? (task)") == ("how", "cancel", "task")


def test_a_japanese_question_becomes_bigrams_without_its_particles() -> None:
    assert question_terms("梅雨とは何季の一種か") == (
        "梅雨",
        "雨と",
        "は何",
        "何季",
        "季の",
        "の一",
        "一種",
        "種か",
    )


def test_a_span_scores_the_share_of_the_terms_it_holds() -> None:
    text = "Tasks run soon. To cancel a task, call cancel. Nothing here."

    assert ranked("How to cancel a task?", text) == [
        ("To cancel a task, call cancel.", 0.67),
        ("Tasks run soon.", 0.33),
        ("Nothing here.", 0.0),
    ]


def test_of_equal_spans_the_shorter_and_then_the_earlier_comes_first() -> None:
    first, second = "A heron wades slowly.", "One heron. Two heron."

    assert [text for text, _ in ranked("heron", first, second)] == [
        "One heron.",
        "Two heron.",
        "A heron wades slowly.",
    ]


def test_spans_end_at_blank_lines_bullets_and_sentences_and_a_fence_is_one() -> None:
    text = "One. Two!\n\nThree\n- four\n- five? six\n\n```\na. b.\n\nc.\n```"

    assert [text[start:end] for start, end in split_spans(text)] == [
        "One.",
        "Two!",
        "Three",
        "- four",
        "- five?",
        "six",
        "```\na. b.\n\nc.\n```",
    ]


def test_japanese_sentences_are_told_apart_without_spaces() -> None:
    text = "鷺は魚を食べる。木の上に巣を作る。"

    assert [text[start:end] for start, end in split_spans(text)] == [
        "鷺は魚を食べる。",
        "木の上に巣を作る。",
    ]
    assert ranked("どこに巣を作るか", text)[0][0] == "木の上に巣を作る。"


def test_a_sentence_too_long_for_a_quote_is_cut_at_its_clauses() -> None:
    clause = "and the heron of the lake waits for the slow fish under the bridge, "
    text = (clause * 12).rstrip(", ") + "."

    pieces = [text[start:end] for start, end in split_spans(text)]

    assert len(pieces) > 1
    assert all(count_tokens(piece) <= 80 for piece in pieces)
    assert all(piece.endswith((",", ".")) for piece in pieces)


def preview(question: str, text: str, *, max_characters: int = 280, rerank: bool = False) -> str:
    passage = PassageText(text=text)
    return cut_preview(question, passage, max_characters=max_characters, rerank=rerank)


def test_a_preview_is_the_best_sentence_and_a_neighbour_that_adds_a_word() -> None:
    text = "Owls hunt at night. The heron eats fish. It nests in trees. Rain fell."

    assert preview("what does a heron eat", text) == "The heron eats fish."
    assert preview("heron fish trees", text) == "The heron eats fish. It nests in trees."
    assert preview("heron fish trees", text, max_characters=12) == "The heron"


def test_a_reranked_preview_looks_past_words_that_every_sentence_has() -> None:
    text = "The grey heron eats fish. A heron nests in tall trees."

    assert preview("where is the heron", text) == "The grey heron eats fish."
    assert preview("where is the nest", text, rerank=True) == "A heron nests in tall trees."


def test_spans_that_adjoin_become_one_quote() -> None:
    text = "The heron eats fish. The heron eats frogs."

    assert quotes("What does the heron eat?", text, context_tokens=0) == [
        "The heron eats fish. The heron eats frogs."
    ]


def test_quotes_keep_to_the_number_and_length_asked_for() -> None:
    texts = [f"Heron number {n} eats fish. " + "word " * 200 for n in range(9)]

    found = quotes("heron fish", *texts, max_quotes=3, max_quote_tokens=15)

    assert len(found) == 3
    assert all(count_tokens(quote) <= 15 for quote in found)


def test_code_that_is_too_long_is_cut_between_its_lines() -> None:
    code = "```python\n" + "heron = wade(in_water=True)\n" * 40 + "```"

    (quote,) = quotes("heron wade", code)

    assert quote.endswith("\nheron = wade(in_water=True)")


def test_a_passage_of_headings_alone_is_not_quoted() -> None:
    assert quotes("herons", "## Herons", "### Herons\n\nThey wade.") == ["They wade."]
    assert quotes("herons", "## Herons") == []


def test_a_better_passage_goes_first_when_reranked() -> None:
    passages = [
        PassageText(text="The heron eats fish.", relevance=0.1),
        PassageText(text="A heron often eats fish.", relevance=0.9),
    ]

    chosen = choose_quotes("heron eats fish", passages, limits=QuoteLimits(), rerank=True)

    assert [span.passage for span in chosen] == [1]


def test_without_a_word_in_common_the_best_passage_speaks() -> None:
    assert quotes("zzz", "Alpha beta. Gamma.", context_tokens=0) == ["Alpha beta."]
    assert quotes("zzz") == []


@given(st.text(max_size=60), st.lists(st.text(max_size=400), max_size=4), st.booleans())
def test_quotes_are_slices_within_their_limits(
    question: str, texts: list[str], rerank: bool
) -> None:
    found = quotes(question, *texts, rerank=rerank, max_quotes=4, max_quote_tokens=20)

    assert len(found) <= 4
    assert all(any(quote in text for text in texts) for quote in found)
    assert all(len(quote) <= 500 for quote in found)
