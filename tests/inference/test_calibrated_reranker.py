"""The calibrated reranker: probabilities from features alone."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.stored import Candidate, stored_chunk

from citewell.core.words import text_words
from citewell.inference.calibrated_reranker import (
    CalibratedReranker,
    load_weights,
    weights_from_json,
    weights_to_json,
)
from citewell.inference.reranker_features import FEATURES, feature_rows

pytestmark = pytest.mark.anyio


def found(
    text: str,
    *,
    url: str = "https://docs.example/page.html",
    title: str = "A page",
    heading: str = "A section",
    word_score: float = 1.0,
    vector_score: float | None = None,
    source_id: int = 1,
) -> Candidate:
    chunk = stored_chunk(
        text,
        chunk_id=source_id,
        source_id=source_id,
        url=url,
        title=title,
        heading_path=(heading,),
    )
    return Candidate(chunk=chunk, word_score=word_score, vector_score=vector_score)


async def score(query: str, *candidates: Candidate) -> list[float]:
    return await CalibratedReranker().score(query, candidates)


async def test_scores_are_probabilities_one_per_candidate() -> None:
    scores = await score("heron nest", found("A heron nest."), found("Nothing of it.", source_id=2))

    assert len(scores) == 2
    assert all(0 <= each <= 1 for each in scores)


async def test_no_candidates_have_no_scores() -> None:
    assert await score("heron") == []


async def test_text_that_holds_the_words_beats_text_that_does_not() -> None:
    right, wrong = await score(
        "where do herons nest",
        found("Herons nest high in trees.", word_score=5.0, source_id=1),
        found("Swifts sleep in the air.", word_score=0.5, source_id=2),
    )

    assert right > wrong


async def test_the_page_that_defines_a_symbol_beats_one_that_mentions_it() -> None:
    defining, mentioning = await score(
        "shutil.copytree",
        found(
            "Recursively copy a directory tree.",
            heading="shutil.copytree(src, dst)",
            title="shutil",
            word_score=9.0,
            source_id=1,
        ),
        found("See shutil.copytree.", heading="Notes", word_score=6.0, source_id=2),
    )

    assert defining > mentioning


async def test_release_notes_stand_behind_the_page_that_explains() -> None:
    text = "The copy function accepts a new argument that follows symbolic links."
    explaining, noting = await score(
        "copy function follows symbolic links argument",
        found(text, url="https://docs.example/library/copy.html", source_id=1),
        found(text, url="https://docs.example/whatsnew/3.8.html", source_id=2),
    )

    assert explaining > noting


async def test_a_nearer_vector_is_never_worse() -> None:
    near, far = await score(
        "birds that fish in shallow water",
        found("The heron waits.", vector_score=0.85, source_id=1),
        found("The heron waits.", vector_score=0.60, source_id=2),
    )

    assert near > far


async def test_without_any_vector_the_order_follows_the_words() -> None:
    scores = await score(
        "heron nest tree",
        found("A heron nest in a tree.", word_score=6.0, source_id=1),
        found("A tree.", word_score=1.0, source_id=2),
    )

    assert scores[0] > scores[1]


async def test_the_same_candidates_always_get_the_same_scores() -> None:
    candidates = (found("A heron nest."), found("A nest of herons.", source_id=2))

    assert await score("heron nest", *candidates) == await score("heron nest", *candidates)


@pytest.mark.parametrize("query", ["", "?", "the of and", "サギの巣", "x" * 5_000])
async def test_odd_queries_get_finite_scores(query: str) -> None:
    scores = await score(query, found("A heron nest."), found("", source_id=2, word_score=0.0))

    assert all(0 <= each <= 1 for each in scores)


def test_words_kept_by_the_store_give_the_same_features_as_the_text() -> None:
    bare = found("Cancel a [task](https://docs.example/cancel/task.html) before it ends.")
    words = " ".join(text_words(bare.chunk.text))
    kept = replace(bare, chunk=replace(bare.chunk, words=words))

    assert feature_rows("cancel task", [kept]).tolist() == (
        feature_rows("cancel task", [bare]).tolist()
    )


def test_a_row_has_a_column_per_feature() -> None:
    rows = feature_rows("heron", [found("A heron.")])

    assert rows.shape == (1, len(FEATURES))


def test_written_weights_rank_as_they_did_before() -> None:
    weights = load_weights()
    # Just under 0: what parts the best of a list from the rest.
    fine = replace(weights, threshold=np.full_like(weights.threshold, -1e-35))
    rows = np.zeros((1, len(FEATURES)))

    read = weights_from_json(json.loads(json.dumps(weights_to_json(fine))))

    assert read.score(rows) == pytest.approx(fine.score(rows), abs=1e-3)


def test_a_lone_page_is_judged_beside_the_usual_rivals() -> None:
    weights = load_weights()
    second, third, fourth = weights.usual_rivals

    weak, strong = (weights.odds(np.array([own]), np.array([own])) for own in (second, second + 6))
    beside = weights.odds(np.array([second]), np.array([second, second, third, fourth]))

    assert weak < 0 < strong
    assert beside <= weak


def test_a_page_far_ahead_of_the_second_is_more_likely_right() -> None:
    weights = load_weights()

    near = weights.odds(np.array([2.0]), np.array([2.0, 1.9]))
    far = weights.odds(np.array([2.0]), np.array([2.0, -2.0]))

    assert far > near


def test_japanese_put_otherwise_is_found_by_its_letters() -> None:
    rows = feature_rows("大会の優勝者", [found("優れた者が勝つ会。"), found("別の話をする。")])

    shared = rows[:, FEATURES.index("letter_coverage")]

    assert shared[0] > shared[1]


async def test_the_longer_a_question_the_more_words_and_vectors_alone_decide() -> None:
    named = found(
        "Colonies of the grey heron are counted in April.",
        title="Herons nest",
        heading="Herons nest",
        word_score=8.0,
        vector_score=0.70,
        source_id=1,
    )
    told = found(
        "Sticks that fall are carried up again while the young are small.",
        word_score=6.0,
        vector_score=0.76,
        source_id=2,
    )
    short, long = [
        await score(question, named, told)
        for question in (
            "Where do herons nest?",
            "Where do herons nest? Every morning fresh twigs lie below the same old tree near our "
            "pond, and by the evening somebody has lifted most of them into the crown again.",
        )
    ]

    assert short[0] > short[1]
    assert long[1] > long[0]


async def test_in_a_long_question_release_notes_stay_behind_the_page_that_explains() -> None:
    text = "The copy function accepts an argument that follows links."
    noting, explaining = await score(
        "Our nightly job moves two terabytes between disks and every link arrives as a full file, "
        "so space runs out. Which argument of the copy function follows symbolic links?",
        found(
            text,
            url="https://docs.example/whatsnew/3.8.html",
            word_score=6.1,
            vector_score=0.8,
            source_id=1,
        ),
        found(
            text,
            url="https://docs.example/library/copy.html",
            word_score=6.0,
            vector_score=0.8,
            source_id=2,
        ),
    )

    assert explaining > noting
