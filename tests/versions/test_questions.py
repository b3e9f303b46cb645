"""The questions of bench/versions.py: each has an answer for both versions, and they differ."""

from __future__ import annotations

from bench.versions import NPM, PYTHON, load_questions


def test_every_question_is_asked_for_both_versions_with_different_answers() -> None:
    questions = load_questions()

    assert len(questions) == 2 * 100
    assert len({asked.question for asked in questions}) == 2 * 100
    for old, new in zip(questions[0::2], questions[1::2], strict=True):
        assert (old.version, new.version) == (PYTHON | NPM)[old.package]
        assert old.answer not in new.answer
        assert new.answer not in old.answer
