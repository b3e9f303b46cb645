"""What a person sees and changes of the library."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.drafts import draft
from tests.site import Response, running_site
from tests.tools.library import ME, Library, open_library

from citewell.core.errors import (
    FetchError,
    InvalidArgument,
    NotAUrl,
    RobotsDisallowed,
    ScopeViolation,
)
from citewell.core.jobs import JobDraft
from citewell.core.library import CrawlOptions, PageQuery, WebsiteDraft, WebsiteQuery
from citewell.core.records import Caller
from citewell.tools.tool import Call
from citewell.tools.webapp import library as shelves
from citewell.tools.webapp import work
from citewell.tools.webapp.entries import list_entries, list_places
from citewell.tools.webapp.usage import list_usage

pytestmark = pytest.mark.anyio

ANN = Caller(session="s", key_hash="hash-ann", scopes=frozenset({"read", "write"}))
BEN = Caller(session="s", key_hash="hash-ben", scopes=frozenset({"read", "write"}))
ADMIN = Caller(session="s", key_hash="hash-admin")
READER = Caller(session="s", key_hash="hash-reader", scopes=frozenset({"read"}))


def seen_by(caller: Caller, library: Library) -> Call:
    return Call(parts=library.parts, caller=caller)


async def test_pages_are_listed_a_part_at_a_time_and_only_of_the_project() -> None:
    secret = draft("https://secret.example/", "Hidden.", title="Secret", project="other")
    pages = [draft(f"https://p.example/{n}", f"Page {n}.", title=f"P{n}") for n in range(51)]
    async with open_library(*pages, secret) as library:
        call = seen_by(ME, library)
        first = await shelves.list_pages(PageQuery(limit=50), call)
        second = await shelves.list_pages(PageQuery(limit=50, offset=50), call)

    assert (len(first.pages), len(second.pages), first.total) == (50, 1, 51)
    assert "Secret" not in {page.info.title for page in (*first.pages, *second.pages)}


async def test_websites_are_filtered_by_letters_of_their_title_or_address() -> None:
    now = datetime.now(UTC)
    async with open_library() as library:
        for url in ("https://a.example/Herons", "https://b.example/owls"):
            await library.parts.store.library.add_website(WebsiteDraft(url=url), now=now)
        call = seen_by(ME, library)
        found = await list_entries(WebsiteQuery(matching="HERON"), call)
        none = await list_entries(WebsiteQuery(matching="stork"), call)

    assert [view.website.url for view in found.websites] == ["https://a.example/Herons"]
    assert (found.total, none.total) == (1, 0)


async def test_folders_packages_and_pages_of_answers_are_entries() -> None:
    pages = [
        draft("file:///home/ann/fen%20docs/a.md", "One."),
        draft("file:///home/ann/fen%20docs/sub/b.md", "Two."),
        draft("pypi:anyio@4.16.0/anyio", "Three."),
        draft("pypi:anyio@4.16.0/anyio.abc", "Four."),
        draft("https://a.example/herons", "Five.", title="Herons"),
        draft("https://b.example/x/owls", "Six."),
        draft("https://b.example/y/egrets", "Seven."),
        draft("https://site.example/", "Eight."),
    ]
    async with open_library(*pages) as library:
        store = library.parts.store
        site = WebsiteDraft(url="https://site.example/")
        await store.library.add_website(site, now=datetime.now(UTC))
        call = seen_by(ME, library)
        listed = await list_entries(WebsiteQuery(limit=3), call)
        rest = await list_entries(WebsiteQuery(limit=3, offset=3), call)
        found = await list_entries(WebsiteQuery(matching="anyio"), call)
        failed = await list_entries(WebsiteQuery(status="failed"), call)
        below = await shelves.list_pages(PageQuery(), call, under="file:///home/ann/fen%20docs/")

    entries = (*listed.shelves, *rest.shelves)
    assert ([view.website.pages for view in listed.websites], rest.websites) == ([1], ())
    assert [(shelf.kind, shelf.name, shelf.pages) for shelf in entries] == [
        ("folder", "fen docs", 2),
        ("host", "b.example", 2),
        ("host", "Herons", 1),
        ("package", "anyio 4.16.0", 2),
    ]
    assert sum(shelf.pages for shelf in entries) + 1 == len(pages)
    assert (listed.total, rest.total, found.total, failed.total) == (5, 5, 1, 0)
    assert below.total == 2


async def test_pages_below_a_site_are_no_entry_beside_it() -> None:
    pages = [
        draft("https://a.example/docs/", "One.", title="Docs"),
        draft("https://a.example/docs/asked", "Two.", title="Asked"),
        draft("https://a.example/docs/left/out", "Three.", title="Left out"),
        draft("https://a.example/blog/other", "Four.", title="Other"),
        draft("https://b.example/docs/", "Five.", title="Elsewhere"),
    ]
    async with open_library(*pages) as library:
        entries = library.parts.store.library
        now = datetime.now(UTC)
        asked, _ = await entries.add_website(WebsiteDraft(url=pages[1].url), now=now)
        call = seen_by(ME, library)
        before = await list_entries(WebsiteQuery(), call)
        options = CrawlOptions(exclude=("/docs/left/**",))
        site, _ = await entries.add_website(
            WebsiteDraft(url="https://a.example/docs/", kind="site", options=options), now=now
        )
        await entries.join_page(site.source_id, asked.source_id)
        during = await list_entries(WebsiteQuery(), call)
        await entries.set_status(site.source_id, "completed", now=now)
        listed = await list_entries(WebsiteQuery(), call)
        places = await list_places(call)
        every = await entries.list_websites(WebsiteQuery())

    assert [shelf.address for shelf in before.shelves] == [
        "https://a.example/",
        "https://b.example/",
    ]
    assert [view.website.url for view in listed.websites] == ["https://a.example/docs/"]
    assert [shelf.name for shelf in listed.shelves] == ["Elsewhere", "Other"]
    # The crawl may be about to join it.
    assert during.beside == {}
    assert (listed.total, listed.beside) == (3, {site.source_id: 1})
    assert [place.address for place in places] == ["https://a.example/docs/"]
    assert every.total == 2


async def test_an_address_that_leads_nowhere_is_refused_before_it_is_stored() -> None:
    async with open_library() as library:
        call = seen_by(ME, library)
        before = (await list_entries(WebsiteQuery(), call)).total
        for url in ("htp:/bad", "https://no-such-host.invalid/", "http://127.0.0.1/"):
            with pytest.raises((NotAUrl, FetchError)):
                await shelves.add_website(WebsiteDraft(url=url), call)
        after = (await list_entries(WebsiteQuery(), call)).total

    assert before == after


async def test_a_site_says_what_became_of_addresses_and_offers_a_higher_limit() -> None:
    page = "<title>{0}</title><main><h1>{0}</h1><p>All there is to say about the {0}.</p></main>"
    titles = {"a": "stork", "b": "stork", "c": "heron", "d": "egret", "e": "bittern"}
    with running_site({f"/docs/{name}": page.format(titles[name]) for name in titles}) as site:
        pages = "".join(f"<url><loc>{site.url(f'/docs/{name}')}</loc></url>" for name in titles)
        site.pages["/docs/sitemap.xml"] = Response(
            body=f"<urlset>{pages}</urlset>".encode(), headers={"Content-Type": "application/xml"}
        )
        site.pages["/docs/"] = "<title>Docs</title><main><h1>Docs</h1><p>Storks.</p></main>"
        async with open_library(web_allowed_private_hosts=("127.0.0.1",)) as library:
            call = seen_by(ME, library)
            wanted = WebsiteDraft(
                url=site.url("/docs/"), kind="site", options=CrawlOptions(max_pages=2)
            )
            source_id = await shelves.add_website(wanted, call)
            await library.parts.library.process(wanted, wait_seconds=None)
            shown = await shelves.view_website(source_id, call)
            await shelves.raise_limit(source_id, call)
            higher = replace(wanted, options=CrawlOptions(max_pages=100))
            await library.parts.library.process(higher, force=True, wait_seconds=None)
            raised = await shelves.view_website(source_id, call)

    assert (shown.more_known > 0, shown.higher_limit) == (True, 100)
    assert raised.view.website.options.max_pages == 100
    assert (raised.view.website.pages, raised.more_known, raised.dropped) == (
        4,
        0,
        {"duplicate": 1},
    )


async def test_work_is_grouped_by_website_and_a_failure_says_what_to_do() -> None:
    now = datetime.now(UTC)
    async with open_library() as library:
        store = library.parts.store
        website, _ = await store.library.add_website(
            WebsiteDraft(url="https://site.example/"), now=now
        )
        key = str(website.source_id)
        never = datetime(2100, 1, 1, tzinfo=UTC)
        for kind in ("process_website", "refresh_website"):
            await store.jobs.add_job(JobDraft(kind=kind, key=key), now=now, run_at=never)
        await store.jobs.add_job(
            JobDraft(kind="process_website", key="7", project="other"), now=now, run_at=never
        )
        groups = await work.list_jobs(seen_by(ME, library))

    assert [(group.url, len(group.jobs)) for group in groups] == [("https://site.example/", 2)]
    failed = replace(groups[0].last, state="failed", error="no", error_kind="RobotsDisallowed")
    assert work.advice_on(failed) == RobotsDisallowed.suggestion


async def test_a_preview_says_what_would_be_read_and_stores_nothing() -> None:
    pages = {
        "/sitemap.xml": Response(
            body=b"<urlset><url><loc>{0}/docs/a</loc></url><url><loc>{0}/docs/private/b</loc></url>"
            b"</urlset>",
            headers={"Content-Type": "application/xml"},
        ),
        "/robots.txt": Response(
            body=b"User-agent: *\nDisallow: /docs/private/\n",
            headers={"Content-Type": "text/plain"},
        ),
    }
    with running_site(pages) as site:
        named = pages["/sitemap.xml"].body.replace(b"{0}", site.url("").rstrip("/").encode())
        site.pages["/sitemap.xml"] = replace(pages["/sitemap.xml"], body=named)
        async with open_library(web_allowed_private_hosts=("127.0.0.1",)) as library:
            call = seen_by(ME, library)
            preview = await shelves.preview(site.url("/docs/"), CrawlOptions(), call)
            with pytest.raises(RobotsDisallowed):
                await shelves.preview(site.url("/docs/private/"), CrawlOptions(), call)
            listed = await list_entries(WebsiteQuery(), call)

    assert (preview.discovery, preview.named, preview.forbidden) == ("sitemap", 2, 1)
    assert preview.urls == (site.url("/docs/a"),)
    assert listed.websites == ()


async def test_schedule_and_tags_are_kept_and_bounded() -> None:
    now = datetime.now(UTC)
    async with open_library() as library:
        call = seen_by(ME, library)
        website, _ = await library.parts.store.library.add_website(
            WebsiteDraft(url="https://site.example/"), now=now
        )
        await shelves.schedule_website(website.source_id, call, every_seconds=86_400)
        await shelves.tag_website(website.source_id, call, tags=["birds", "birds", "fen"])
        with pytest.raises(InvalidArgument):
            await shelves.tag_website(website.source_id, call, tags=["x" * 61])
        kept = (await shelves.view_website(website.source_id, call)).view.website

    assert (kept.refresh_seconds, kept.tags) == (86_400, ("birds", "fen"))


async def test_a_key_changes_only_what_its_scope_allows(tmp_path: Path) -> None:
    blind = replace(ANN, toolsets=frozenset({"people"}))
    async with open_library() as library:
        with pytest.raises(ScopeViolation):
            await shelves.list_pages(PageQuery(), seen_by(blind, library))
        reader, writer = seen_by(READER, library), seen_by(ANN, library)
        await shelves.list_pages(PageQuery(), reader)
        refused = [
            shelves.add_website(WebsiteDraft(url="https://a.example/"), reader),
            shelves.refresh_website(1, reader),
            work.cancel_job(1, reader),
            work.retry_job(1, reader),
            shelves.tag_website(1, reader, tags=[]),
            shelves.schedule_website(1, reader, every_seconds=None),
            shelves.preview("https://a.example/", CrawlOptions(), reader),
            shelves.delete_website(1, writer),
            shelves.import_library(tmp_path / "x.zip", writer),
        ]
        for attempt in refused:
            with pytest.raises(ScopeViolation):
                await attempt


async def test_what_is_exported_can_be_imported(tmp_path: Path) -> None:
    async with open_library() as library:
        await shelves.export_library(tmp_path / "library.zip", seen_by(ME, library))
        pages = (await shelves.list_pages(PageQuery(), seen_by(ME, library))).total
    async with open_library(draft("https://other.example/", "Other.")) as library:
        imported = await shelves.import_library(tmp_path / "library.zip", seen_by(ME, library))

    assert imported.pages_written == pages


async def test_a_key_sees_its_own_usage_and_an_admin_all() -> None:
    async with open_library() as library:
        for caller in (ANN, BEN):
            library.parts.access.meter.begin("status", caller).end(outcome="ok", text="heron")
        seen = {
            caller.owner: {total.owner for total in await list_usage(seen_by(caller, library))}
            for caller in (ANN, ADMIN)
        }

    assert seen == {"hash-ann": {"hash-ann"}, "hash-admin": {"hash-ann", "hash-ben"}}
