"""Rate limits: who is let through, and how long the others wait."""

from __future__ import annotations

import sys

import pytest

from citewell.access.rate_limit import MAX_BUCKETS, RateLimiter, TokenBuckets
from citewell.access.shared_window import SharedWindow
from citewell.core.errors import SettingsError


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_windows_requests_may_come_at_once_and_one_more_waits() -> None:
    buckets = TokenBuckets(3, 60, clock=Clock())

    assert [buckets.count("a") for _ in range(4)] == [None, None, None, 20.0]


def test_the_bucket_fills_as_time_goes_by_and_never_runs_over() -> None:
    clock = Clock()
    buckets = TokenBuckets(2, 10, clock=clock)
    assert [buckets.count("a") for _ in range(2)] == [None, None]

    clock.now += 5
    assert [buckets.count("a") for _ in range(2)] == [None, 5.0]
    clock.now += 1_000
    assert [buckets.count("a") for _ in range(3)] == [None, None, 5.0]


def test_one_caller_does_not_use_up_what_another_may_send() -> None:
    limiter = RateLimiter(1, 60)

    assert limiter.check("a") is None
    assert limiter.check("a") is not None
    assert limiter.check("b") is None


def test_a_million_addresses_do_not_fill_the_memory() -> None:
    buckets = TokenBuckets(1, 60, clock=Clock())

    for number in range(MAX_BUCKETS + 10):
        buckets.count(str(number))

    assert buckets.count(str(MAX_BUCKETS + 9)) is not None
    assert buckets.count("0") is None


def test_servers_that_share_a_storage_count_together() -> None:
    window = SharedWindow(2, 60, "memory://")

    assert [window.count("a") for _ in range(2)] == [None, None]
    waiting = window.count("a")
    assert waiting is not None
    assert 0 < waiting <= 60
    assert window.count("b") is None


def test_a_storage_that_cannot_count_is_told_at_the_start() -> None:
    with pytest.raises(SettingsError):
        RateLimiter(1, 60, "nothing://somewhere")


def test_without_the_extra_redis_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "citewell.access.shared_window")
    monkeypatch.setitem(sys.modules, "limits", None)

    with pytest.raises(SettingsError, match=r"pip install 'citewell\[redis\]'"):
        RateLimiter(1, 60, "redis://127.0.0.1:1")
