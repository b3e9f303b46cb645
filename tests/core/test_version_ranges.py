"""Versions in order, and ranges of them."""

from __future__ import annotations

import pytest

from citewell.core.version_ranges import is_in_range, is_version_range, newest, version_key


def test_versions_are_ordered_by_number_and_pre_releases_come_before_their_release() -> None:
    shuffled = ["4.10", "4.2.30", "5.0rc1", "4.2", "5.0", "4.2.30.post1", "5.0a2", "4.2.3"]

    assert sorted(shuffled, key=version_key) == [
        *("4.2", "4.2.3", "4.2.30", "4.2.30.post1", "4.10", "5.0a2", "5.0rc1", "5.0")
    ]


def test_the_newest_version_is_no_pre_release_unless_all_are() -> None:
    assert newest(["4.2.30", "5.0rc1", "4.10"]) == "4.10"
    assert newest(["5.0a1", "5.0rc1"]) == "5.0rc1"
    assert newest([]) is None


@pytest.mark.parametrize(
    ("wanted", "fits", "misses"),
    [
        ("3.2", ["3.2", "3.2.25"], ["3.20", "3.1.2", "4.3.2"]),
        ("v3.2", ["3.2.25"], ["3.20"]),
        ("3.x", ["3.2.25"], ["4.0"]),
        (">=4,<5", ["4.0", "4.2.30"], ["3.2.25", "5.0", "5.0.1"]),
        (">=4 <5", ["4.2.30"], ["5.0"]),
        ("<=4.2", ["4.2.30", "3.2"], ["4.3"]),
        (">4.2", ["4.3", "5.0"], ["4.2.30", "4.2"]),
        ("~=4.2", ["4.2", "4.9"], ["5.0", "4.1"]),
        ("^1.2.3", ["1.2.3", "1.9.0"], ["2.0.0", "1.2.2"]),
        ("^0.2.3", ["0.2.4"], ["0.3.0"]),
        ("~1.2.3", ["1.2.9"], ["1.3.0"]),
        ("==4.2.30", ["4.2.30"], ["4.2.3"]),
        ("!=4.2", ["4.1"], ["4.2.30"]),
    ],
)
def test_a_range_holds_what_its_ecosystem_means_by_it(
    wanted: str, fits: list[str], misses: list[str]
) -> None:
    assert [version for version in fits + misses if is_in_range(version, wanted)] == fits


@pytest.mark.parametrize("text", ["", "newest", "4.2; drop table", ">=", "4,,5", "9" * 300])
def test_what_is_no_range_is_refused(text: str) -> None:
    assert not is_version_range(text)


@pytest.mark.parametrize("text", ["4.2", ">=4,<5", ">=4, <5", "latest", "LATEST", "5.0rc1"])
def test_versions_ranges_and_latest_are_accepted(text: str) -> None:
    assert is_version_range(text)
