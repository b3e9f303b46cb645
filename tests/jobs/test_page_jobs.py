"""A website that is one page: processed, refreshed, watched and deleted."""

from __future__ import annotations

from functools import partial

import anyio
import pytest
from anyio import to_thread
from tests.jobs.shelves import Clock, html, open_shelf, page_draft
from tests.site import Request, Response, running_site, wait_until

from citewell.core.errors import NotAUrl, NotFound, PageNotFound
from citewell.core.library import SectionChange
from citewell.core.records import SearchFilter
from citewell.core.words import words
from citewell.jobs.runner import Pace

pytestmark = pytest.mark.anyio

HERONS = html("Herons", "Herons wade in shallow water and wait for fish.")


def failing(status: int) -> Response:
    return Response(status=status, body=b"no", headers={"Content-Type": "text/html"})


async def test_a_page_is_processed_while_the_caller_waits() -> None:
    with running_site({"/": HERONS}) as site:
        async with open_shelf(site) as shelf:
            done = await shelf.library.process(page_draft(site.url("/")), wait_seconds=60)
            page = await shelf.store.get_page(done.website.source_id)

    website = done.website
    assert (website.status, website.title, website.language) == ("completed", "Herons", "en")
    assert (website.pages, website.chunks, done.is_cached) == (1, 1, False)
    assert page is not None
    assert page.info.embedded_chunks == page.info.chunks
    assert [name for name, _ in shelf.events] == ["WebsiteProcessingComplete"]


async def test_a_processed_page_is_not_fetched_again_unless_forced() -> None:
    with running_site({"/": HERONS}) as site:
        async with open_shelf(site) as shelf:
            first = await shelf.library.process(page_draft(site.url("/")), wait_seconds=60)
            second = await shelf.library.process(page_draft(site.url("/#top")), wait_seconds=60)
            asked_before_force = len(site.paths())
            third = await shelf.library.process(
                page_draft(site.url("/")), force=True, wait_seconds=60
            )

    ids = {each.website.source_id for each in (first, second, third)}
    assert len(ids) == 1
    assert (second.is_cached, third.is_cached) == (True, False)
    assert (asked_before_force, len(site.paths())) == (1, 2)


async def test_what_is_not_a_url_is_refused_at_once() -> None:
    with running_site({}) as site:
        async with open_shelf(site) as shelf:
            with pytest.raises(NotAUrl):
                await shelf.library.process(page_draft("not-a-url"), wait_seconds=60)
            assert await shelf.listed() == []


async def test_a_page_that_is_not_there_fails_with_its_reason() -> None:
    with running_site({}) as site:
        async with open_shelf(site) as shelf:
            failed = await shelf.library.process(page_draft(site.url("/missing")))

    assert isinstance(failed.error, PageNotFound)
    assert failed.website.status == "failed"
    assert "does not exist" in (failed.website.error_message or "")
    assert not failed.is_going_on
    assert [name for name, _ in shelf.events] == ["WebsiteProcessingFailed"]


async def test_a_slow_page_goes_on_in_the_background() -> None:
    slow = Response(body=HERONS.encode(), headers={"Content-Type": "text/html"}, wait_seconds=0.4)
    with running_site({"/": slow}) as site:
        async with open_shelf(site) as shelf:
            begun = await shelf.library.process(page_draft(site.url("/")), wait_seconds=0.05)
            assert begun.job is not None
            with anyio.fail_after(60):
                await shelf.library.wait_for(begun.job.job_id)
            status = await shelf.library.status(begun.website.source_id, project="default")

    assert begun.is_going_on
    assert begun.website.status in ("pending", "processing")
    assert status.website.status == "completed"


async def test_a_site_in_trouble_is_tried_again_until_it_answers() -> None:
    tries: list[int] = []

    def recovering(request: Request) -> Response:
        tries.append(1)
        if len(tries) < 3:
            return failing(503)
        return Response(body=HERONS.encode(), headers={"Content-Type": "text/html"})

    with running_site({"/": recovering}) as site:
        async with open_shelf(site) as shelf:
            first = await shelf.library.process(page_draft(site.url("/")))
            assert first.job is not None
            with anyio.fail_after(60):
                await shelf.library.wait_for(first.job.job_id)
            status = await shelf.library.status(first.website.source_id, project="default")

    assert first.is_going_on
    assert first.error is not None
    assert "trying again" in (first.website.error_message or "")
    assert (status.website.status, status.website.error_message) == ("completed", None)
    assert status.job is not None
    assert status.job.attempts == 3


async def test_a_site_that_stays_in_trouble_fails_in_the_end() -> None:
    with running_site({"/": failing(503)}) as site:
        async with open_shelf(site) as shelf:
            with anyio.fail_after(60):
                failed = await shelf.library.process(page_draft(site.url("/")), wait_seconds=None)

    assert failed.job is not None
    assert (failed.job.state, failed.job.attempts) == ("failed", 5)
    assert failed.website.status == "failed"


async def test_asking_again_for_a_page_in_trouble_tries_again_at_once() -> None:
    patient = Pace(poll_seconds=0.05, first_retry_seconds=600)
    with running_site({"/": failing(503)}) as site:
        async with open_shelf(site, pace=patient) as shelf:
            first = await shelf.library.process(page_draft(site.url("/")))
            site.pages["/"] = HERONS
            second = await shelf.library.process(page_draft(site.url("/")), wait_seconds=60)

    assert first.is_going_on
    assert second.website.status == "completed"
    assert second.error is None


# ── refreshing ────────────────────────────────────────────────────────────────


async def test_a_refresh_reports_the_sections_that_changed_and_embeds_only_those() -> None:
    before = "<h1>Birds</h1><p>All about them.</p><h2>Herons</h2><p>They wade.</p><h2>Owls</h2><p>They hunt.</p>"
    after = "<h1>Birds</h1><p>All about them.</p><h2>Herons</h2><p>They stand still.</p><h2>Egrets</h2><p>They fly.</p>"
    with running_site({"/": before}) as site:
        async with open_shelf(site) as shelf:
            website = (
                await shelf.library.process(page_draft(site.url("/")), wait_seconds=60)
            ).website
            site.pages["/"] = after
            refreshed = await shelf.library.refresh(
                website.source_id, project="default", wait_seconds=60
            )
            unchanged = await shelf.library.refresh(
                website.source_id, project="default", wait_seconds=60
            )

    report = refreshed.report
    assert report is not None
    assert (report.changed, report.unchanged, report.removed) == (1, 0, 0)
    assert (report.chunks_removed, report.chunks_added) == (2, 2)
    assert report.pages[0].sections == (
        SectionChange(kind="removed", heading_path=("Birds", "Owls"), before="## Owls They hunt."),
        SectionChange(
            kind="edited",
            heading_path=("Birds", "Herons"),
            before="They wade.",
            after="They stand still.",
        ),
        SectionChange(kind="added", heading_path=("Birds", "Egrets"), after="## Egrets They fly."),
    )
    assert refreshed.website.last_change == report
    assert unchanged.report is not None
    assert (unchanged.report.unchanged, unchanged.report.pages) == (1, ())


async def test_a_page_that_did_not_change_is_asked_for_by_its_etag() -> None:
    asked: list[str | None] = []

    def tagged(request: Request) -> Response:
        asked.append(request.headers.get("If-None-Match"))
        if asked[-1] == '"1"':
            return Response(status=304, headers={"ETag": '"1"'})
        headers = {"Content-Type": "text/html", "ETag": '"1"'}
        return Response(body=HERONS.encode(), headers=headers)

    with running_site({"/": tagged}) as site:
        async with open_shelf(site) as shelf:
            website = (
                await shelf.library.process(page_draft(site.url("/")), wait_seconds=60)
            ).website
            refreshed = await shelf.library.refresh(
                website.source_id, project="default", wait_seconds=60
            )

    assert asked == [None, '"1"']
    assert refreshed.report is not None
    assert refreshed.report.unchanged == 1
    assert website.fetched_at is not None
    assert refreshed.website.fetched_at is not None
    assert refreshed.website.fetched_at > website.fetched_at


async def test_a_failed_refresh_keeps_the_page_and_says_so() -> None:
    with running_site({"/": HERONS}) as site:
        async with open_shelf(site) as shelf:
            website = (await shelf.library.process(page_draft(site.url("/")))).website
            site.pages["/"] = failing(403)
            refreshed = await shelf.library.refresh(website.source_id, project="default")
            hits = await shelf.store.search_words(words("herons"), where=SearchFilter(), limit=5)

    assert refreshed.report is None
    assert refreshed.error is not None
    assert refreshed.website.status == "completed"
    assert "what was stored is kept" in (refreshed.website.error_message or "")
    assert len(hits) == 1


async def test_a_page_that_is_gone_is_removed_and_its_entry_says_so() -> None:
    with running_site({"/": HERONS}) as site:
        async with open_shelf(site) as shelf:
            website = (await shelf.library.process(page_draft(site.url("/")))).website
            site.pages["/"] = failing(410)
            refreshed = await shelf.library.refresh(website.source_id, project="default")
            page = await shelf.store.get_page(website.source_id)

    assert refreshed.report is not None
    assert (refreshed.report.removed, refreshed.report.chunks_removed) == (1, 1)
    assert (refreshed.website.status, refreshed.website.pages) == ("failed", 0)
    assert "gone" in (refreshed.website.error_message or "")
    assert page is None


async def test_a_page_without_an_entry_is_refreshed_by_its_id() -> None:
    with running_site({"/": HERONS}) as site:
        async with open_shelf(site) as shelf:
            outcome = await shelf.ingester.ingest(site.url("/"), project="default")
            assert outcome.page is not None
            source_id = outcome.page.source_id
            site.pages["/"] = html("Herons", "Herons stand still for hours on end.")
            refreshed = await shelf.library.refresh(source_id, project="default", wait_seconds=60)
            listed = await shelf.listed()

    assert refreshed.report is not None
    assert refreshed.report.changed == 1
    assert listed == []


async def test_a_scheduled_refresh_happens_by_itself() -> None:
    clock = Clock()
    with running_site({"/": HERONS}) as site:
        async with open_shelf(site, clock=clock) as shelf:
            draft = page_draft(site.url("/"), refresh_seconds=3_600.0)
            website = (await shelf.library.process(draft, wait_seconds=60)).website
            clock.move(seconds=3_601)
            await to_thread.run_sync(wait_until, lambda: len(site.paths()) == 2)
            with anyio.fail_after(60):
                job = (await shelf.library.status(website.source_id, project="default")).job
                assert job is not None
                await shelf.library.wait_for(job.job_id)
            refreshed = await shelf.library.status(website.source_id, project="default")

    assert refreshed.job is not None
    assert refreshed.job.kind == "refresh_website"
    assert refreshed.website.last_change is not None


async def test_a_website_is_stale_after_so_many_days() -> None:
    clock = Clock()
    with running_site({"/": HERONS}) as site:
        async with open_shelf(site, clock=clock) as shelf:
            website = (
                await shelf.library.process(page_draft(site.url("/")), wait_seconds=60)
            ).website
            fresh = shelf.library.is_stale(website)
            clock.move(days=31)
            stale = shelf.library.is_stale(website)

    assert (fresh, stale) == (False, True)


# ── deleting and cancelling ───────────────────────────────────────────────────


async def test_deleting_takes_the_page_along_and_unknown_ids_are_told() -> None:
    with running_site({"/": HERONS}) as site:
        async with open_shelf(site) as shelf:
            website = (
                await shelf.library.process(page_draft(site.url("/")), wait_seconds=60)
            ).website
            removed = await shelf.library.delete(website.source_id, project="default")
            page = await shelf.store.get_page(website.source_id)
            with pytest.raises(NotFound):
                await shelf.library.delete(website.source_id, project="default")
            with pytest.raises(NotFound):
                await shelf.library.refresh(99, project="default", wait_seconds=60)
            with pytest.raises(NotFound):
                await shelf.library.status(website.source_id, project="default")

    assert (removed.pages, removed.chunks) == (1, 1)
    assert page is None


async def test_a_page_deleted_while_it_is_fetched_does_not_come_back() -> None:
    slow = Response(body=HERONS.encode(), headers={"Content-Type": "text/html"}, wait_seconds=0.3)
    with running_site({"/": slow}) as site:
        async with open_shelf(site) as shelf:
            begun = await shelf.library.process(page_draft(site.url("/")), wait_seconds=0.1)
            await shelf.library.delete(begun.website.source_id, project="default")
            assert begun.job is not None
            with anyio.fail_after(60):
                ended = await shelf.library.wait_for(begun.job.job_id)
            pages = await shelf.store.list_pages(SearchFilter(), limit=5)

    assert ended.state == "cancelled"
    assert pages == []


async def test_two_hundred_urls_queued_at_once_are_all_processed() -> None:
    pages = {f"/{n}": html(f"Bird {n}", f"Bird number {n} sings.") for n in range(200)}
    with running_site(pages) as site:
        async with open_shelf(site, pace=Pace(poll_seconds=0.05, concurrency=8)) as shelf:
            async with anyio.create_task_group() as tasks:
                for path in pages:
                    draft = page_draft(site.url(path))
                    tasks.start_soon(partial(shelf.library.process, draft, wait_seconds=0))
            with anyio.fail_after(60):
                for job in await shelf.store.jobs.list_jobs(limit=300):
                    await shelf.library.wait_for(job.job_id)
            listed = await shelf.listed()

    assert len(listed) == 200
    assert {website.status for website in listed} == {"completed"}
    assert len(site.paths()) == 200
