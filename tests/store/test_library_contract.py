"""Every promise of LibraryStore, run once per backend."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.drafts import FETCHED_AT, draft
from tests.store.shelf import EGRETS, HERONS, NOW, SITE, add, got, put

from citewell.core.library import (
    ChangeReport,
    CrawlOptions,
    PageChange,
    SectionChange,
    Website,
    WebsiteDraft,
    WebsiteOrder,
    WebsiteQuery,
)
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio


async def test_a_new_entry_waits_with_an_id_before_anything_is_fetched(store: Store) -> None:
    options = CrawlOptions(scope="host", max_pages=7, include=("/a/*",), language="ja")

    website, created = await store.library.add_website(
        WebsiteDraft(
            url=HERONS,
            kind="site",
            content_type="blog_article",
            tags=("zoo",),
            options=options,
            refresh_seconds=3600,
        ),
        now=NOW,
    )

    assert created
    assert website == await got(store, website.source_id)
    assert website == Website(
        source_id=website.source_id,
        url=HERONS,
        project="default",
        kind="site",
        content_type="blog_article",
        status="pending",
        error_message=None,
        title="",
        language=None,
        pages=0,
        chunks=0,
        text_bytes=0,
        fetched_at=None,
        fields={},
        tags=("zoo",),
        options=options,
        refresh_seconds=3600,
        refresh_due_at=NOW + timedelta(hours=1),
        created_at=NOW,
        updated_at=NOW,
        last_change=None,
    )


async def test_the_page_of_an_entry_takes_the_promised_id_and_others_do_not(store: Store) -> None:
    website = await add(store, HERONS)
    other = await put(store, EGRETS, "Egrets fly.")

    page = await put(store, HERONS, "Herons wade.", "They wait.")
    assert (await got(store, website.source_id)).text_bytes == len("Herons wade.\n\nThey wait.")

    assert page == website.source_id
    assert other != website.source_id
    told = await got(store, page)
    assert (told.title, told.language, told.pages, told.chunks) == ("Birds", "en", 1, 2)
    assert told.fetched_at == FETCHED_AT


async def test_ids_that_were_promised_are_not_promised_again(store: Store) -> None:
    first = await add(store, HERONS)
    await store.library.delete_website(first.source_id, project="default")

    assert (await add(store, EGRETS)).source_id > first.source_id


async def test_a_stored_page_lends_its_id_to_its_entry(store: Store) -> None:
    page = await put(store, HERONS, "Herons wade.")

    website = await add(store, HERONS)

    assert (website.source_id, website.pages, website.chunks) == (page, 1, 1)


async def test_a_url_that_is_there_is_not_added_again(store: Store) -> None:
    first = await add(store, HERONS, content_type="job_posting")
    again, created = await store.library.add_website(
        WebsiteDraft(url=HERONS, content_type="general"), now=NOW
    )
    elsewhere = await add(store, HERONS, project="other")

    assert (created, again) == (False, first)
    assert elsewhere.source_id != first.source_id
    assert await store.library.find_website(HERONS, project="other") == elsewhere


async def test_a_page_can_become_a_site_but_a_site_no_page(store: Store) -> None:
    page = await add(store, SITE)
    await store.library.set_status(page.source_id, "completed", now=NOW)

    site = await add(store, SITE, kind="site", options=CrawlOptions(max_pages=3))
    still = await add(store, SITE, kind="page")

    assert (site.kind, site.status, site.options.max_pages) == ("site", "pending", 3)
    assert still == site


async def test_a_stored_page_without_an_entry_is_seen_as_one(store: Store) -> None:
    page = await put(store, HERONS, "Herons wade.")

    website = await got(store, page)

    assert (website.is_entry, website.status, website.kind) == (False, "completed", "page")
    assert (website.url, website.title, website.chunks) == (HERONS, "Birds", 1)
    assert await store.library.find_website(HERONS, project="default") == website
    assert await store.library.get_website(page, project="other") is None
    assert (await store.library.list_websites(WebsiteQuery())).total == 0


async def test_counts_follow_the_pages_whoever_writes_them(store: Store) -> None:
    page = await put(store, HERONS, "Herons wade.")
    site = await add(store, SITE, kind="site")
    alone = await add(store, HERONS)
    await store.library.join_page(site.source_id, page)

    await put(store, HERONS, "Herons wade.", "They wait.", "They strike.")
    grown = [await got(store, at.source_id) for at in (site, alone)]
    await store.delete_page(page)
    emptied = [await got(store, at.source_id) for at in (site, alone)]

    assert [(at.pages, at.chunks) for at in grown] == [(1, 3), (1, 3)]
    assert [(at.pages, at.chunks) for at in emptied] == [(0, 0), (0, 0)]


async def test_an_entry_can_be_changed(store: Store) -> None:
    website = await add(store, HERONS)

    changed = await store.library.update_website(
        website.source_id, now=NOW, content_type="company_page", tags=["a"]
    )

    now = await got(store, website.source_id)
    assert changed
    assert (now.content_type, now.tags, now.kind) == ("company_page", ("a",), "page")
    assert not await store.library.update_website(99, now=NOW, content_type="general")


async def test_a_finished_site_tells_when_and_in_which_language(store: Store) -> None:
    site = await add(store, SITE, kind="site")
    report = ChangeReport(
        checked_at=NOW,
        changed=1,
        chunks_added=2,
        pages=(
            PageChange(
                url=HERONS,
                source_id=1,
                kind="changed",
                sections=(
                    SectionChange(
                        kind="edited", heading_path=("A", "B"), before="old", after="new"
                    ),
                ),
            ),
        ),
    )
    for url, language in ((HERONS, "en"), (EGRETS, "ja")):
        page = await put(store, url, "Text.", language=language)  # type: ignore[arg-type]  # literals
        await store.library.join_page(site.source_id, page)

    await store.library.finish_website(
        site.source_id, "completed", now=NOW, title="All birds", error_message="2", change=report
    )
    done = await got(store, site.source_id)
    await store.library.finish_website(site.source_id, "failed", now=NOW + timedelta(days=1))
    failed = await got(store, site.source_id)

    assert (done.status, done.title, done.language) == ("completed", "All birds", "mixed")
    assert (done.fetched_at, done.error_message, done.last_change) == (NOW, "2", report)
    assert (failed.fetched_at, failed.error_message, failed.last_change) == (NOW, None, report)
    assert not await store.library.finish_website(99, "completed", now=NOW)


async def test_a_page_of_few_words_does_not_decide_the_language_of_a_site(store: Store) -> None:
    site = await add(store, HERONS, kind="site")
    for url, language, chunks in ((HERONS, "other", 1), (EGRETS, "en", 5)):
        page = await put(store, url, *(["Text."] * chunks), language=language)  # type: ignore[arg-type]  # literals
        await store.library.join_page(site.source_id, page)

    await store.library.finish_website(site.source_id, "completed", now=NOW)

    assert (await got(store, site.source_id)).language == "en"


@pytest.mark.parametrize(
    ("order_by", "descending", "expected"),
    [
        ("fetch_timestamp", True, "bac"),
        ("fetch_timestamp", False, "abc"),
        ("url", False, "abc"),
        ("url", True, "cba"),
        ("status", False, "abc"),
        ("status", True, "cba"),
    ],
)
async def test_entries_are_listed_in_the_order_asked(
    store: Store, order_by: WebsiteOrder, descending: bool, expected: str
) -> None:
    for name in "ab":
        url = f"https://{name}.example/"
        fetched_at = FETCHED_AT + timedelta(days=ord(name))
        await store.put_page(draft(url, "Text.", fetched_at=fetched_at))
        website = await add(store, url)
        await store.library.set_status(website.source_id, "completed", now=NOW)
    await add(store, "https://c.example/")

    query = WebsiteQuery(order_by=order_by, descending=descending)
    listed = await store.library.list_websites(query)

    assert "".join(at.url[8] for at in listed.websites) == expected


async def test_a_list_is_filtered_and_paged_and_knows_its_total(store: Store) -> None:
    for number in range(5):
        await add(store, f"https://{number}.example/", content_type="job_posting")
    blog = await add(store, HERONS, content_type="blog_article")
    await store.library.set_status(blog.source_id, "failed", now=NOW, error_message="no")

    postings = WebsiteQuery(
        content_type="job_posting", order_by="url", descending=False, limit=2, offset=3
    )
    listed = await store.library.list_websites(postings)
    failed = await store.library.list_websites(WebsiteQuery(status="failed"))

    assert [at.url for at in listed.websites] == ["https://3.example/", "https://4.example/"]
    assert listed.total == 5
    assert [(at.url, at.error_message) for at in failed.websites] == [(HERONS, "no")]
    assert (await store.library.list_websites(WebsiteQuery(project="x"))).total == 0


async def test_a_page_that_a_site_holds_can_be_left_out_of_a_list(store: Store) -> None:
    for url in (HERONS, EGRETS):
        await put(store, url)
    held, alone = await add(store, HERONS), await add(store, EGRETS)
    site = await add(store, SITE, kind="site")
    await store.library.join_page(site.source_id, held.source_id)

    grouped = await store.library.list_websites(WebsiteQuery(is_grouped=True))
    every = await store.library.list_websites(WebsiteQuery())

    assert {at.source_id for at in grouped.websites} == {alone.source_id, site.source_id}
    assert (grouped.total, every.total) == (2, 3)


async def test_a_due_refresh_is_told_once_and_comes_again(store: Store) -> None:
    website = await add(store, HERONS, refresh_seconds=60)
    await add(store, EGRETS)

    async def due(seconds: float) -> list[str]:
        at = NOW + timedelta(seconds=seconds)
        return [each.url for each in await store.library.due_refreshes(now=at, limit=9)]

    assert [await due(59), await due(60), await due(61), await due(120)] == [
        [],
        [HERONS],
        [],
        [HERONS],
    ]
    await store.library.schedule_refresh(website.source_id, every_seconds=None, now=NOW)
    assert await due(9_999) == []


async def test_a_refresh_is_due_when_the_clock_was_set_back(store: Store) -> None:
    website = await add(store, HERONS)
    next_year = NOW + timedelta(days=365)
    await store.library.schedule_refresh(website.source_id, every_seconds=60, now=next_year)

    first = await store.library.due_refreshes(now=NOW, limit=9)
    second = await store.library.due_refreshes(now=NOW, limit=9)

    assert [at.url for at in first] == [HERONS]
    assert second == []
