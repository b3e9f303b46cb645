"""Two statements that give different values for the same thing, and those that only look so."""

from __future__ import annotations

import pytest

from citewell.answer.disagreement import find_difference, parse_statement

PAGE = ("Settings", "Timeouts")


def values(
    one: str,
    other: str,
    *,
    headings: tuple[str, ...] = PAGE,
    other_headings: tuple[str, ...] | None = None,
    same_page: bool = True,
) -> tuple[str, str] | None:
    first = parse_statement(one, headings)
    second = parse_statement(other, headings if other_headings is None else other_headings)
    if first is None or second is None:
        return None
    found = find_difference(first, second, same_page=same_page)
    return None if found is None else (found.one, found.other)


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        (
            "The default timeout is 30 seconds.",
            "The default timeout is 60 seconds.",
            ("30", "60"),
        ),
        (
            "The formatting system is disabled by default.",
            "The formatting system is enabled by default.",
            ("disabled", "enabled"),
        ),
        (
            "The default encoding of the file is `latin-1`.",
            "The default encoding of the file is `utf-8`.",
            ("latin-1", "utf-8"),
        ),
        (
            "The header is not required by the gateway.",
            "The header is required by the gateway.",
            ("denied", "said"),
        ),
        (
            "リクエストの最大サイズは 10 メガバイトです。",
            "リクエストの最大サイズは 20 メガバイトです。",
            ("10", "20"),
        ),
    ],
)
def test_the_same_section_of_two_versions_gives_two_values(
    one: str, other: str, differ: tuple[str, str]
) -> None:
    assert values(one, other) == differ


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # The same value in other words.
        ("The default timeout is 30 seconds.", "By default, the timeout is 30 seconds."),
        (
            "The command defaults to show the raw format.",
            "The command defaults to showing the raw format.",
        ),
        # Two values differ: nobody can say which of them is meant.
        ("The limit is 10 files of 5 MB.", "The limit is 20 files of 8 MB."),
        # Two ends of a range, not two values of one thing.
        ("Sets the minimum number of threads.", "Sets the maximum number of threads."),
        # An example, and the number of a section.
        ("You can set a limit (e.g. 10 files).", "You can set a limit (e.g. 20 files)."),
        ("For example, the limit is 10 files.", "For example, the limit is 20 files."),
        ("The maximum size is given in section 4.", "The maximum size is given in section 5."),
        # The same amount in other units, or so it may be.
        ("The default timeout is 120.000 here.", "The default timeout is 2m here."),
        ("The maximum delay is 10.000 here.", "The maximum delay is 10s here."),
        # The address of a link says nothing.
        (
            "Get the stable docs here: [5.0](https://example.org/limits.html).",
            "Get the stable docs here: [5.3](https://example.org/limits.html).",
        ),
        # The number of a section, and of an item of a list.
        (
            "It requires the options in [43.12](https://example.org/tls).",
            "It requires the options in [43.8](https://example.org/tls).",
        ),
        ("Default settings of a command\n> 5.", "Default settings of a command\n> 6."),
        (
            "- [Case 2: a key is not supported](https://example.org/#case-2)",
            "- [Case 3: a key is not supported](https://example.org/#case-3)",
        ),
        # History.
        ("LEGACY has been the default since Pond 2.9.", "LEGACY was the default in Pond 3."),
        # Another sentence says which option is meant.
        ("This option is only supported on 3.4.", "This option is only supported on 5.0."),
        # Other words may speak of another thing.
        ("Pond 3.4+ supports snappy packing.", "Pond 3.6+ supports snappy and small packing."),
        # The number of a note or of a case.
        ("The size of a file is limited [1].", "The size of a file is limited [2]."),
        ("The size is limited to that in case 2.", "The size is limited to that in case 3."),
        # Nothing says that these are of one thing.
        ("The default port is 80.", "The default language is 2 letters long."),
        ("Is the default 5 seconds?", "Is the default 6 seconds?"),
    ],
)
def test_what_only_looks_like_a_disagreement_is_none(one: str, other: str) -> None:
    assert values(one, other) is None


def test_sections_that_define_different_things_do_not_disagree() -> None:
    found = values(
        "For `mpmt_os2` the default value is `10`.",
        "For `mpmt_os2` the default value is `5`.",
        headings=("Directives", "MaxSpareThreads Directive"),
        other_headings=("Directives", "MinSpareThreads Directive"),
        same_page=False,
    )

    assert found is None


def test_the_version_that_a_page_documents_is_no_value() -> None:
    found = values(
        "The options that Pond 2.9 supports come first.",
        "The options that Pond 3.0 supports come first.",
        headings=("Pond 2.9 manual", "Options"),
        other_headings=("Pond 3.0 manual", "Options"),
    )

    assert found is None


def test_two_sources_that_name_the_same_setting_disagree() -> None:
    one = "The setting `pool_size` is limited to 10 connections by default."
    other = "By default, the setting `pool_size` is limited to 20 connections."
    elsewhere = ("Deploying", "Database")

    found = values(one, other, other_headings=elsewhere, same_page=False)
    nameless = values(
        one.replace("`pool_size`", "of the pool"),
        other.replace("`pool_size`", "of the pool"),
        other_headings=elsewhere,
        same_page=False,
    )

    assert found == ("10", "20")
    assert nameless is None


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("**wade(depth, *, slow=True, legs=2)**", "**wade(depth, *, slow=False, legs=2)**", ("True", "False")),
        ("**`class Heron(name='grey', age=1)`**", "**`class Heron(name='night', age=1)`**", ("'grey'", "'night'")),
        ("**wade(legs=2, mud=None)**", "**wade(legs=3, *, rng=None)**", ("2", "3")),
        ("| `max_fish` | integer | 30 |", "| `max_fish` | integer | 60   |", ("30", "60")),
        # Another argument, another row, two values, an amount in another unit, a year, a sentence.
        ("**wade(depth, legs=2)**", "**wade(depth, feet=3)**", None),
        ("**wade(legs=2)**", "**swim(legs=3)**", None),
        ("| `max_fish` | 30 |", "| `max_frogs` | 60 |", None),
        ("| `max_fish` | 30 | 4 |", "| `max_fish` | 60 | 5 |", None),
        ("| `max_wait` | 60s |", "| `max_wait` | 1m |", None),
        ("| Last seen | 2019 |", "| Last seen | 2024 |", None),
        ("| Food | It eats 3 fish. |", "| Food | It eats 4 frogs. |", None),
    ],
)  # fmt: skip
def test_rows_and_signatures_of_two_versions_differ_in_one_value(
    one: str, other: str, differ: tuple[str, str] | None
) -> None:
    assert values(one, other) == differ


def test_rows_and_signatures_of_other_sections_are_not_compared() -> None:
    assert values("| limit | 30 |", "| limit | 60 |", other_headings=("Settings", "Ponds")) is None
    assert values("| limit | 30 |", "| limit | 60 |", same_page=False) is None
