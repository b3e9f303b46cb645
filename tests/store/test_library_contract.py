"""Every promise of LibraryStore and CrawlStore, run once per backend."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.drafts import FETCHED_AT, draft
from tests.store.backends import BACKENDS, empty_store

from citewell.core.ids import content_hash
from citewell.core.jobs import JobDraft
from citewell.core.library import (
    ChangeReport,
    Crawl,
    CrawlOptions,
    CrawlOutcome,
    CrawlUrl,
    Fields,
    PageChange,
    RemovedWebsite,
    SectionChange,
    Website,
    WebsiteDraft,
    WebsiteOrder,
    WebsiteQuery,
)
from citewell.core.records import Language
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 5, 1, tzinfo=UTC)
HERONS, EGRETS = "https://birds.example/herons", "https://birds.example/egrets"
SITE = "https://birds.example/"


@pytest.fixture(params=BACKENDS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with empty_store(request.param, tmp_path) as opened:
        yield opened


async def add(store: Store, url: str, **changes: object) -> Website:
    website, _ = await store.library.add_website(
        WebsiteDraft(url=url, **changes),  # type: ignore[arg-type]  # the tests' own keywords
        now=NOW,
    )
    return website


async def got(store: Store, source_id: int) -> Website:
    website = await store.library.get_website(source_id, project="default")
    assert website is not None
    return website


async def put(store: Store, url: str, *paragraphs: str, language: Language = "en") -> int:
    put = await store.put_page(draft(url, *paragraphs, title="Birds", language=language))
    return put.source_id


# ── entries ───────────────────────────────────────────────────────────────────


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


# ── lists ─────────────────────────────────────────────────────────────────────


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


# ── members ───────────────────────────────────────────────────────────────────


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


# ── deleting ──────────────────────────────────────────────────────────────────


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


# ── schedules ─────────────────────────────────────────────────────────────────


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


# ── crawls ────────────────────────────────────────────────────────────────────


async def crawled_site(store: Store, *urls: CrawlUrl, job_id: int = 1) -> int:
    site = await add(store, SITE, kind="site")
    crawl = Crawl(job_id=job_id, discovery="links", started_at=NOW)
    await store.crawls.start_crawl(site.source_id, crawl, urls)
    return site.source_id


async def waiting(store: Store, site: int) -> list[str]:
    return [at.url for at in await store.crawls.next_urls(site, limit=9)]


async def test_a_crawl_that_goes_on_keeps_its_frontier_and_a_new_one_begins_anew(
    store: Store,
) -> None:
    site = await crawled_site(store, CrawlUrl(url="a", modified_at="2026"), CrawlUrl(url="b"))
    await store.crawls.note_outcome(site, CrawlOutcome(url="a", state="read", source_id=1))

    crawl = Crawl(job_id=1, discovery="sitemap", started_at=NOW)
    again = await store.crawls.start_crawl(site, crawl, [CrawlUrl(url="c")])
    left = await waiting(store, site)
    crawl = Crawl(job_id=2, discovery="sitemap", started_at=NOW)
    anew = await store.crawls.start_crawl(site, crawl, [CrawlUrl(url="c")])

    assert (again, left) == (False, ["b"])
    assert (anew, await waiting(store, site)) == (True, ["c"])
    assert await store.crawls.get_crawl(site) == crawl
    assert not await store.crawls.start_crawl(99, crawl, [])


async def test_shallow_urls_come_first_and_each_is_known_once(store: Store) -> None:
    site = await crawled_site(store, CrawlUrl(url="a"))
    links = (CrawlUrl(url="deep", depth=2), CrawlUrl(url="b", depth=1), CrawlUrl(url="a"))

    await store.crawls.note_outcome(site, CrawlOutcome(url="a", state="read", links=links))

    assert await waiting(store, site) == ["b", "deep"]
    assert await store.crawls.is_known(site, "a")
    assert not await store.crawls.is_known(site, "x")


async def test_what_became_of_the_urls_is_counted_and_told(store: Store) -> None:
    site = await crawled_site(store, *(CrawlUrl(url=url) for url in "abcd"))
    change = PageChange(url="b", source_id=2, kind="changed")
    outcomes = (
        CrawlOutcome(url="b", state="read", change=change, chunks_removed=1, chunks_added=4),
        CrawlOutcome(url="c", state="failed", error="too slow"),
        CrawlOutcome(url="d", state="left_out", chunks_removed=2),
    )
    for outcome in outcomes:
        await store.crawls.note_outcome(site, outcome)

    counts = {"waiting": 1, "read": 1, "failed": 1, "left_out": 1}
    assert await store.crawls.count_urls(site) == counts
    assert await store.crawls.first_errors(site, limit=5) == [("c", "too slow")]
    assert await store.crawls.list_changes(site, limit=5) == [change]
    assert await store.crawls.sum_chunks(site) == (3, 4)


async def test_an_alias_of_what_could_not_be_read_waits_to_be_read_itself(store: Store) -> None:
    site = await crawled_site(store, *(CrawlUrl(url=url) for url in "abcd"))
    for alias, canonical in (("a", "c"), ("b", "d")):
        outcome = CrawlOutcome(url=alias, state="alias", canonical_url=canonical)
        await store.crawls.note_outcome(site, outcome)
    await store.crawls.note_outcome(site, CrawlOutcome(url="c", state="read"))
    await store.crawls.note_outcome(site, CrawlOutcome(url="d", state="gone"))

    assert await store.crawls.retry_aliases(site) == 1

    assert await store.crawls.next_urls(site, limit=9) == [CrawlUrl(url="b", ignore_canonical=True)]
