"""Requests that servers count together in a real Redis, and what they do without it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import anyio
import httpx2
import pytest
from tests.access.redis_server import RedisServer, running_redis
from tests.server.tiny import Aviary, serving
from tests.site import wait_until

from citewell.access.rate_limit import RateLimiter
from citewell.core.errors import SettingsError
from citewell.core.settings import Settings

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
DOWN = "CITEWELL_RATE_LIMIT_STORAGE does not answer: until it does, this server counts requests for itself"
BACK = "CITEWELL_RATE_LIMIT_STORAGE answers again: servers share their counts"


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with running_redis() as running:
        yield running


def are_let_through(limiter: RateLimiter, times: int) -> list[bool]:
    return [limiter.check("a") is None for _ in range(times)]


@pytest.mark.anyio
async def test_two_servers_share_one_limit(redis: RedisServer) -> None:
    settings = Settings(rate_limit_per_address=3, rate_limit_storage=redis.uri)

    async with (
        serving(Aviary(), settings) as first,
        serving(Aviary(), settings) as second,
        httpx2.AsyncClient(timeout=60) as http,
    ):
        answers = [await http.post(f"{base}/mcp", json=PING) for base in (first, second) * 2]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert 1 <= int(answers[3].headers["retry-after"]) <= 60


@pytest.mark.anyio
async def test_a_server_answers_and_still_limits_while_redis_is_gone(redis: RedisServer) -> None:
    settings = Settings(rate_limit_per_address=2, rate_limit_storage=redis.uri)

    async with serving(Aviary(), settings) as base, httpx2.AsyncClient(timeout=60) as http:
        before = await http.post(f"{base}/mcp", json=PING)
        redis.stop()
        alone = [await http.post(f"{base}/mcp", json=PING) for _ in range(3)]

    assert before.status_code == 200
    assert [answer.status_code for answer in alone] == [200, 200, 429]


def test_the_log_says_once_that_redis_is_gone_and_once_that_it_is_back(
    redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="citewell.access")
    limiter = RateLimiter(100, 60, redis.uri)

    redis.stop()
    are_let_through(limiter, 20)
    redis.start()
    wait_until(lambda: limiter.check("a") is None and BACK in caplog.messages)

    assert caplog.messages == [DOWN, BACK]


def test_when_redis_is_back_servers_count_together_again(redis: RedisServer) -> None:
    here, there = RateLimiter(2, 60, redis.uri), RateLimiter(2, 60, redis.uri)
    redis.stop()
    assert are_let_through(here, 3) == [True, True, False]

    redis.start()
    wait_until(lambda: here.check("a") is None)

    assert are_let_through(here, 1) + are_let_through(there, 1) == [True, False]


def test_a_redis_that_hangs_holds_up_one_request_and_not_for_long(redis: RedisServer) -> None:
    limiter = RateLimiter(2, 60, redis.uri)
    limiter.check("a")

    redis.freeze()
    started = time.monotonic()
    let_through = are_let_through(limiter, 3)
    seconds = time.monotonic() - started

    assert let_through == [True, True, False]
    assert seconds < 5


@pytest.mark.anyio
async def test_requests_that_come_at_once_while_redis_is_gone_share_one_bucket(
    redis: RedisServer,
) -> None:
    limiter = RateLimiter(50, 3_600, redis.uri)
    redis.stop()
    let_through: list[bool] = []

    async def ask() -> None:
        let_through.extend(await anyio.to_thread.run_sync(are_let_through, limiter, 200))

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(ask)

    assert sum(let_through) == 50


@pytest.mark.parametrize("uri", ["redis://127.0.0.1:port", "carrier-pigeon://:secret@loft"])
def test_an_address_where_nothing_can_count_is_told_without_its_password(uri: str) -> None:
    with pytest.raises(SettingsError, match=r"citewell\[redis\], redis://host:port") as caught:
        RateLimiter(1, 60, uri)

    assert "secret" not in str(caught.value)
