from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import anyio
import pytest
from tests.dripping import dripping_server
from tests.site import Response, running_site
from tests.web.search_apis import PAGES, SearchApis, running_search_apis

from citewell.core.errors import SettingsError, WebSearchFailed, WebSearchQuotaUsed
from citewell.web.search.choice import EngineAccess, chosen_engines
from citewell.web.search.open import open_web_search
from citewell.web.search.web_search import WebSearch

pytestmark = pytest.mark.anyio

ALL_ENGINES = ("google", "brave", "tavily", "searxng", "duckduckgo")


@pytest.fixture
def apis() -> Iterator[SearchApis]:
    with running_search_apis() as running:
        yield running


def access(apis: SearchApis, *, brave_api_key: str = "b-key") -> EngineAccess:
    return EngineAccess(
        google_api_key="g-key",
        google_cx="g-cx",
        brave_api_key=brave_api_key,
        tavily_api_key="t-key",
        searxng_url=f"{apis.base}/searxng/",
        urls=apis.urls(),
    )


@asynccontextmanager
async def searching(
    given: EngineAccess, *engines: str, cache_seconds: float = 60, timeout_seconds: float = 5
) -> AsyncIterator[WebSearch]:
    opened = open_web_search(
        engines, given, cache_seconds=cache_seconds, timeout_seconds=timeout_seconds
    )
    assert opened is not None
    try:
        yield opened
    finally:
        await opened.aclose()


@pytest.mark.parametrize("engine", ALL_ENGINES)
async def test_each_engine_answers_in_one_form(apis: SearchApis, engine: str) -> None:
    async with searching(access(apis), engine) as web:
        found = await web.search("herons")

    assert found.engine == engine
    assert [result.url for result in found.results] == [url for url, _, _ in PAGES]
    assert found.results[0].name == "Heron & egret"
    assert found.results[0].snippet.startswith("Two herons")
    assert "<" not in found.results[0].snippet


@pytest.mark.parametrize("engine", ALL_ENGINES)
async def test_a_used_up_quota_is_told_apart_from_a_failure(apis: SearchApis, engine: str) -> None:
    apis.status = {engine: 429}
    async with searching(access(apis), engine) as web:
        with pytest.raises(WebSearchQuotaUsed, match=engine):
            await web.search("herons")
        apis.status = {engine: 500}
        with pytest.raises(WebSearchFailed, match="status 500"):
            await web.search("herons")


@pytest.mark.parametrize(("engine", "status"), [("tavily", 432), ("duckduckgo", 202)])
async def test_an_engines_own_words_for_no_more_are_known(
    apis: SearchApis, engine: str, status: int
) -> None:
    apis.status = {engine: status}
    async with searching(access(apis), engine) as web:
        with pytest.raises(WebSearchQuotaUsed):
            await web.search("herons")


@pytest.mark.parametrize("engine", ALL_ENGINES)
async def test_an_answer_of_another_form_is_an_error(apis: SearchApis, engine: str) -> None:
    apis.bodies = {engine: "<p>Under repair</p>"}
    async with searching(access(apis), engine) as web:
        with pytest.raises(WebSearchFailed, match="unexpected form"):
            await web.search("herons")


@pytest.mark.parametrize("engine", ["google", "brave", "tavily", "searxng"])
async def test_finding_nothing_is_no_error(apis: SearchApis, engine: str) -> None:
    apis.bodies = {engine: "{}"}
    async with searching(access(apis), engine) as web:
        assert (await web.search("herons")).results == ()


async def test_a_wrong_key_is_told_without_showing_it(apis: SearchApis) -> None:
    async with searching(access(apis, brave_api_key="wrong-key"), "brave") as web:
        with pytest.raises(WebSearchFailed) as caught:
            await web.search("herons")

    assert "Check the key" in caught.value.suggestion
    assert "wrong-key" not in caught.value.message


@pytest.mark.parametrize(
    ("engine", "status", "advice"),
    [("brave", 422, "Check the key"), ("searxng", 403, "search.formats")],
    ids=["unknown-key", "json-is-off"],
)
async def test_a_status_of_one_engine_alone_says_what_to_do(
    engine: str, status: int, advice: str, apis: SearchApis
) -> None:
    apis.status = {engine: status}
    async with searching(access(apis), engine) as web:
        with pytest.raises(WebSearchFailed) as caught:
            await web.search("herons")

    assert advice in caught.value.suggestion


async def test_the_next_engine_answers_when_one_fails(apis: SearchApis) -> None:
    apis.status = {"brave": 429, "google": 503}
    async with searching(access(apis), "brave", "google", "tavily") as web:
        found = await web.search("herons")

    assert found.engine == "tavily"
    assert apis.asked == ["brave", "google", "tavily"]


async def test_when_all_engines_fail_each_is_named(apis: SearchApis) -> None:
    apis.status = {"brave": 429, "google": 503}
    async with searching(access(apis), "brave", "google") as web:
        with pytest.raises(WebSearchFailed, match=r"brave.*google"):
            await web.search("herons")


async def test_the_same_search_is_not_sent_twice_while_it_is_fresh(apis: SearchApis) -> None:
    async with searching(access(apis), "google") as web:
        first = await web.search("Grey  herons")
        second = await web.search("grey herons")
    async with searching(access(apis), "google", cache_seconds=0) as web:
        await web.search("herons")
        await web.search("herons")

    assert (first.query, second.query) == ("Grey  herons", "grey herons")
    assert (second.results, second.created_at) == (first.results, first.created_at)
    assert apis.asked == ["google"] * 3


async def test_an_engine_that_cannot_be_reached_is_named() -> None:
    nowhere = EngineAccess(searxng_url="http://127.0.0.1:9")
    async with searching(nowhere, "searxng") as web:
        with pytest.raises(WebSearchFailed, match="searxng cannot be reached"):
            await web.search("herons")


async def test_an_engine_that_never_ends_its_answer_gives_way_to_the_next(
    apis: SearchApis,
) -> None:
    with dripping_server() as slow:
        given = EngineAccess(searxng_url=slow, tavily_api_key="t-key", urls=apis.urls())
        async with searching(given, "searxng", "tavily", timeout_seconds=0.5) as web:
            with anyio.fail_after(60):
                found = await web.search("herons")

    assert found.engine == "tavily"


async def test_an_engines_rows_without_a_web_address_are_left_out(apis: SearchApis) -> None:
    addresses = [
        "http://[broken",
        "ftp://example.com",
        "javascript:alert(1)",
        "https://ok.example/",
    ]
    rows = [{"url": address, "title": "x"} for address in addresses]
    apis.bodies = {"searxng": json.dumps({"results": rows})}
    async with searching(access(apis), "searxng") as web:
        found = await web.search("herons")

    assert [result.url for result in found.results] == ["https://ok.example/"]


def test_engines_with_a_key_are_chosen_by_themselves() -> None:
    given = EngineAccess(brave_api_key="b", tavily_api_key="t", google_api_key="without a cx")

    assert chosen_engines([], given) == ["brave", "tavily"]
    assert chosen_engines([], EngineAccess()) == []
    assert chosen_engines(["duckduckgo"], EngineAccess()) == ["duckduckgo"]


def test_an_engine_without_its_key_names_the_setting() -> None:
    with pytest.raises(SettingsError, match="CITEWELL_WEB_SEARCH_GOOGLE_CX"):
        chosen_engines(["google"], EngineAccess(google_api_key="g"))
    with pytest.raises(SettingsError, match="the engines are google"):
        chosen_engines(["altavista"], EngineAccess())
    with pytest.raises(SettingsError, match="CITEWELL_WEB_SEARCH_URLS"):
        open_web_search(
            ["duckduckgo"],
            EngineAccess(urls=("duckduckgo",)),
            cache_seconds=1,
            timeout_seconds=1,
        )


@pytest.mark.parametrize("engine", ALL_ENGINES)
async def test_an_answer_without_measure_is_a_failure_of_the_engine(
    apis: SearchApis, engine: str
) -> None:
    apis.bodies = {engine: json.dumps({"results": "heron" * 1_000_000})}
    async with searching(access(apis), engine) as web:
        with pytest.raises(WebSearchFailed, match=f"^{engine} answered with too much$"):
            await web.search("herons")


@pytest.mark.parametrize(
    ("body", "encoding", "told"),
    [
        (gzip.compress(bytes(200_000_000), 1), "gzip", "answered with too much"),
        (gzip.compress(b"{}" * 99)[:-9], "gzip", "unexpected form"),
        (b"{}", "br", "unexpected form"),
        (b"[" * 100_000, "", "unexpected form"),
        (b'{"results": [' + b"9" * 10_000 + b"]}", "", "unexpected form"),
    ],
    ids=["bomb", "cut", "unasked", "deep", "number"],
)
async def test_a_hostile_answer_is_a_failure_and_fills_no_memory(
    body: bytes, encoding: str, told: str
) -> None:
    headers = {"Content-Encoding": encoding} if encoding else {}
    with running_site({"/search": Response(body=body, headers=headers)}) as site:
        async with searching(EngineAccess(searxng_url=site.url()), "searxng") as web:
            tracemalloc.start()
            try:
                with pytest.raises(WebSearchFailed, match=told):
                    await web.search("herons")
                peak_bytes = tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

    assert peak_bytes < 20_000_000


async def test_a_page_of_results_nested_without_end_is_not_parsed(apis: SearchApis) -> None:
    apis.bodies = {"duckduckgo": "<div class=result>" * 100_000}
    async with searching(access(apis), "duckduckgo") as web:
        with anyio.fail_after(60), pytest.raises(WebSearchFailed, match="unexpected form"):
            await web.search("herons")


async def test_a_compressed_answer_is_read() -> None:
    rows = [{"url": "https://example.com/a", "title": "Heron", "content": "Two herons"}]
    body = gzip.compress(json.dumps({"results": rows}).encode())
    answer = Response(body=body, headers={"Content-Encoding": "gzip"})
    with running_site({"/search": answer}) as site:
        async with searching(EngineAccess(searxng_url=site.url()), "searxng") as web:
            found = await web.search("herons")

    assert [result.name for result in found.results] == ["Heron"]


async def test_results_without_measure_are_cut_quickly(apis: SearchApis) -> None:
    long = {"url": "https://example.com/", "title": "<" * 600_000, "content": "<" * 600_000}
    endless = {**long, "url": "https://example.com/" + "a" * 600_000, "title": "Endless"}
    apis.bodies = {"searxng": json.dumps({"results": [long, endless]})}
    async with searching(access(apis), "searxng") as web:
        with anyio.fail_after(60):
            found = await web.search("herons")

    assert [result.url for result in found.results] == ["https://example.com/"]
    assert len(found.results[0].name) + len(found.results[0].snippet) <= 900
