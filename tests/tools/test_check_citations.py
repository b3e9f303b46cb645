"""`check_citations`: how many pages one call may fetch, and how politely."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.drafts import draft
from tests.site import Response, running_site
from tests.tools.library import EGRETS, HERONS, open_library

from citewell.app.citation_check import CitationChecker
from citewell.core.records import Caller
from citewell.tools.evidence.check_citations import MAX_LIVE_PAGES

pytestmark = pytest.mark.anyio

PAGE = "<title>Herons</title><h1>Herons</h1><p>The grey heron stands still for hours.</p>"


async def test_a_call_fetches_a_bounded_number_of_pages() -> None:
    with running_site({"/herons": PAGE}) as site:
        links = [site.url(f"/herons?n={number}") for number in range(MAX_LIVE_PAGES + 10)]
        async with open_library(web_allowed_private_hosts=(site.host,)) as library:
            checked = await library.call("check_citations", text="\n\n".join(links))
            again = await library.call("check_citations", text="\n\n".join(links[-10:]))

    assert checked["counts"] == {"found": MAX_LIVE_PAGES, "not_checked": 10}
    assert again["counts"] == {"found": 10}
    assert set(Counter(site.paths()).values()) == {1}
    left_out = [row for row in checked["references"] if row["verdict"] == "not_checked"]
    assert [row["url"] for row in left_out] == links[MAX_LIVE_PAGES:]
    assert not any(row["live"] for row in left_out)


async def test_pages_that_robots_are_not_to_read_are_not_fetched() -> None:
    rules = Response(body=b"User-agent: *\nDisallow: /herons", headers={})
    with running_site({"/herons": PAGE, "/robots.txt": rules}) as site:
        async with open_library(web_allowed_private_hosts=(site.host,)) as library:
            checked = await library.call("check_citations", text=site.url("/herons"))

    assert checked["counts"] == {"unreachable": 1}
    assert site.paths() == []


async def test_what_a_key_for_reading_can_fetch_is_not_stored() -> None:
    """The table of scopes in docs/security.md promises so."""
    with running_site({"/herons": PAGE}) as site:
        url = site.url("/herons")
        async with open_library(web_allowed_private_hosts=(site.host,)) as library:
            reader = Caller(session="reader", scopes=frozenset({"read"}))
            fetched = await library.call("web_fetch", caller=reader, url=url)
            checked = await library.call("check_citations", caller=reader, text=url)
            refused = [
                await library.call("answer", caller=reader, url=url, query="What do herons do?"),
                await library.call("ingest", caller=reader, url=url),
            ]
            listed = await library.call("rag_list_websites")

    assert "error" not in fetched
    assert checked["counts"] == {"found": 1}
    assert all("error" in each for each in refused)
    assert url not in {website["url"] for website in listed["websites"]}


async def test_pages_of_packages_are_compared_and_never_fetched() -> None:
    text = (
        "“The grey heron stands still for hours” (pypi:herons@2.0.0/herons) and “the heron is"
        " never far from water” (npm:egret@1.0.0/README)."
    )
    async with open_library() as library:
        page = draft("pypi:herons@2.0.0/herons", "The grey heron stands still for hours.")
        await library.parts.store.put_page(page)
        checked = await library.call("check_citations", text=text)

    assert checked["counts"] == {"exact": 1, "not_indexed": 1}


async def test_verdicts_stand_in_the_order_of_the_text_though_each_page_is_read_once() -> None:
    text = "\n\n".join(
        [
            f"“The grey heron eats fish” ({HERONS.url}#a)",
            f"“The little egret eats small fish” ({EGRETS.url})",
            f"“The grey heron eats no fish at all” ({HERONS.url})",
            "“The great bustard runs over dry grass”",
            f"“The grey heron eats fish” ({HERONS.url}#b)",
            f"[heron]({HERONS.url}#:~:text=grey,hours)",
            f"[egret]({EGRETS.url}#:~:text=yellow,fish)",
        ]
    )
    async with open_library() as library:
        checked = await library.call("check_citations", text=text, against="library")

    assert [row["verdict"] for row in checked["references"]] == [
        *("exact", "exact", "changed", "unsourced", "exact", "exact", "gone")
    ]


async def test_a_page_that_cannot_be_read_leaves_the_others_checked() -> None:
    broken = Response(body=b"%PDF-1.7 nothing", headers={"Content-Type": "application/pdf"})
    with running_site({"/broken.pdf": broken, "/herons": PAGE}) as site:
        links = [site.url("/broken.pdf"), site.url("/herons")]
        async with open_library(web_allowed_private_hosts=(site.host,)) as library:
            checked = await library.call("check_citations", text="\n\n".join(links))

    assert [row["verdict"] for row in checked["references"]] == ["unreachable", "found"]


async def test_what_is_left_when_the_time_is_over_is_not_checked() -> None:
    async with open_library() as library:
        checker = CitationChecker(
            library.parts.store, library.parts.ingester, project="default", seconds=0
        )
        checked = await checker.check(f"“The grey heron eats fish” ({HERONS.url})")

    assert [row.verdict for row in checked] == ["not_checked"]
    assert checked[0].explanation.startswith("There was no time left for it")
