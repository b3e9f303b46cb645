"""Telling what a question asks the definition of, and which text defines it."""

import pytest

from citewell.core.definitions import asked_terms, defines


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("What is the reflog?", ("reflog",)),
        ("what is the index in git", ("index",)),
        ("What does heapq.heappushpop do?", ("heapq.heappushpop",)),
        ("functools.lru_cache", ("functools.lru_cache",)),
        ("What is the default of the fall parameter?", ("fall",)),
        ("How long does the `rise` option wait?", ("rise",)),
        ("Which configuration option sets this variable?", ()),
        ("default of max_retries in Teal", ("max_retries",)),
        ("What is the default port of SysLogHandler?", ("default port",)),
        ("How many days does fit_harmonics need?", ()),
        ("reset --soft", ("--soft", "reset --soft")),
        ("What does git reset --keep do?", ("--keep", "git reset --keep")),
        ("What does subprocess.run with check=True raise?", ()),
        ("fstabとは何ですか", ("fstab",)),
        ("How do I keep what I wrote while a long merge is under way on the server?", ()),
    ],
)
def test_the_names_that_a_question_is_about(query: str, terms: tuple[str, ...]) -> None:
    assert asked_terms(query) == terms


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("**rebase**: To reapply.\n\n**reflog**: A list of what a ref was.", "reflog"),
        ("**-u**, **--include-untracked**: Stash them too.", "--include-untracked"),
        ("**@functools.lru_cache(maxsize=128)**\n\nKeeps results.", "functools.lru_cache"),
        ("**awaitable asyncio.gather(*aws)**\n\nRuns them.", "asyncio.gather"),
        ("**class sqlite3.Row**\n\nA row.", "sqlite3.Row"),
        ("**keys()**\n\nReturns names.", "Row.keys"),
        ("## Fast-forward merge\n\nThe head moves.", "Fast-forward merge"),
        ("# `heapq` — Heap queue\n\nA queue.", "heapq"),
        ("Birds are many. A heron is a wading bird.", "heron"),
        ("鳥は多い。サギとは水辺の鳥です。", "サギ"),
    ],
)
def test_a_name_set_off_or_said_to_be_something_is_defined(text: str, term: str) -> None:
    assert defines(text, [term])
    assert not defines(text, ["pelican"])


def test_a_mention_is_no_definition() -> None:
    assert not defines("The reflog is read by `-g`. See **git reflog show** for more.", ["reflog"])
    assert not defines("Anything.", [])


def test_code_tells_names_by_their_case_unless_any_will_do() -> None:
    text = "**class dataclasses.Field**\n\nWhat a field is made of."

    assert not defines(text, ["dataclasses.field"])
    assert defines(text, ["dataclasses.field"], in_any_case=True)


def test_what_is_too_long_for_a_name_is_neither_asked_for_nor_defined() -> None:
    assert asked_terms("What is " + "do " * 5_000) == ()
    assert not defines("# " + "x" * 10_000, ("x" * 10_000,))
