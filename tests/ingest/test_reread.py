"""Responses kept beside their pages, and pages read again from them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.drafts import draft
from tests.ingest.ingester import open_ingester
from tests.site import Response, running_site
from tests.store.backends import BACKENDS, empty_store

from citewell.core.errors import FetchError
from citewell.core.library import Fields, WebsiteDraft
from citewell.core.records import FetchedPage, PageKind
from citewell.core.storage import PageResponse
from citewell.ingest.content_types.read import extract_fields
from citewell.ingest.extract.version import EXTRACTOR_VERSION
from citewell.ingest.local_files import read_local_page
from citewell.ingest.reread import reread_pages
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
URL = "https://birds.example/herons"
OLD_TEXT = "Herons wade."
BODY = b"<main><h1>Herons</h1><p>Herons wade.</p><p>They eat fish.</p></main>"


@pytest.fixture(params=BACKENDS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with empty_store(request.param, tmp_path) as opened:
        yield opened


def kept(body: bytes = BODY) -> PageResponse:
    return PageResponse(
        status=200,
        final_url=URL,
        content_type="text/html; charset=utf-8",
        headers=(("content-type", "text/html; charset=utf-8"),),
        body=body,
        fetched_at=NOON,
    )


async def put_old_page(
    store: Store, url: str = URL, text: str = OLD_TEXT, *, response: PageResponse | None
) -> int:
    """Store a page as an extractor before the first version would have left it."""
    put = draft(url, text, fetched_at=NOON)
    fetched = replace(put.fetched, etag='"1"')
    old = replace(put, fetched=fetched, response=response, extractor=0, tags=("birds",))
    return (await store.put_page(old)).source_id


@pytest.mark.parametrize("kind", ["markdown", "rst"])
async def test_a_page_that_no_header_describes_is_read_again_as_it_was(
    store: Store, kind: PageKind
) -> None:
    text = "Herons\n======\n\nThey *wade*.\n"
    page = FetchedPage(
        url="pypi:herons@1.0/herons.birds",
        final_url="pypi:herons@1.0/herons.birds",
        status=200,
        kind=kind,
        body=text.encode(),
        text=text,
        fetched_at=NOON,
        origin="file",
    )
    async with open_ingester(store) as ingester:
        first = await ingester.ingest_fetched(page, project="default")
        assert first.page is not None
        again = await ingester.reread(first.page)

    assert again is not None
    assert again.page is not None
    assert (again.page.kind, again.page.title) == (kind, "Herons")
    assert again.page.text_hash == first.page.text_hash


async def test_a_fetched_page_keeps_its_response_without_cookies(store: Store) -> None:
    sent = Response(body=BODY, headers={"Set-Cookie": "id=secret", "X-Robots-Tag": "nofollow"})
    with running_site({"/herons": sent}) as site:
        async with open_ingester(store) as ingester:
            outcome = await ingester.ingest(site.url("/herons"), project="default")

    assert outcome.page is not None
    response = await store.responses.get_response(outcome.page.source_id)
    assert outcome.page.extractor == EXTRACTOR_VERSION
    assert response is not None
    assert (response.status, response.body) == (200, BODY)
    assert response.final_url == site.url("/herons")
    assert dict(response.headers)["x-robots-tag"] == "nofollow"
    assert "secret" not in str(response.headers)


async def test_the_oldest_responses_make_room_for_new_ones(store: Store) -> None:
    pages = {f"/{n}": f"<main><h1>{n}</h1><p>{'fish ' * n}</p></main>" for n in range(1, 6)}
    with running_site(pages) as site:
        async with open_ingester(store, response_max_bytes=150) as ingester:
            for path in pages:
                await ingester.ingest(site.url(path), project="default")

    infos = await store.list_outdated_pages(EXTRACTOR_VERSION + 1, limit=10)
    held = [await store.responses.get_response(info.source_id) is not None for info in infos]
    assert 0 < await store.responses.response_bytes() <= 150
    assert held[-1]
    assert not held[0]
    assert held == sorted(held)


async def test_a_limit_of_zero_keeps_no_response(store: Store) -> None:
    with running_site({"/herons": BODY.decode()}) as site:
        async with open_ingester(store, response_max_bytes=0) as ingester:
            outcome = await ingester.ingest(site.url("/herons"), project="default")

    assert outcome.page is not None
    assert await store.responses.get_response(outcome.page.source_id) is None


async def test_an_outdated_page_is_read_again_without_a_fetch(store: Store) -> None:
    source_id = await put_old_page(store, response=kept())

    async with open_ingester(store) as ingester:
        result = await reread_pages(store, ingester, now=NOON + timedelta(days=1))
        again = await reread_pages(store, ingester, now=NOON + timedelta(days=1))

    page = await store.get_page(source_id)
    assert page is not None
    assert "They eat fish." in page.text
    assert (page.info.extractor, page.info.fetched_at) == (EXTRACTOR_VERSION, NOON)
    assert (page.info.etag, page.info.tags) == ('"1"', ("birds",))
    assert await store.responses.get_response(source_id) == kept()
    assert (result.read, result.report.changed, result.changed_ids) == (1, 1, (source_id,))
    assert [change.kind for change in result.report.pages] == ["changed"]
    assert any("They eat fish." in section.after for section in result.report.pages[0].sections)
    assert again.read == 0


async def test_the_fields_of_a_page_are_read_again_with_it(store: Store) -> None:
    job = b"<main><h1>Heron keeper</h1><h2>Salary</h2><p>40,000 EUR a year</p></main>"
    source_id = await put_old_page(store, response=kept(job))
    entry = WebsiteDraft(url=URL, kind="page", content_type="job_posting")
    website, _ = await store.library.add_website(entry, now=NOON)
    old: Fields = {"salary": [{"value": "nothing"}]}
    await store.library.join_page(website.source_id, source_id, fields=old)

    async with open_ingester(store) as ingester:
        await reread_pages(store, ingester, now=NOON, extract_fields=extract_fields)

    fields = await store.library.fields_of([source_id])
    assert "40,000 EUR a year" in str(fields[source_id]["salary"])
    assert "nothing" not in str(fields)


async def test_pages_that_cannot_be_read_again_stay_as_they_were(store: Store) -> None:
    bare = await put_old_page(store, response=None)
    empty = await put_old_page(
        store,
        f"{URL}/empty",
        "Egrets are white.",
        response=kept(b"<body><script>x</script></body>"),
    )
    await put_old_page(store, f"{URL}/good", response=kept())

    async with open_ingester(store) as ingester:
        result = await reread_pages(store, ingester, now=NOON, parallel=2)

    pages = [await store.get_page(source_id) for source_id in (bare, empty)]
    assert [page and page.text for page in pages] == [OLD_TEXT, "Egrets are white."]
    assert (result.read, result.report.failed, result.without_response) == (1, 1, 1)
    failed = [change for change in result.report.pages if change.kind == "failed"]
    assert [(change.source_id, bool(change.error)) for change in failed] == [(empty, True)]
    assert await store.responses.get_response(empty) is not None


async def test_pages_of_this_version_are_read_again_only_if_everything_is(store: Store) -> None:
    with running_site({"/herons": BODY.decode()}) as site:
        async with open_ingester(store) as ingester:
            await ingester.ingest(site.url("/herons"), project="default")
            outdated = await reread_pages(store, ingester, now=NOON)
            everything = await reread_pages(store, ingester, now=NOON, everything=True)

    assert (outdated.read, everything.read, everything.report.changed) == (0, 1, 0)


async def test_only_pages_with_a_response_are_listed_where_that_is_asked(store: Store) -> None:
    await put_old_page(store, response=None)
    with_response = await put_old_page(store, f"{URL}/kept", response=kept())

    every = await store.list_outdated_pages(EXTRACTOR_VERSION, limit=10)
    readable = await store.list_outdated_pages(EXTRACTOR_VERSION, limit=10, with_response=True)

    assert (len(every), [info.source_id for info in readable]) == (2, [with_response])


async def test_a_file_is_read_again_as_the_kind_that_its_name_said(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "herons.md"
    path.write_text("# Herons\n\nHerons *wade*.\n", encoding="utf-8")
    async with open_ingester(store) as ingester:
        fetched = read_local_page(path, max_bytes=1_000_000)
        first = await ingester.ingest_fetched(fetched, project="default")
        await reread_pages(store, ingester, now=NOON, everything=True)

    assert first.page is not None
    page = await store.get_page(first.page.source_id)
    assert page is not None
    assert (page.info.kind, page.info.origin) == ("markdown", "file")
    assert page.info.text_hash == first.page.text_hash


async def supply(store: Store, url: str) -> None:
    put = draft(url, "Herons bark.", fetched_at=datetime.now(UTC))
    await store.put_page(replace(put, fetched=replace(put.fetched, origin="supplied")))


async def test_a_page_is_fetched_although_a_caller_supplied_text_for_its_url(store: Store) -> None:
    with running_site({"/herons": BODY.decode()}) as site:
        await supply(store, site.url("/herons"))
        async with open_ingester(store) as ingester:
            outcome = await ingester.ingest(site.url("/herons"), project="default")

    assert outcome.page is not None
    page = await store.get_page(outcome.page.source_id)
    assert page is not None
    assert page.info.origin == "fetched"
    assert "bark" not in page.text


async def test_supplied_text_does_not_stand_in_for_a_page_that_cannot_be_fetched(
    store: Store,
) -> None:
    with running_site({}) as site:
        await supply(store, site.url("/herons"))
        async with open_ingester(store) as ingester:
            with pytest.raises(FetchError):
                await ingester.ingest(site.url("/herons"), project="default")
