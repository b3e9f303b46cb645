"""`kb.verify_quote` on pages that were really fetched, with their furniture."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.site import Site, running_site
from tests.tools.library import HERONS, ME, Library, open_library

from citewell.tools.kb.verify_quote import VerifyQuoteInput, render, run
from citewell.tools.tool import Call

pytestmark = pytest.mark.anyio

PAGE = """<!DOCTYPE html><html lang="en"><head><title>Herons</title></head><body>
<nav><ul><li><a href="/a">Start</a></li><li><a href="/b">All birds of the river</a></li></ul></nav>
<main><h1>Herons</h1>
<p>The <em>grey</em> heron’s bill is “long”. It eats fish, frogs and, rarely, mice.</p>
<p>Herons nest in tall trees near rivers and lakes, in colonies of up to fifty pairs.</p></main>
<footer><p>Copyright 2026 by the Society of River Birds, all rights reserved.</p>
<p style="display:none">Herons are made of cheese and sing opera all night.</p></footer>
</body></html>"""
FOOTER = "Copyright 2026 by the Society of River Birds"
HIDDEN = "Herons are made of cheese and sing opera all night."


@asynccontextmanager
async def open_fetched() -> AsyncIterator[tuple[Library, Site, str]]:
    with running_site({"/herons": PAGE}) as site:
        url = site.url("/herons")
        hosts = (site.host,)
        async with open_library(web_allowed_private_hosts=hosts) as library:
            outcome = await library.parts.ingester.ingest(url, project="default")
            assert outcome.page is not None
            page = await library.parts.store.get_page(outcome.page.source_id)
            assert page is not None
            assert FOOTER not in page.text
            yield library, site, url


@pytest.mark.parametrize("live", [False, True])
async def test_a_quote_of_the_footer_is_not_gone(live: bool) -> None:
    async with open_fetched() as (library, _, url):
        result = await library.result("kb.verify_quote", quote=FOOTER, url=url, live=live)

    found = result.structured
    assert (found["verdict"], found["checked"]) == ("exact", "whole page")
    assert "start" not in found
    assert "outside the main text" in result.text


async def test_a_page_that_is_not_indexed_is_fetched_on_request_and_not_stored() -> None:
    with running_site({"/herons": PAGE}) as site:
        url, quote = site.url("/herons"), "Herons nest in tall trees near rivers and lakes"
        async with open_library(web_allowed_private_hosts=(site.host,)) as library:
            refused = await library.result("kb.verify_quote", quote=quote, url=url)
            checked = await library.result("kb.verify_quote", quote=quote, url=url, live=True)
            stored = await library.parts.store.find_page(url, project="default")

    assert refused.structured["error"]["code"] == "NOT_FOUND"
    assert "live true" in refused.structured["error"]["suggestion"]
    assert (checked.structured["verdict"], checked.structured["title"]) == ("exact", "Herons")
    assert "source_id" not in checked.structured
    assert stored is None


async def test_what_no_reader_sees_is_gone() -> None:
    async with open_fetched() as (library, _, url):
        result = await library.result("kb.verify_quote", quote=HIDDEN, url=url)

    assert result.structured["verdict"] == "gone"
    assert "do not cite it" in result.text


async def test_a_page_without_its_response_says_that_only_its_main_text_was_checked() -> None:
    async with open_library() as library:
        result = await library.result("kb.verify_quote", quote=FOOTER, url=HERONS.url)

    assert result.structured["verdict"] == "gone"
    assert result.structured["checked"] == "main text"
    assert "with live true" in result.text


async def test_several_quotes_are_judged_at_once() -> None:
    quotes = [
        'The grey heron\'s bill is "long".',
        "It eats fish … rarely, mice.",
        "Herons nest in low trees near rivers and lakes, in colonies of up to fifty pairs.",
        FOOTER,
        "The invoice must be paid within thirty days.",
    ]
    async with open_fetched() as (library, _, url):
        result = await library.result("kb.verify_quote", quote=quotes, url=url)
        single = await library.call("kb.verify_quote", quote=quotes[0], url=url)

    verdicts = [each["verdict"] for each in result.structured["results"]]
    assert verdicts == ["exact", "exact", "changed", "exact", "gone"]
    assert result.structured["verdict"] == "gone"
    assert "[-low-]{+tall+}" in result.text
    assert "3. CHANGED" in result.text
    assert single["verdict"] == "exact"
    assert "results" not in single


@pytest.mark.parametrize(
    "arguments", [{}, {"quote": []}, {"quote": ["x"] * 21}, {"quote": ["", "x"]}]
)
async def test_at_least_one_quote_is_needed_and_none_may_be_empty(
    arguments: dict[str, Any],
) -> None:
    async with open_library() as library:
        refused = await library.call("kb.verify_quote", url=HERONS.url, **arguments)

    assert refused["error"]["code"] == "INVALID_ARGUMENT"


async def test_quotes_that_are_left_when_the_time_is_over_are_named() -> None:
    quotes = ["The grey heron", "It nests in trees."]
    async with open_library(mcp_tool_timeout=0.0) as library:
        # Not through the registry, which would end a call that has no time.
        call = Call(parts=library.parts, caller=ME)
        output = await run(VerifyQuoteInput(quote=quotes, url=HERONS.url), call)

    assert output.results is not None
    assert [row.verdict for row in output.results] == ["exact", "not_checked"]
    assert output.verdict == "not_checked"
    assert "2. NOT_CHECKED\nThe page is long" in render(output, call)
