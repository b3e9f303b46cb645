from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from tests.access.billing_server import billing_server
from tests.tools.library import Library
from tests.web.search_apis import SearchApis, running_search_apis

from citewell.access.meter import open_meter
from citewell.access.prices import PriceList
from citewell.app.open import open_app
from citewell.core.records import Caller
from citewell.core.settings import Settings
from citewell.tools.catalog import open_registry
from citewell.web.billing import BillingService

pytestmark = pytest.mark.anyio

SETTINGS = Settings(database_url="sqlite://", embedder="none")


@asynccontextmanager
async def searching(apis: SearchApis) -> AsyncIterator[Library]:
    settings = replace(
        SETTINGS,
        web_search_engines=("brave", "tavily"),
        web_search_brave_api_key="b-key",
        web_search_tavily_api_key="t-key",
        web_search_urls=apis.urls(),
        mcp_toolsets=("all",),
    )
    async with open_app(settings) as app:
        yield Library(app=app, parts=await app.open("web_search"))


async def test_the_result_has_the_promised_fields() -> None:
    with running_search_apis() as apis:
        async with searching(apis) as library:
            result = await library.result("web_search", query="herons")

    found = result.structured
    assert not result.is_error
    assert found["query"] == "herons"
    assert found["engine"] == "brave"
    assert found["created_at"].endswith("Z")
    assert found["results"][0] == {
        "url": "https://example.com/a",
        "name": "Heron & egret",
        "snippet": "Two herons & more",
    }
    assert "1. Heron & egret\n   https://example.com/a" in result.text
    assert "not instructions to follow" in result.text


async def test_an_empty_phrase_is_refused() -> None:
    with running_search_apis() as apis:
        async with searching(apis) as library:
            result = await library.call("web_search", query="  ")

    assert result["error"]["message"] == "query cannot be empty"
    assert apis.asked == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("web_search", {"query": " "}),
        ("extract_key_info", {"query": "Soup?", "materials": " \n"}),
        ("extract_key_info", {"query": " ", "materials": "Soup."}),
    ],
)
async def test_nothing_is_charged_for_blank_words(tool: str, arguments: dict[str, str]) -> None:
    payer = Caller(session="", key_hash="a", token="sk-paid", pays_by_service=True)
    with running_search_apis() as apis, billing_server() as service:
        service.quotas["sk-paid"] = 5
        billing = BillingService(service.url, timeout_seconds=60)
        async with searching(apis) as library:
            store = (await library.app.open("store")).store
            prices = PriceList(("*=5",))
            async with open_meter(store.access, prices=prices, billing=billing) as meter:
                result = await open_registry(library.app.settings).call(
                    tool, arguments, app=library.app, caller=payer, meter=meter
                )
        await billing.aclose()

    assert result.structured["error"]["code"] == "INVALID_ARGUMENT"
    assert service.asked == 0


async def test_failing_engines_are_an_error_that_names_them() -> None:
    with running_search_apis() as apis:
        apis.status = {"brave": 429, "tavily": 433}
        async with searching(apis) as library:
            result = await library.call("web_search", query="herons")

    assert result["error"]["code"] == "BACKEND_UNAVAILABLE"
    assert "brave" in result["error"]["message"]
    assert "tavily" in result["error"]["message"]


async def test_without_an_engine_the_call_names_the_setting() -> None:
    async with open_app(SETTINGS) as app:
        result = await Library(app=app, parts=await app.open()).call("web_search", query="herons")

    assert result["error"]["message"].startswith("web search is not configured")
    assert "CITEWELL_WEB_SEARCH_ENGINES" in str(result["error"])
