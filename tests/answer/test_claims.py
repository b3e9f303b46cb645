"""Verdicts on sentences of a draft, by sentences of pages."""

from __future__ import annotations

import pytest

from citewell.answer.claims import claims_of, judge_claim

PAGE = (
    "The `limit` option sets how many tasks run. By default the scheduler runs 40 tasks at once. "
    "A cancelled task cannot be resumed. Logging is enabled before the first request since "
    "version 3.11."
)


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("By default the scheduler runs 40 tasks at once.", "quoted"),
        ("According to the manual, by default the scheduler runs 40 tasks at once.", "supported"),
        ("A cancelled task can't be resumed.", "supported"),
        ("By default the scheduler runs 50 tasks at once.", "contradicted"),
        ("A cancelled task can be resumed.", "contradicted"),
        ("Logging is disabled before the first request since version 3.11.", "contradicted"),
        ("Logging is enabled before the first request since version 3.12.", "contradicted"),
        ("The `workers` option sets how many tasks run.", "partly"),
        ("Herons wade in shallow water at dawn.", "unsupported"),
    ],
)
def test_a_claim_is_judged_by_its_words_names_numbers_and_negations(
    claim: str, verdict: str
) -> None:
    assert judge_claim(claim, ["Something else entirely.", PAGE]).verdict == verdict


def test_the_judgement_says_where_and_what_differs() -> None:
    judged = judge_claim("By default the scheduler runs 50 tasks at once.", [PAGE])

    assert judged.differing == (("50", "40"),)
    assert judged.span is not None
    assert PAGE[slice(*judged.span)] == "By default the scheduler runs 40 tasks at once."


def test_what_is_missing_is_listed() -> None:
    judged = judge_claim("The `workers` option sets how many tasks run.", [PAGE])

    assert "workers" in judged.missing


def test_part_of_a_longer_number_or_sentence_is_no_quote() -> None:
    assert (
        judge_claim(
            "The feature was added in release 2.4.",
            ["The feature was added in release 2.4.49 and later."],
        ).verdict
        != "quoted"
    )
    assert (
        judge_claim(
            "The task can be resumed later.", ["It is wrong that the task can be resumed later."]
        ).verdict
        != "quoted"
    )


def test_questions_headings_code_and_scraps_are_no_claims() -> None:
    draft = "# Tasks and how they run\n\nWhy?\n\nHow many tasks run at the same time?\n\n```\nrun()\n```\n\nForty tasks run at the same time."

    assert [draft[slice(*span)] for span in claims_of(draft)] == [
        "Forty tasks run at the same time."
    ]
