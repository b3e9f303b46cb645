"""Verdicts on sentences of a draft, by sentences of pages."""

from __future__ import annotations

import pytest

from citewell.answer.claims import claims_of, judge_claim
from citewell.answer.facts import parse_facts

PAGE = (
    "The `limit` option sets how many tasks run. By default the scheduler runs 40 tasks at once. "
    "A cancelled task cannot be resumed. Logging is enabled before the first request since "
    "version 3.11.\n\n**`FULL`**: Selects VACUUM that locks the table exclusively.\n\n"
    "VACUUM FULL needs an `ACCESS EXCLUSIVE` lock on each table."
)


def test_the_titles_above_a_passage_name_what_it_is_about() -> None:
    passage = "The eggs are incubated for 25 to 26 days by both parents."
    claim = "Herons incubate their eggs for 25 to 26 days."

    assert judge_claim(claim, [passage], ["Herons › Breeding"]).verdict == "supported"
    assert judge_claim(claim, [passage], ["Egrets › Breeding"]).verdict == "partly"


@pytest.mark.parametrize(
    ("draft", "claims"),
    [
        ("Herons can fly backwards.", 1),
        ("TLS is optional. See also. Installation.", 1),
        ("- Python 3.11\n- Command line tools", 0),
    ],
)
def test_a_short_sentence_that_states_something_is_a_claim(draft: str, claims: int) -> None:
    assert len(list(claims_of(draft))) == claims


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
        ("The `tasks` option sets how many tasks run.", "partly"),
        ("Logging is enabled after the first request since version 3.11.", "contradicted"),
        ("Herons wade in shallow water at dawn.", "unsupported"),
        ("For each table VACUUM FULL needs an ACCESS EXCLUSIVE lock.", "supported"),
        ("Plain VACUUM does not lock the table exclusively for readers.", "unsupported"),
    ],
)
def test_a_claim_is_judged_by_its_words_names_numbers_and_negations(
    claim: str, verdict: str
) -> None:
    assert judge_claim(claim, ["Something else entirely.", PAGE]).verdict == verdict


def test_the_judgement_says_where_and_what_differs() -> None:
    judged = judge_claim("By default the scheduler runs 50 tasks at once.", [PAGE])

    (place,) = judged.opposing
    assert (judged.supporting, place.differing) == ((), (("50", "40"),))
    assert PAGE[slice(*place.span)] == "By default the scheduler runs 40 tasks at once."


def test_what_is_missing_is_listed_once_as_the_draft_writes_it() -> None:
    judged = judge_claim("The `workers` option sets how many tasks run parameterised.", [PAGE])

    assert judged.supporting[0].missing == ("workers", "parameterised")


def test_quotes_for_and_against_stand_side_by_side_without_repetition() -> None:
    older = "By default the scheduler runs 50 tasks at once."
    claim = "By default the scheduler runs 40 tasks at once."

    judged = judge_claim(claim, [PAGE, older, PAGE, f"{claim} It can be set."])

    assert judged.verdict == "quoted"
    assert [place.passage for place in judged.supporting] == [0]
    assert [(place.passage, place.differing) for place in judged.opposing] == [(1, (("40", "50"),))]


CONNECTIONS = (
    "**max_connections (integer)**\n\nSets the most clients at a time. The default is typically 100 "
    "connections, but might be less if the kernel does not support it.\n\n"
    "**reserved_connections (integer)**\n\nKeeps some of max_connections for the operator. "
    "The default value is three connections."
)


def test_a_term_names_what_is_said_below_it_and_supports_nothing() -> None:
    judged = judge_claim("The default of max_connections is 500.", [CONNECTIONS])

    (place,) = judged.opposing
    assert (judged.verdict, judged.supporting) == ("contradicted", ())
    assert place.differing == (("500", "100"),)


def test_few_common_words_do_not_support_a_claim_about_other_names() -> None:
    page = "Herons was written to support the aviary, because no tool could do what it needed."

    assert judge_claim("Herons was written in Rust by Microsoft.", [page]).verdict == "unsupported"


def test_a_quoted_place_begins_with_its_marks() -> None:
    page = "There are two modes. *Read Committed* is the default mode of the store."

    (place,) = judge_claim("Read Committed is the default mode of the store.", [page]).supporting

    assert page[slice(*place.span)] == "*Read Committed* is the default mode of the store"


def test_an_opposite_is_seen_beside_the_same_word() -> None:
    page = "It runs one branch if the flag is true and repeats the other while the flag is true."

    claim = "It runs one branch if the flag is false and repeats the other while the flag is true."
    assert judge_claim(claim, [page]).verdict == "contradicted"


def test_the_nearest_sentence_decides_between_support_and_denial() -> None:
    page = (
        "The method name is made from the request. For example, for the request method `SPAM`, "
        "the `do_SPAM()` method will be called with no arguments."
    )

    judged = judge_claim("The method name is not made from the request.", [page])

    assert judged.verdict == "contradicted"


def test_a_long_list_contradicts_nothing() -> None:
    page = "- " + "\n  ".join(f"param{i}: the option shows no name of colour{i}" for i in range(9))
    assert judge_claim("The option shows the name of a param.", [page]).verdict != "contradicted"


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


@pytest.mark.parametrize(
    ("claim", "differing"),
    [
        ("The heron waits for up to 30 minutes before it leaves the pond.", ("minute", "second")),
        ("The heron waits for up to 30 ms before it leaves the pond.", ("millisecond", "second")),
        ("The default depth of the pond is shallow for a wading heron.", ("shallow", "knee-deep")),
    ],
)
def test_another_unit_or_default_contradicts(claim: str, differing: tuple[str, str]) -> None:
    page = (
        "The heron waits for up to 30 seconds before it leaves the pond. "
        "The default depth of the pond is knee-deep for a wading heron."
    )

    judged = judge_claim(claim, [page])

    assert judged.verdict == "contradicted"
    assert judged.opposing[0].differing == (differing,)


def test_a_sentence_whose_subject_stands_before_it_is_not_opposed_by_its_like() -> None:
    page = "Ponds. This feature is available in Pond 3.2 and later."
    other = "Lakes. This feature is available in Pond 2.1 and later."

    judged = judge_claim("This feature is available in Pond 3.2 and later.", [page, other])

    assert judged.verdict == "quoted"
    assert judged.opposing == ()


def test_a_number_that_is_a_default_is_named_once() -> None:
    judged = judge_claim(
        "The default pond depth is 40 centimetres.", ["The default pond depth is 30 centimetres."]
    )

    assert judged.opposing[0].differing == (("40", "30"),)


@pytest.mark.parametrize(
    ("text", "negations"),
    [
        ("It comes with Chromium--not Chrome--and inherits its limits.", 1),
        ("It comes with Chromium — not Chrome — and inherits its limits.", 1),
        ("Pass `--no-cache` or --not to a no-op.", 0),
    ],
)
def test_a_dash_of_two_hyphens_parts_words(text: str, negations: int) -> None:
    assert parse_facts(text).negations == negations


def test_a_claim_with_another_word_in_the_place_of_one_is_only_partly_supported() -> None:
    page = "Amount of the dark current is proportional to both temperature and exposure time."

    same = judge_claim("The dark current is proportional to both temperature and time.", [page])
    other = judge_claim(
        "The amount of dark current is proportional to both pressure and exposure time.", [page]
    )

    assert same.verdict == "supported"
    assert (other.verdict, other.supporting[0].missing) == ("partly", ("pressure",))


def test_a_place_that_denies_the_claim_is_shown_instead_of_one_that_shares_words() -> None:
    denial = "Note that repository disk space is **not** freed until you run `borg compact`."
    chance = "If Borg runs out of disk space, it tries to free as much space as it can at once."
    claim = "Repository disk space is freed as soon as prune has run."

    judged = judge_claim(claim, [chance, denial], ["FAQ", "borg prune"])

    assert judged.verdict == "partly"
    assert [place.passage for place in judged.opposing] == [1]
    assert judged.supporting == ()


def test_a_sentence_whose_heading_alone_shares_words_is_no_second_quote() -> None:
    told = "Creates a `QuerySet` containing descendants of the model instance, in tree order."
    beside = (
        "**get_descendants(include_self=False)**\n\nCreates a `QuerySet` containing descendants of "
        "this model instance, in reverse order.\n\nIf `include_self` is `True`, the `QuerySet` will "
        "also include this model instance."
    )
    claim = (
        "get_descendants creates a QuerySet containing descendants of this model instance, in tree "
        "order."
    )

    judged = judge_claim(
        claim, [told, beside], ["models › get_descendants", "MPTTModel › MPTTModel.get_descendants"]
    )

    assert (judged.verdict, [place.passage for place in judged.supporting]) == ("supported", [0])
