"""A site that is crawled a second time: unmodified pages, other options, after it was stopped."""

from __future__ import annotations

import anyio
import pytest
from anyio import to_thread
from tests.jobs.shelves import QUICK, html, open_shelf, site_draft
from tests.site import Answer, Request, Response, running_site, wait_until

from citewell.core.records import SearchFilter

pytestmark = pytest.mark.anyio


def unless_modified(page: str) -> Answer:
    """A page that answers a conditional request with 304."""

    def answer(request: Request) -> Response:
        headers = {"Content-Type": "text/html", "ETag": '"1"'}
        if request.headers.get("If-None-Match") == '"1"':
            return Response(status=304, headers=headers)
        return Response(body=page.encode(), headers=headers)

    return answer


def site_with_nofollow() -> dict[str, Answer]:
    start = html("Docs", "See <a href='a'>A</a> or <a rel='nofollow' href='source'>source</a>.")
    return {
        "/docs/": unless_modified(start),
        "/docs/a": unless_modified(html("A", "What there is to say of A is said here.")),
        "/docs/source": html("Source", "What there is to say of the source is said here."),
    }


async def test_links_of_an_unmodified_page_that_say_nofollow_are_not_followed() -> None:
    with running_site(site_with_nofollow()) as site:
        async with open_shelf(site) as shelf:
            with anyio.fail_after(60):
                draft = site_draft(site.url("/docs/"))
                await shelf.library.process(draft, wait_seconds=None)
                again = await shelf.library.process(draft, force=True, wait_seconds=None)
            paths = await shelf.page_urls(again.website.source_id)

    assert paths == ["/docs/", "/docs/a"]


async def test_nofollow_holds_for_an_unmodified_page_whose_response_is_not_kept() -> None:
    with running_site(site_with_nofollow()) as site:
        async with open_shelf(site) as shelf:
            with anyio.fail_after(60):
                draft = site_draft(site.url("/docs/"))
                first = await shelf.library.process(draft, wait_seconds=None)
                for page in await shelf.store.list_pages(SearchFilter(), limit=9):
                    await shelf.store.responses.drop_response(page.source_id)
                await shelf.library.process(draft, force=True, wait_seconds=None)
            paths = await shelf.page_urls(first.website.source_id)

    assert paths == ["/docs/", "/docs/a"]


async def test_a_stored_site_is_read_again_when_its_options_change() -> None:
    pages: dict[str, Answer] = {
        "/docs/": html("Docs", "What there is to say is said below.", links=("a", "b")),
        "/docs/a": html("A", "What there is to say of A is said here."),
        "/docs/b": html("B", "What there is to say of B is said here."),
    }
    with running_site(pages) as site:
        async with open_shelf(site) as shelf:
            url = site.url("/docs/")
            with anyio.fail_after(60):
                first = await shelf.library.process(
                    site_draft(url, include=("/docs/a",)), wait_seconds=None
                )
                before = await shelf.page_urls(first.website.source_id)
                await shelf.library.process(
                    site_draft(url, include=("/docs/b",)), wait_seconds=None
                )
                after = await shelf.page_urls(first.website.source_id)
                third = await shelf.library.process(site_draft(url), wait_seconds=None)

    assert before == ["/docs/", "/docs/a"]
    assert after == ["/docs/", "/docs/b"]
    assert third.is_cached


async def test_a_site_begins_with_its_own_page_and_goes_on_beyond_a_lower_limit() -> None:
    paths = ("/docs/a", "/docs/b", "/docs/left/c", "/docs/index.html")
    pages: dict[str, Answer] = {
        path: html(path[6:], f"What there is to say of {path[6:]} is said here.") for path in paths
    }
    with running_site(pages) as site:
        listed = "".join(f"<url><loc>{site.url(path)}</loc></url>" for path in paths)
        site.pages["/sitemap.xml"] = Response(body=f"<urlset>{listed}</urlset>".encode())
        async with open_shelf(site) as shelf:
            draft = site_draft(site.url("/docs/"), exclude=("/docs/left/**",), max_pages=1)
            with anyio.fail_after(60):
                first = await shelf.library.process(draft, wait_seconds=None)
                before = await shelf.page_urls(first.website.source_id)
                again = await shelf.library.process(site_draft(draft.url), wait_seconds=None)
                after = await shelf.page_urls(first.website.source_id)
                third = await shelf.library.process(site_draft(draft.url), wait_seconds=None)

    assert (first.website.title, before) == ("index.html", ["/docs/index.html"])
    assert (again.is_cached, after) == (False, ["/docs/a", "/docs/b", "/docs/index.html"])
    assert third.is_cached


async def test_a_second_crawl_goes_no_deeper_than_the_site_was_asked_for() -> None:
    pages: dict[str, Answer] = {
        "/docs/": html("Docs", "What there is to say is said below.", links=("a",)),
        "/docs/a": html("A", "What there is to say of A is said here.", links=("b",)),
        "/docs/b": html("B", "What there is to say of B is said here.", links=("c",)),
        "/docs/c": html("C", "What there is to say of C is said here."),
    }
    with running_site(pages) as site:
        async with open_shelf(site) as shelf:
            url = site.url("/docs/")
            with anyio.fail_after(60):
                first = await shelf.library.process(site_draft(url, max_depth=1), wait_seconds=None)
                shallow = await shelf.page_urls(first.website.source_id)
                await shelf.library.process(site_draft(url, max_depth=2), wait_seconds=None)
                deeper = await shelf.page_urls(first.website.source_id)
                await shelf.library.process(
                    site_draft(url, max_depth=2), force=True, wait_seconds=None
                )
                again = await shelf.page_urls(first.website.source_id)

    assert shallow == ["/docs/", "/docs/a"]
    assert deeper == again == ["/docs/", "/docs/a", "/docs/b"]


async def test_pages_that_a_site_excludes_now_leave_it_without_being_requested() -> None:
    requested: list[str] = []

    def counted(page: str) -> Answer:
        def answer(request: Request) -> Response:
            requested.append(request.path)
            return Response(body=page.encode(), headers={"Content-Type": "text/html"})

        return answer

    pages: dict[str, Answer] = {
        "/docs/": html("Docs", "What there is to say is said below.", links=("a", "b")),
        "/docs/a": html("A", "What there is to say of A is said here."),
        "/docs/b": counted(html("B", "What there is to say of B is said here.")),
    }
    with running_site(pages) as site:
        async with open_shelf(site) as shelf:
            url = site.url("/docs/")
            with anyio.fail_after(60):
                first = await shelf.library.process(site_draft(url), wait_seconds=None)
                before = await shelf.page_urls(first.website.source_id)
                await shelf.library.process(
                    site_draft(url, exclude=("/docs/b",)), force=True, wait_seconds=None
                )
                after = await shelf.page_urls(first.website.source_id)

    assert before == ["/docs/", "/docs/a", "/docs/b"]
    assert after == ["/docs/", "/docs/a"]
    assert requested == ["/docs/b"]


async def test_a_cancelled_site_stops_and_keeps_what_was_read() -> None:
    slow = Response(
        body=html("Slow", "It comes slowly.").encode(),
        headers={"Content-Type": "text/html"},
        wait_seconds=5.0,
    )
    start = html("Docs", "See <a href='slow'>slow</a>.")
    with running_site({"/docs/": start, "/docs/slow": slow}) as site:
        async with open_shelf(site, pace=QUICK) as shelf:
            begun = await shelf.library.process(site_draft(site.url("/docs/")), wait_seconds=0)
            assert begun.job is not None
            await to_thread.run_sync(wait_until, lambda: "/docs/slow" in site.paths())
            with anyio.fail_after(60):
                job = await shelf.library.cancel_job(begun.job.job_id, project="default")
            status = await shelf.library.status(begun.website.source_id, project="default")

            stopped = status.website
            # Another job finishes the site; then the first one is tried again, and stopped again.
            site.pages["/docs/slow"] = html("Slow", "It comes at once now.")
            with anyio.fail_after(60):
                await shelf.library.process(site_draft(site.url("/docs/")), wait_seconds=None)
            site.pages["/docs/slow"] = slow
            site.requests.clear()
            await shelf.library.retry_job(job.job_id, project="default")
            await to_thread.run_sync(wait_until, lambda: "/docs/slow" in site.paths())
            with anyio.fail_after(60):
                await shelf.library.cancel_job(job.job_id, project="default")
            again = await shelf.library.status(begun.website.source_id, project="default")

    assert job.state == "cancelled"
    assert (stopped.status, stopped.pages) == ("stopped", 1)
    assert stopped.error_message is None
    assert (again.website.status, again.website.pages) == ("completed", 2)
