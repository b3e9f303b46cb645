"""Every promise of CrawlStore, run once per backend."""

from __future__ import annotations

import pytest
from tests.store.shelf import NOW, SITE, add

from citewell.core.library import (
    Crawl,
    CrawlOutcome,
    CrawlUrl,
    PageChange,
)
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio


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


async def test_what_failed_waits_again_for_the_job_that_goes_on_with_the_crawl(
    store: Store,
) -> None:
    site = await crawled_site(store, *(CrawlUrl(url=url) for url in "abc"))
    change = PageChange(url="b", source_id=2, kind="failed", error="too slow")
    outcomes = (
        CrawlOutcome(url="a", state="read"),
        CrawlOutcome(url="b", state="failed", error="too slow", change=change),
        CrawlOutcome(url="c", state="gone"),
    )
    for outcome in outcomes:
        await store.crawls.note_outcome(site, outcome)

    requeued = await store.crawls.retry_failed(site, job_id=2)
    await store.crawls.note_outcome(site, CrawlOutcome(url="b", state="failed", error="again"))
    begun = await store.crawls.retry_failed(site, job_id=2)

    assert (requeued, begun) == (1, 0)
    assert await store.crawls.first_errors(site, limit=5) == [("b", "again")]
    assert await store.crawls.list_changes(site, limit=5) == []
    crawl = await store.crawls.get_crawl(site)
    assert crawl == Crawl(job_id=2, discovery="links", started_at=NOW)
