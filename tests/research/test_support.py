"""Judging whether chunks support a question."""

import pytest
from tests.stored import stored_chunk

from citewell.core.records import RankedChunk, StoredChunk
from citewell.research.support import (
    FEATURES,
    absence_warnings,
    absent_words,
    judge,
    support_features,
)


def chunk(text: str, *, number: int = 1, title: str = "Page") -> StoredChunk:
    return stored_chunk(text, chunk_id=number, ordinal=number, title=title)


def ranked(*texts: str) -> list[RankedChunk]:
    return [
        RankedChunk(
            chunk=chunk(text, number=number),
            relevance=1.0,
            confidence=None,
            matched_by="words",
            sub_query="",
        )
        for number, text in enumerate(texts)
    ]


def test_a_reader_that_finds_the_answer_need_not_find_every_word() -> None:
    asked = "My kettle is old: what does the grey heron eat at dusk in winter?"
    found = ranked("The grey heron eats fish and frogs at dawn.", "Owls sleep by day.")

    by_words = judge(asked, found, cosine=0.9)
    by_reader = judge(asked, found, cosine=0.9, reads=[6.0])

    assert not by_words.is_enough
    assert by_reader.is_enough
    assert not by_reader.is_settled, "a word that is missing is still worth a warning"


@pytest.mark.parametrize("cosine", [None, 0.85])
def test_a_chunk_that_says_it_supports_the_question(cosine: float | None) -> None:
    found = ranked("The grey heron eats fish and frogs at dawn.", "Owls sleep by day.")

    judgement = judge("What does the grey heron eat?", found, cosine=cosine)

    assert judgement.is_supported
    assert judgement.is_settled


@pytest.mark.parametrize("cosine", [None, 0.55])
def test_chunks_about_something_else_do_not(cosine: float | None) -> None:
    found = ranked("The grey heron eats fish and frogs at dawn.", "Owls sleep by day.")

    judgement = judge("Which court may annul a tax assessment?", found, cosine=cosine)

    assert not judgement.is_supported
    assert {"court", "annul", "tax"} <= judgement.missing.keys()


def test_settings_of_other_names_do_not_support_a_question_about_a_symbol() -> None:
    found = ranked("The default of max_retries in Teal is 3.", "Teal reads teal.toml.")

    known = judge("What is the default of max_retries in Teal?", found, cosine=0.85)
    misspelt = judge("What is the default of max_retrys in Teal?", found, cosine=0.85)
    other = judge("What is the default of log_level in Teal?", found, cosine=0.85)

    assert known.is_supported
    assert misspelt.is_supported
    assert not other.is_supported
    assert absent_words("What is the default of log_level in Teal?", ranked("Teal can log.")) == [
        "log_level"
    ]


def test_a_word_that_nothing_stored_holds_counts_against_the_answer() -> None:
    found = ranked("Silhouettes aside, kmeans2 returns a label for every observation.")
    question = "How do I compute the gap statistic for the labels of kmeans2?"

    known = judge(question, found, cosine=0.8)
    unknown = judge(question, found, cosine=0.8, unknown_words=("statistic",))

    assert unknown.support < known.support


def test_words_of_which_nothing_stored_holds_most_are_not_supported() -> None:
    found = ranked("A TLS certificate is read by the server when it starts.")
    question = "kubernetes ingress tls certificate"

    assert judge(question, found, cosine=0.95, reads=[4.0]).is_supported
    assert not judge(
        question, found, cosine=0.95, unknown_words=("kubernetes", "ingress"), reads=[4.0]
    ).is_supported


def test_a_name_that_nothing_stored_holds_weighs_more_than_one_that_was_not_found() -> None:
    found = ranked("scipy.cluster has kmeans and other clustering algorithms of scipy.")
    question = "Does scipy.cluster have DBSCAN?"

    not_found = judge(question, found, cosine=0.9)
    unknown = judge(question, found, cosine=0.9, unknown_words=("DBSCAN",))

    assert unknown.support < 0.5 * not_found.support
    assert not unknown.is_supported


def test_another_number_in_a_name_is_another_name() -> None:
    found = ranked("uuid.uuid1 makes a UUID from the time.", "uuid.uuid4 makes a random UUID.")

    assert judge("How does uuid.uuid1 make a UUID?", found, cosine=0.8).is_supported
    assert not judge("How does uuid.uuid7 make a UUID?", found, cosine=0.8).is_supported


def test_nothing_supports_nothing() -> None:
    assert judge("What does the heron eat?", [], cosine=None).support == 0.0
    assert support_features("?", [chunk("Herons.")], cosine=None) is None


def test_a_word_that_only_names_a_link_is_still_missing() -> None:
    found = ranked(
        "Herons are birds.\n\n[Laleli Mosque](https://e.org/1), [Ed Wood](https://e.org/2)."
    )

    judgement = judge("Where does the Laleli Mosque stand?", found, cosine=None)

    assert "mosqu" in judgement.missing
    assert not judgement.is_supported


def test_two_chunks_may_answer_together() -> None:
    found = ranked("Annie Morton was born in 1970.", "Terry Richardson was born in 1965.")

    judgement = judge("Annie Morton Terry Richardson", found, cosine=None)

    assert judgement.missing == {}


def test_a_word_for_word_match_counts_wherever_it_was_ranked() -> None:
    found = ranked(*(f"Number {n} is about nothing." for n in range(30)), "The cache keeps pages.")

    assert judge("The cache keeps pages.", found, cosine=None).is_supported


def test_japanese_particles_count_little() -> None:
    found = ranked("電子基準点は、約20キロメートルの間隔で設置されている。")

    assert judge("電子基準点の設置間隔は？", found, cosine=None).is_supported
    assert not judge("所得税の確定申告の期限は？", found, cosine=None).is_supported


def test_there_is_a_feature_per_name() -> None:
    row = support_features("heron food", [chunk("Heron food is fish.")], cosine=0.5)

    assert row is not None
    assert len(row) == len(FEATURES)


def test_names_and_unknown_words_that_no_chunk_holds_are_named_but_no_common_words() -> None:
    chunks = ranked("The pressure sensor is calibrated at sea.", "Runs `asyncio.shield()` too.")

    assert absent_words("How do I calibrate an Accelerometer?", chunks) == ["Accelerometer"]
    assert absent_words("How often are pressure sensors calibrated?", chunks) == []
    question = "Can the gizmo calibrate an Accelerometer?"
    assert absent_words(question, chunks, unknown=["gizmo"]) == ["gizmo", "Accelerometer"]
    assert absent_words("What does asyncio.shield do?", chunks) == []
    assert absent_words("加速度計の較正", chunks) == []
    assert absent_words("Why am I told to rarely calibrate gyros?", chunks, unknown=["gyros"]) == [
        "gyros"
    ]


def test_a_word_that_two_parts_lack_is_named_once() -> None:
    assert absence_warnings(["real", "real", "input"], has_evidence=False) == [
        'No sentence found contains "real", "input".'
    ]


def test_what_the_reader_says_moves_the_support_both_ways() -> None:
    query, chunks = "How is a sensor calibrated?", ranked("A sensor is calibrated with water.")
    without = judge(query, chunks, cosine=None).support

    assert judge(query, chunks, cosine=None, reads=[-7.0, -6.0]).support < without
    assert judge(query, chunks, cosine=None, reads=[-7.0, 6.0]).support > 0.9


def test_a_quote_is_the_surer_the_more_of_the_odds_it_holds() -> None:
    query, chunks = "How is a sensor calibrated?", ranked("A sensor is calibrated with water.")
    judgement = judge(query, chunks, cosine=None, reads=[2.0])

    sure, doubtful = (judgement.confidence_in(chance=each, share=1.0) for each in (0.9, 0.2))

    assert sure > 0.5 > doubtful
    assert judgement.least_chance(sure) == pytest.approx(0.9)
