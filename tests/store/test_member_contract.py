"""Every promise of LibraryStore about the pages of its entries, run once per backend."""

from __future__ import annotations

import pytest
from tests.store.shelf import EGRETS, HERONS, NOW, SITE, add, got, put

from citewell.core.ids import content_hash
from citewell.core.jobs import JobDraft
from citewell.core.library import (
    Crawl,
    CrawlUrl,
    Fields,
    RemovedWebsite,
)
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio


async def test_members_are_listed_with_their_fields(store: Store) -> None:
    site = await add(store, SITE, kind="site")
    herons = await put(store, HERONS, "Herons wade.")
    egrets = await put(store, EGRETS, "Egrets fly.")
    fields: Fields = {"company": [{"value": "Ardea 株式会社", "quote": "Ardea"}]}
    await store.library.join_page(site.source_id, herons, fields=fields)
    await store.library.join_page(site.source_id, egrets)
    await store.library.join_page(site.source_id, herons)

    members = await store.library.list_members(site.source_id, limit=9)
    after = await store.library.list_members(site.source_id, limit=9, after_source_id=herons)

    assert [(at.source_id, at.url, at.fields) for at in members] == [
        (herons, HERONS, fields),
        (egrets, EGRETS, {}),
    ]
    assert [at.source_id for at in after] == [egrets]
    assert await store.library.fields_of([herons, egrets]) == {herons: fields}
    assert not await store.library.join_page(site.source_id, 99)
    assert not await store.library.join_page(99, herons)


async def test_hashes_change_with_the_text_of_a_page_or_of_any_member(store: Store) -> None:
    site, other = await add(store, SITE, kind="site"), await add(store, "https://b.example/")
    herons = await put(store, HERONS, "Herons wade.")
    egrets = await put(store, EGRETS, "Egrets fly.")
    for page in (herons, egrets):
        await store.library.join_page(site.source_id, page)
    pages, websites = [herons, egrets, 99], [site.source_id, other.source_id, 99]

    first = await store.text_hashes(pages), await store.library.text_hashes(websites)
    again = await store.text_hashes(pages), await store.library.text_hashes(websites)
    await put(store, EGRETS, "Egrets wade.")
    changed = await store.text_hashes(pages), await store.library.text_hashes(websites)

    assert first == again
    assert first[0] == {herons: content_hash("Herons wade."), egrets: content_hash("Egrets fly.")}
    assert changed[0] == {herons: first[0][herons], egrets: content_hash("Egrets wade.")}
    assert list(first[1]) == list(changed[1]) == [site.source_id]
    assert first[1] != changed[1]


async def test_pages_are_found_by_the_values_of_their_fields(store: Store) -> None:
    site = await add(store, SITE, kind="site")
    herons = await put(store, HERONS, "Herons wade.")
    fields: Fields = {"company": [{"value": "ARDEA 株式会社"}], "role": [{"value": "Wader"}]}
    await store.library.join_page(site.source_id, herons, fields=fields)

    async def found(**wanted: str) -> list[int]:
        return await store.library.pages_with_fields(wanted, project="default")

    assert await found(company="ardea") == [herons]
    assert await found(company="株式", role="wad") == [herons]
    assert await found(company="ardea", role="flyer") == []
    assert await store.library.pages_with_fields({"role": "wad"}, project="x") == []


async def test_an_entry_of_a_page_shows_that_pages_fields(store: Store) -> None:
    elsewhere = await put(store, EGRETS, "Egrets fly.")
    website = await add(store, HERONS)
    await store.library.join_page(website.source_id, elsewhere, fields={"role": []})

    assert (await got(store, website.source_id)).fields == {"role": []}


async def test_a_page_that_leaves_is_deleted_unless_another_entry_holds_it(store: Store) -> None:
    site = await add(store, SITE, kind="site")
    herons, egrets = await put(store, HERONS, "Herons."), await put(store, EGRETS, "Egrets.")
    for page in (herons, egrets):
        await store.library.join_page(site.source_id, page)
    await add(store, HERONS)

    assert not await store.library.leave_page(site.source_id, herons)
    assert await store.library.leave_page(site.source_id, egrets)

    assert await store.get_page(herons) is not None
    assert await store.get_page(egrets) is None


async def test_a_member_is_found_by_its_text(store: Store) -> None:
    site = await add(store, SITE, kind="site")
    herons = await put(store, HERONS, "Herons wade.")
    await put(store, EGRETS, "Egrets fly.")
    await store.library.join_page(site.source_id, herons)

    found = await store.library.find_member_by_text(site.source_id, content_hash("Herons wade."))

    assert found is not None
    assert found.url == HERONS
    missing = content_hash("Egrets fly.")
    assert await store.library.find_member_by_text(site.source_id, missing) is None


async def test_the_pages_of_entries_and_pages_are_told_once_each(store: Store) -> None:
    site = await add(store, SITE, kind="site")
    herons, egrets = await put(store, HERONS, "Herons."), await put(store, EGRETS, "Egrets.")
    await store.library.join_page(site.source_id, herons)

    asked = [site.source_id, herons, egrets, 99]

    assert await store.library.pages_of(asked, project="default") == [herons, egrets]
    assert await store.library.pages_of(asked, project="other") == []


async def test_deleting_an_entry_takes_its_pages_crawl_and_jobs_along(store: Store) -> None:
    site = await add(store, SITE, kind="site")
    herons = await put(store, HERONS, "Herons wade.", "They wait.")
    await store.library.join_page(site.source_id, herons)
    job, _ = await store.jobs.add_job(
        JobDraft(kind="process_site", key=str(site.source_id)), now=NOW
    )
    crawl = Crawl(job_id=job.job_id, discovery="links", started_at=NOW)
    await store.crawls.start_crawl(site.source_id, crawl, [CrawlUrl(url=SITE)])

    removed = await store.library.delete_website(site.source_id, project="default")

    assert removed == RemovedWebsite(source_id=site.source_id, url=SITE, pages=1, chunks=2)
    assert await store.get_page(herons) is None
    assert await store.crawls.get_crawl(site.source_id) is None
    cancelled = await store.jobs.get_job(job.job_id)
    assert cancelled is not None
    assert cancelled.state == "cancelled"
    assert await store.library.delete_website(site.source_id, project="default") is None


async def test_deleting_an_entry_lets_no_failed_work_of_it_be_tried_again(store: Store) -> None:
    site = await add(store, SITE, kind="site")
    await store.jobs.add_job(JobDraft(kind="process_site", key=str(site.source_id)), now=NOW)
    held = await store.jobs.take_job("worker", now=NOW, lease_seconds=60)
    assert held is not None
    await store.jobs.fail_job(held.job_id, lease=held.lease, now=NOW, error="gone", retry_at=None)

    await store.library.delete_website(site.source_id, project="default")

    assert await store.jobs.list_jobs(states={"failed"}) == []


async def test_deleting_spares_what_another_entry_holds_and_other_projects(store: Store) -> None:
    site = await add(store, SITE, kind="site")
    herons = await put(store, HERONS, "Herons wade.")
    await store.library.join_page(site.source_id, herons)
    await add(store, HERONS)

    assert await store.library.delete_website(site.source_id, project="other") is None
    removed = await store.library.delete_website(site.source_id, project="default")

    assert removed is not None
    assert removed.pages == 0
    assert await store.get_page(herons) is not None


async def test_a_page_without_an_entry_is_deleted_by_its_id(store: Store) -> None:
    page = await put(store, HERONS, "Herons wade.")

    removed = await store.library.delete_website(page, project="default")

    assert removed == RemovedWebsite(source_id=page, url=HERONS, pages=1, chunks=1)
    assert await store.get_page(page) is None
