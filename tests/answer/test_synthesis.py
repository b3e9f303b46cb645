"""Cited texts from excerpts: only sentences that cite what exists get out."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.answer.results import ranked_chunk

from citewell.answer.synthesis import citation_text, join_quotes, keep_cited, synthesis_prompt


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Herons eat fish [1]. They are grey.", "Herons eat fish [1]."),
        ("Herons eat fish. [1] They wade. [2]", "Herons eat fish [1]. They wade [2]."),
        ("Herons eat fish [1, 7]. They fly [9].", "Herons eat fish [1]."),
        ("Sure! Here it is:\n\n- Fish [1]\n- Frogs [2]\n", "- Fish [1]\n- Frogs [2]"),
        (
            "サギは魚を食べます[1]。飛びます。水に立ちます。[2]",
            "サギは魚を食べます[1]。 水に立ちます [2]。",
        ),
        ("I cannot answer that.", ""),
        ("Herons eat fish [0].", ""),
    ],
)
def test_only_sentences_with_a_valid_citation_are_kept(written: str, kept: str) -> None:
    assert keep_cited(written, excerpts=2) == kept


@given(st.text(alphabet="ab .[]1239,\n。", max_size=80))
def test_no_citation_that_does_not_exist_gets_out(written: str) -> None:
    kept = keep_cited(written, excerpts=2)

    assert "[3]" not in kept
    assert "[9]" not in kept
    assert not kept or "[1]" in kept or "[2]" in kept


def test_without_a_model_the_best_sentences_are_joined_word_for_word() -> None:
    excerpts = [
        ranked_chunk("A heron is a bird. The heron eats fish. It is grey."),
        ranked_chunk("Egrets eat frogs.", source=2),
    ]

    joined = join_quotes("What does a heron eat?", excerpts)

    assert joined == "“The heron eats fish.” [1]\n“Egrets eat frogs.” [2]"


def test_the_prompt_numbers_and_fences_the_excerpts_and_stays_the_same() -> None:
    excerpts = [ranked_chunk("The heron eats fish.")]

    prompt = synthesis_prompt("What does a heron eat?", excerpts)

    assert prompt.startswith("User query: What does a heron eat?\n\nRelevant excerpts from")
    assert re.search(
        r"\[1\] ⟦(\w+) Source: https://example.org/1 \(Section: 'Birds > Herons'\) \1⟧\n⟦\1 The",
        prompt,
    )
    assert prompt == synthesis_prompt("What does a heron eat?", excerpts)


def test_a_source_without_headings_is_cited_by_its_url() -> None:
    assert citation_text("https://example.org/", ()) == "Source: https://example.org/"
