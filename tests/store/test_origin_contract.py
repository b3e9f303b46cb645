"""What every store promises of where text came from: its origin, response and extractor."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from tests.drafts import draft

from citewell.core.errors import SuppliedTextRefused
from citewell.core.library import WebsiteDraft
from citewell.core.records import (
    Link,
    LinkKind,
    PageDraft,
    PageOrigin,
)
from citewell.core.storage import PageResponse
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

URL = "https://birds.example/herons"
ALIAS = "https://birds.example/old-herons"
NOON = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


def page(
    text: str, *, origin: PageOrigin, url: str = URL, final_url: str | None = None
) -> PageDraft:
    put = draft(url, text, final_url=final_url)
    return replace(put, fetched=replace(put.fetched, origin=origin))


def response(body: bytes = b"<p>Herons wade.</p>", *, fetched_at: datetime = NOON) -> PageResponse:
    return PageResponse(
        status=200,
        final_url=URL,
        content_type="text/html; charset=utf-8",
        headers=(("Content-Type", "text/html; charset=utf-8"), ("Via", "1.1 köln")),
        body=body,
        fetched_at=fetched_at,
    )


async def test_who_supplied_a_text_is_kept_with_the_page_and_its_website(store: Store) -> None:
    website, _ = await store.library.add_website(WebsiteDraft(url=URL), now=NOON)
    supplied = page("Herons bark.", origin="supplied")
    fetched = replace(supplied.fetched, supplied_by="ann (…c0de)")
    put = await store.put_page(replace(supplied, fetched=fetched))
    before = await store.find_page(URL, project="default")
    entry = await store.library.get_website(website.source_id, project="default")
    await store.put_page(page("Herons wade.", origin="fetched"))
    after = await store.get_page(put.source_id)

    assert before is not None
    assert entry is not None
    assert after is not None
    assert before.supplied_by == entry.supplied_by == "ann (…c0de)"
    assert after.info.supplied_by == ""


async def put_with_response(store: Store, name: str, body: bytes, *, age_days: int) -> int:
    url = f"https://birds.example/{name}"
    kept = response(body, fetched_at=NOON - timedelta(days=age_days))
    put = await store.put_page(replace(draft(url, name), response=kept))
    return put.source_id


@pytest.mark.parametrize("origin", get_args(PageOrigin))
async def test_a_page_and_its_chunks_say_where_the_text_came_from(
    store: Store, origin: PageOrigin
) -> None:
    put = await store.put_page(page("Herons wade.", origin=origin))

    info = await store.find_page(URL, project="default")
    chunks = await store.chunks_of_page(put.source_id)
    assert info is not None
    assert (info.origin, [chunk.origin for chunk in chunks]) == (origin, [origin])
    assert [chunk.origin for chunk in await store.load_chunks([chunks[0].chunk_id])] == [origin]


@pytest.mark.parametrize("origin", ["fetched", "file"])
async def test_supplied_text_does_not_replace_a_page(store: Store, origin: PageOrigin) -> None:
    put = await store.put_page(page("Herons wade.", origin=origin))

    with pytest.raises(SuppliedTextRefused):
        await store.put_page(page("Herons bark.", origin="supplied"))

    kept = await store.get_page(put.source_id)
    assert kept is not None
    assert (kept.text, kept.info.origin) == ("Herons wade.", origin)


async def test_supplied_text_does_not_take_the_address_that_redirects_ended_at(
    store: Store,
) -> None:
    put = await store.put_page(page("Herons wade.", origin="fetched", url=ALIAS, final_url=URL))

    with pytest.raises(SuppliedTextRefused):
        await store.put_page(page("Herons bark.", origin="supplied"))

    info = await store.find_page(URL, project="default")
    assert info is not None
    assert (info.source_id, info.origin) == (put.source_id, "fetched")


async def test_a_page_fetched_later_hides_supplied_text_of_its_final_address(store: Store) -> None:
    await store.put_page(page("Herons bark.", origin="supplied"))
    fetched = await store.put_page(page("Herons wade.", origin="fetched", url=ALIAS, final_url=URL))

    info = await store.find_page(URL, project="default")

    assert info is not None
    assert info.source_id == fetched.source_id


async def test_supplied_text_is_replaced_by_other_supplied_text_and_by_a_fetched_page(
    store: Store,
) -> None:
    first = await store.put_page(page("Herons bark.", origin="supplied"))
    second = await store.put_page(page("Herons croak.", origin="supplied"))
    third = await store.put_page(page("Herons wade.", origin="fetched"))

    info = await store.find_page(URL, project="default")
    assert info is not None
    assert first.source_id == second.source_id == third.source_id == info.source_id
    assert info.origin == "fetched"


async def test_supplied_text_of_another_project_is_in_nobodys_way(store: Store) -> None:
    await store.put_page(page("Herons wade.", origin="fetched"))

    put = await store.put_page(replace(page("Notes.", origin="supplied"), project="notes"))

    assert put.created


async def test_a_link_has_its_kind(store: Store) -> None:
    links = tuple(
        Link(url=URL, text=kind, context=kind, section=0, start=0, kind=kind)
        for kind in get_args(LinkKind)
    )

    put = await store.put_page(draft(ALIAS, "Herons wade.", links=links))

    stored = await store.get_page(put.source_id)
    assert stored is not None
    assert stored.links == links


async def test_a_response_comes_back_as_it_was_put(store: Store) -> None:
    put = await store.put_page(replace(draft(URL, "Herons wade."), response=response()))

    assert await store.responses.get_response(put.source_id) == response()


async def test_a_response_goes_with_the_text_that_was_made_from_it(store: Store) -> None:
    put = await store.put_page(replace(draft(URL, "Herons wade."), response=response()))

    await store.put_page(draft(URL, "Herons wade and fish."))

    assert await store.responses.get_response(put.source_id) is None
    assert await store.responses.response_bytes() == 0


async def test_a_response_goes_with_its_page(store: Store) -> None:
    put = await store.put_page(replace(draft(URL, "Herons wade."), response=response()))

    await store.delete_page(put.source_id)

    assert await store.responses.response_bytes() == 0


async def test_a_response_can_be_put_replaced_and_dropped_by_itself(store: Store) -> None:
    source_id = (await store.put_page(draft(URL, "Herons wade."))).source_id
    other = response(b"<p>Herons fish.</p>")

    assert await store.responses.put_response(source_id, response())
    assert await store.responses.put_response(source_id, other)
    assert await store.responses.get_response(source_id) == other
    assert await store.responses.drop_response(source_id)
    assert not await store.responses.drop_response(source_id)
    assert await store.responses.get_response(source_id) is None


async def test_a_response_of_a_page_that_is_gone_is_not_kept(store: Store) -> None:
    assert not await store.responses.put_response(1, response())
    assert await store.responses.response_bytes() == 0


async def test_responses_are_kept_compressed(store: Store) -> None:
    body = b"<li>heron</li>" * 10_000

    await put_with_response(store, "herons", body, age_days=0)

    assert 0 < await store.responses.response_bytes() < len(body) / 50


async def test_the_oldest_responses_go_when_there_are_too_many_bytes(store: Store) -> None:
    old = await put_with_response(store, "old", b"egret", age_days=3)
    newer = await put_with_response(store, "newer", b"heron", age_days=1)
    newest = await put_with_response(store, "newest", b"stork", age_days=0)
    total = await store.responses.response_bytes()

    assert await store.responses.drop_oldest_responses(max_bytes=total) == 0
    assert await store.responses.drop_oldest_responses(max_bytes=total - 1) == 1

    kept = [await store.responses.get_response(page) is not None for page in (old, newer, newest)]
    assert kept == [False, True, True]
    assert await store.responses.drop_oldest_responses(max_bytes=0) == 2
    assert await store.responses.response_bytes() == 0


async def test_pages_of_an_older_extractor_are_listed(store: Store) -> None:
    urls = [f"https://birds.example/{number}" for number in range(4)]
    for version, url in enumerate(urls):
        await store.put_page(replace(draft(url, "Herons."), extractor=version))
    await store.put_page(page("Notes.", origin="supplied"))

    outdated = await store.list_outdated_pages(3, limit=10)
    rest = await store.list_outdated_pages(3, limit=10, after_source_id=outdated[0].source_id)

    assert [(info.url, info.extractor) for info in outdated] == [
        (url, version) for version, url in enumerate(urls[:3])
    ]
    assert rest == outdated[1:]
    assert await store.list_outdated_pages(3, limit=1) == outdated[:1]
