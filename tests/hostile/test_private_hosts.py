"""A page cannot use the exceptions for private hosts that were made for somebody else."""

from __future__ import annotations

import pytest
from tests.site import Response, running_site
from tests.tools.library import open_library
from tests.web.fetching import fetcher_for

from citewell.core.errors import InvalidArgument
from citewell.core.library import CrawlOptions
from citewell.ingest.discover import discover_urls

pytestmark = pytest.mark.anyio

_PAGE = "<title>Herons</title><h1>Herons</h1><p>The grey heron stands still. {link}</p>"


@pytest.mark.parametrize("is_asked_for", [False, True])
async def test_answer_follows_a_link_to_a_private_host_only_if_it_was_named(
    is_asked_for: bool,
) -> None:
    with running_site({}) as inside:
        inside.default = "<title>Food</title><p>The grey heron eats fish and frogs all day.</p>"
        link = f'<a href="{inside.url("/food")}">What the grey heron eats</a>'
        with running_site({"/herons": _PAGE.format(link=link)}) as site:
            named = [site.url("/herons"), *([inside.url("/")] if is_asked_for else [])]
            async with open_library(web_allowed_private_hosts=("127.0.0.0/8",)) as library:
                await library.call(
                    "answer",
                    url=named,
                    query="What does the grey heron eat in the winter of Lapland?",
                    expansion_budget=3,
                )

    assert ("/food" in inside.paths()) is is_asked_for
    assert bool(inside.requests) is is_asked_for


async def test_a_robots_txt_cannot_name_the_sitemap_of_another_private_host() -> None:
    with running_site({}) as inside:
        robots = Response(body=f"Sitemap: {inside.url('/sitemap.xml')}".encode())
        with running_site({"/": _PAGE.format(link=""), "/robots.txt": robots}) as site:
            async with fetcher_for(site, allowed_private_hosts=("127.0.0.0/8",)) as fetcher:
                with pytest.raises(InvalidArgument):
                    await discover_urls(fetcher, site.url(), CrawlOptions(discovery="sitemap"))

    assert site.requests
    assert inside.requests == []
