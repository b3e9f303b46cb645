from __future__ import annotations

import time

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.web.robots import RobotsAnswer, RobotsCache, parse_robots
from citewell.web.sandbox import Sandbox

pytestmark = pytest.mark.anyio
AGENT = "Citewell/0.1 (+https://example.org)"


def may_fetch(robots: str, path: str) -> bool:
    return parse_robots(robots, user_agent=AGENT).may_fetch(f"https://example.org{path}")


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("Disallow: /private", "/private/a", False),
        ("Disallow: /private", "/public", True),
        ("Disallow:", "/a", True),
        ("Disallow: /\nAllow: /docs/", "/docs/a", True),
        ("Allow: /docs\nDisallow: /docs", "/docs", True),
        ("Disallow: /*.pdf$", "/a/b.pdf", False),
        ("Disallow: /*.pdf$", "/a/b.pdf?x", True),
        ("Disallow: /a*c*e", "/abcde/f", False),
        ("Disallow: /a%7Eb", "/a~b", False),
        ("Disallow: /頁", "/%E9%A0%81", False),
        ("disallow /a", "/a", False),
        ("Disallow: /a # a comment", "/a", False),
    ],
)
def test_the_longest_matching_rule_decides(rules: str, path: str, allowed: bool) -> None:
    assert may_fetch(f"User-agent: *\n{rules}\n", path) == allowed


def test_rules_for_our_name_replace_those_for_everyone() -> None:
    robots = "User-agent: *\nDisallow: /\n\nUser-agent: CITEWELL\nDisallow: /a\n"

    assert may_fetch(robots, "/b")
    assert not may_fetch(robots, "/a")


def test_groups_that_name_us_are_merged() -> None:
    robots = (
        "User-agent: citewell\nDisallow: /a\nUser-agent: other\nDisallow: /c\n"
        "User-agent: x\nUser-agent: citewell\nDisallow: /b\n"
    )

    assert [may_fetch(robots, path) for path in ("/a", "/b", "/c")] == [False, False, True]


def test_the_crawl_delay_is_read() -> None:
    rules = parse_robots("User-agent: *\nCrawl-delay: 2.5\nDisallow: /a", user_agent=AGENT)

    assert rules.crawl_delay_seconds == 2.5


def test_a_hostile_pattern_does_not_take_long() -> None:
    pattern = "/" + "a*" * 2_000 + "b$"
    started = time.perf_counter()

    assert may_fetch(f"User-agent: *\nDisallow: {pattern}\n", "/" + "a" * 8_000)
    assert time.perf_counter() - started < 1.0


@given(st.text(alphabet="user-agent: *\n\r#disallow/$%\ufeffx", max_size=200))
def test_no_text_breaks_the_parser(robots: str) -> None:
    assert may_fetch(robots, "/x") in (True, False)


@pytest.mark.parametrize(
    ("status", "allowed"),
    [(200, False), (301, True), (401, True), (403, True), (404, True), (500, False), (503, False)],
)
async def test_the_status_of_robots_txt_decides_what_it_means(status: int, allowed: bool) -> None:
    async def ask(url: str) -> RobotsAnswer:
        return RobotsAnswer(status=status, body=b"User-agent: *\nDisallow: /\n")

    rules = await RobotsCache(ask, user_agent=AGENT, sandbox=Sandbox()).rules_for(
        "https://example.org/a"
    )

    assert rules.may_fetch("https://example.org/a") == allowed


async def test_an_origin_is_asked_once_even_by_many_at_the_same_time() -> None:
    asked: list[str] = []

    async def ask(url: str) -> RobotsAnswer:
        asked.append(url)
        await anyio.lowlevel.checkpoint()
        return RobotsAnswer(status=200, body=b"")

    cache = RobotsCache(ask, user_agent=AGENT, sandbox=Sandbox())
    async with anyio.create_task_group() as tasks:
        for number in range(5):
            tasks.start_soon(cache.rules_for, f"https://example.org/{number}")
    await cache.rules_for("https://example.org:8443/")

    assert asked == ["https://example.org/robots.txt", "https://example.org:8443/robots.txt"]


async def test_rules_of_the_sites_asked_first_are_dropped_when_all_are_too_many() -> None:
    asked: list[str] = []

    async def ask(url: str) -> RobotsAnswer:
        asked.append(url)
        return RobotsAnswer(status=200, body=b"User-agent: *\n" + b"Allow:a\n" * 60_000)

    cache = RobotsCache(ask, user_agent=AGENT, sandbox=Sandbox())
    for number in (0, 1, 2, 3, 4, 5, 5, 0):
        await cache.rules_for(f"https://{number}.example/")

    assert asked == [f"https://{number}.example/robots.txt" for number in (0, 1, 2, 3, 4, 5, 0)]


async def test_what_stands_after_500_kib_is_not_read() -> None:
    async def ask(url: str) -> RobotsAnswer:
        filler = b"# heron\n" * (500 * 1024 // 8)
        return RobotsAnswer(status=200, body=filler + b"User-agent: *\nDisallow: /\n")

    rules = await RobotsCache(ask, user_agent=AGENT, sandbox=Sandbox()).rules_for(
        "https://example.org/a"
    )

    assert rules.may_fetch("https://example.org/a")
