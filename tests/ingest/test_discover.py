"""The order in which the pages that a site names are read."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from tests.ingest.packages.doc_site import inventory, page
from tests.site import Answer, Response, running_site

from citewell.core.library import CrawlOptions
from citewell.ingest.discover import discover_urls
from citewell.web.fetcher import Fetcher

pytestmark = pytest.mark.anyio

PAGES = (
    "glossary.html",
    "history/changelog-1.0.html",
    "index.html",
    "reference/ibis.html",
    "reference/kite.html",
    "reference/rail.html",
    "userguide/herons.html",
    "whatsnew.html",
)


async def test_each_folder_of_an_inventory_has_its_turn_and_release_notes_come_last() -> None:
    pages: dict[str, Answer] = {
        "/docs/": page("Birds", "All about birds."),
        "/docs/objects.inv": Response(body=inventory("1.0", PAGES)),
    }
    with running_site(pages) as site:
        async with Fetcher(allowed_private_hosts=(site.host,), max_retries=0) as fetcher:
            found = await discover_urls(fetcher, site.url("/docs/"), CrawlOptions())

    assert found.discovery == "inventory"
    assert [urlsplit(each.url).path.removeprefix("/docs/") for each in found.urls] == [
        "index.html",
        "glossary.html",
        "reference/ibis.html",
        "userguide/herons.html",
        "reference/kite.html",
        "reference/rail.html",
        "history/changelog-1.0.html",
        "whatsnew.html",
    ]
