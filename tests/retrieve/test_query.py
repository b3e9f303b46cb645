"""Reading queries: words and kind."""

from __future__ import annotations

import pytest

from citewell.core.question import MAX_QUERY_CHARACTERS, QueryKind, parse_query


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("os.path.join", "symbol"),
        ("asyncio.Queue.get()", "symbol"),
        ("binary bitwise operations", "keywords"),
        ("how do I read a file", "question"),
        ("Is it thread-safe?", "question"),
        ("ファイルはどう読みますか", "question"),
        (
            "Constructors of numbers now use the index method when the others are not available "
            "on the object that was given",
            "statement",
        ),
    ],
)
def test_the_kind_of_a_query_is_told_from_its_form(text: str, kind: QueryKind) -> None:
    assert parse_query(text).kind == kind


def test_words_are_unique_and_in_order() -> None:
    assert parse_query("heron nest heron").words == ("heron", "nest")


def test_an_endless_query_is_cut() -> None:
    query = parse_query("heron " * 100_000)

    assert len(query.text) <= MAX_QUERY_CHARACTERS


def test_an_empty_query_has_no_words() -> None:
    assert parse_query(" \n ").words == ()
