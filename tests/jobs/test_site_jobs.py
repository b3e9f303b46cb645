"""A website that is a whole site: found, read, refreshed, and what is left out of it."""

from __future__ import annotations

import gzip
from collections.abc import Mapping

import anyio
import pytest
from tests.jobs.shelves import Shelf, html, open_shelf, page_draft, site_draft
from tests.site import Answer, Request, Response, Site, running_site

from citewell.core.jobs import JobProgress
from citewell.core.library import Website, WebsiteDraft

pytestmark = pytest.mark.anyio


def prose(name: str, *, links: tuple[str, ...] = (), head: str = "") -> str:
    return html(name, f"What there is to say of {name} is said here.", links=links, head=head)


def sitemap(site: Site, *paths: str, lastmod: str = "") -> Response:
    when = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    urls = "".join(f"<url><loc>{site.url(path)}</loc>{when}</url>" for path in paths)
    xml = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
    return Response(body=xml.encode(), headers={"Content-Type": "application/xml"})


async def processed(shelf: Shelf, draft: WebsiteDraft) -> Website:
    """Process a site to its end."""
    with anyio.fail_after(60):
        return (await shelf.library.process(draft, wait_seconds=None)).website


async def crawled(pages: Mapping[str, Answer], **options: object) -> tuple[Website, list[str]]:
    """The site at /docs/ of `pages` after it was processed, and the paths of its pages."""
    with running_site(pages) as site:
        async with open_shelf(site) as shelf:
            website = await processed(shelf, site_draft(site.url("/docs/"), **options))
            return website, await shelf.page_urls(website.source_id)


LINKED = {
    "/docs/": prose("Docs", links=("a", "b", "/elsewhere", "logo.png")),
    "/docs/a": prose("A", links=("a/deep", "/docs/")),
    "/docs/b": prose("B", links=("https://other.example/",)),
    "/docs/a/deep": prose("Deep", links=("deeper",)),
    "/docs/a/deeper": prose("Deeper"),
    "/elsewhere": prose("Elsewhere"),
}


# ── finding the pages ─────────────────────────────────────────────────────────


async def test_links_are_followed_within_the_folder_of_the_site() -> None:
    website, paths = await crawled(LINKED)

    assert paths == ["/docs/", "/docs/a", "/docs/a/deep", "/docs/a/deeper", "/docs/b"]
    assert (website.status, website.title, website.pages) == ("completed", "Docs", 5)
    assert website.chunks == 5
    assert website.error_message is None


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"max_depth": 1}, ["/docs/", "/docs/a", "/docs/b"]),
        ({"scope": "host", "max_depth": 1}, ["/docs/", "/docs/a", "/docs/b", "/elsewhere"]),
        ({"exclude": ("/docs/a/**",)}, ["/docs/", "/docs/a", "/docs/b"]),
        ({"include": ("/docs/a**",)}, ["/docs/", "/docs/a", "/docs/a/deep", "/docs/a/deeper"]),
        ({"max_pages": 2}, ["/docs/", "/docs/a"]),
    ],
    ids=["depth", "host", "exclude", "include", "max_pages"],
)
async def test_a_crawl_keeps_to_its_options(
    options: dict[str, object], expected: list[str]
) -> None:
    _, paths = await crawled(LINKED, **options)

    assert paths == expected


async def test_a_site_that_is_larger_than_its_limit_says_so() -> None:
    website, _ = await crawled(LINKED, max_pages=2)

    assert website.status == "completed"
    assert "limit of 2 pages" in (website.error_message or "")


async def test_the_pages_of_a_sitemap_are_read_and_counted_from_the_start() -> None:
    progress: list[JobProgress] = []
    pages: dict[str, Answer] = {f"/docs/{n}": prose(f"Page {n}") for n in range(10)}
    with running_site(pages) as site:
        site.pages["/robots.txt"] = Response(
            body=f"User-agent: *\nSitemap: {site.url('/maps/index.xml')}\n".encode()
        )
        index = f"<sitemapindex><sitemap><loc>{site.url('/maps/1.xml.gz')}</loc></sitemap>"
        site.pages["/maps/index.xml"] = Response(body=(index + "</sitemapindex>").encode())
        listed = sitemap(site, *pages, "/outside", "/docs/missing")
        site.pages["/maps/1.xml.gz"] = Response(
            body=gzip.compress(listed.body), headers={"Content-Type": "application/gzip"}
        )

        async with open_shelf(site) as shelf:
            begun = await shelf.library.process(site_draft(site.url("/docs/")), wait_seconds=0)
            with anyio.fail_after(60):
                while begun.website.status in ("pending", "processing"):
                    status = await shelf.library.status(begun.website.source_id, project="default")
                    assert status.job is not None
                    progress.append(status.job.progress)
                    if status.job.is_finished:
                        break
                    await anyio.sleep(0.01)
            website = (
                await shelf.library.status(begun.website.source_id, project="default")
            ).website
            paths = await shelf.page_urls(website.source_id)

    assert begun.is_going_on
    assert paths == sorted(pages)
    assert (website.status, website.pages) == ("completed", 10)
    totals = {each.pages_total for each in progress if each.stage == "fetching"}
    assert totals - {None} == {11}
    percents = [each.percent for each in progress if each.percent is not None]
    assert percents == sorted(percents)
    assert progress[-1].bytes_read == sum(len(prose(f"Page {n}")) for n in range(10))


async def test_an_llms_txt_names_the_pages() -> None:
    listing = "# Birds\n\n- [A](/docs/a.md): about a\n- [B](b.md)\n- [Other](https://x.example/)\n"
    text = {"Content-Type": "text/markdown"}
    website, paths = await crawled(
        {
            "/docs/llms.txt": Response(
                body=listing.encode(), headers={"Content-Type": "text/plain"}
            ),
            "/docs/a.md": Response(body=b"# A\n\nSomething of A.\n", headers=text),
            "/docs/b.md": Response(body=b"# B\n\nSomething of B.\n", headers=text),
            "/docs/": prose("Docs", links=("c",)),
            "/docs/c": prose("C"),
        }
    )

    assert paths == ["/docs/a.md", "/docs/b.md"]
    assert website.status == "completed"


async def test_a_site_without_the_sitemap_that_was_asked_for_fails_with_advice() -> None:
    website, paths = await crawled(LINKED, discovery="sitemap")

    assert (website.status, paths) == ("failed", [])
    assert "no sitemap" in (website.error_message or "")


# ── what is left out ──────────────────────────────────────────────────────────


async def test_pages_that_ask_not_to_be_indexed_or_followed_are_obeyed() -> None:
    robots = "<meta name='robots' content='{}'>"
    _, paths = await crawled(
        {
            "/robots.txt": Response(body=b"User-agent: *\nDisallow: /docs/secret\n"),
            "/docs/": prose("Docs", links=("hidden", "dead-end", "secret", "header")),
            "/docs/hidden": prose("Hidden", links=("under",), head=robots.format("noindex")),
            "/docs/under": prose("Under"),
            "/docs/dead-end": prose("End", links=("beyond",), head=robots.format("nofollow")),
            "/docs/beyond": prose("Beyond"),
            "/docs/secret": prose("Secret"),
            "/docs/header": Response(
                body=prose("Header").encode(),
                headers={"Content-Type": "text/html", "X-Robots-Tag": "noindex"},
            ),
        }
    )

    assert paths == ["/docs/", "/docs/dead-end", "/docs/under"]


async def test_one_page_under_several_addresses_is_stored_once() -> None:
    canonical = "<link rel='canonical' href='/docs/real'>"
    same = prose("Twin")
    with running_site({}) as site:
        site.pages |= {
            "/docs/": prose("Docs", links=("real?from=menu", "twin-1", "twin-2", "old")),
            "/docs/real": prose("Real", head=canonical),
            "/docs/twin-1": same,
            "/docs/twin-2": same,
            "/docs/old": Response(status=301, headers={"Location": "/docs/real"}),
        }
        async with open_shelf(site) as shelf:
            website = await processed(shelf, site_draft(site.url("/docs/")))
            paths = await shelf.page_urls(website.source_id)

    assert len(paths) == 3
    assert paths[0] == "/docs/"
    assert paths[1] in ("/docs/old", "/docs/real")
    assert paths[2] in ("/docs/twin-1", "/docs/twin-2")
    assert website.status == "completed"


async def test_a_canonical_address_that_cannot_be_read_is_not_believed() -> None:
    broken = "<link rel='canonical' href='/docs/nowhere'>"
    _, paths = await crawled(
        {
            "/docs/": prose("Docs", links=("a",)),
            "/docs/a": prose("A", head=broken),
        }
    )

    assert paths == ["/docs/", "/docs/a"]


async def test_a_site_whose_pages_all_name_others_is_read_though_one_page_fails() -> None:
    def named(title: str, *links: str) -> str:
        return prose(title, links=links, head=f"<link rel='canonical' href='/docs/no-{title}'>")

    _, paths = await crawled(
        {
            "/docs/": named("Docs", "a", "b", "broken"),
            "/docs/a": named("A"),
            "/docs/b": named("B"),
            "/docs/broken": Response(status=500),
        }
    )

    assert paths == ["/docs/", "/docs/a", "/docs/b"]


async def test_only_pages_of_the_language_asked_for_are_kept() -> None:
    japanese = html("鷺", "鷺は浅い水の中を歩き、魚をじっと待つ鳥です。日本でもよく見られます。")
    _, paths = await crawled(
        {
            "/docs/": prose("Docs", links=("ja", "en")),
            "/docs/ja": japanese,
            "/docs/en": prose("En"),
        },
        language="ja",
    )

    assert paths == ["/docs/ja"]


# ── what goes wrong ───────────────────────────────────────────────────────────


async def test_one_page_that_fails_does_not_stop_the_site() -> None:
    website, paths = await crawled(
        {
            "/docs/": prose("Docs", links=("a", "broken")),
            "/docs/a": prose("A"),
            "/docs/broken": Response(status=403, body=b"no"),
        }
    )

    assert paths == ["/docs/", "/docs/a"]
    assert website.status == "completed"
    assert "1 of 3 pages could not be read" in (website.error_message or "")


async def crawled_while_down(down: range) -> tuple[Website, list[str], list[str]]:
    """Crawl eleven pages of a site that fails for the requests whose numbers are in `down`.

    Returns the website, the paths of its pages and those that were requested.
    """
    paths = [f"/docs/{n}" for n in range(11)]
    requested: list[str] = []

    def answer(request: Request) -> Response:
        requested.append(request.path)
        if len(requested) in down:
            return Response(status=503, body=b"down")
        body = prose(f"Page {request.path}").encode()
        return Response(body=body, headers={"Content-Type": "text/html"})

    with running_site(dict.fromkeys(paths, answer)) as site:
        site.pages["/sitemap.xml"] = sitemap(site, *paths)
        async with open_shelf(site) as shelf:
            website = await processed(shelf, site_draft(site.url("/docs/")))
            return website, await shelf.page_urls(website.source_id), requested


async def test_a_site_that_fails_half_way_keeps_what_it_has_and_says_so() -> None:
    website, stored, _ = await crawled_while_down(range(4, 1_000_000))

    assert website.status == "failed"
    assert website.pages == len(stored) == 3
    assert "kept so far: 3 pages" in (website.error_message or "")


async def test_a_site_that_comes_back_is_read_on_where_it_stopped() -> None:
    website, _, requested = await crawled_while_down(range(4, 12))

    assert (website.status, website.pages) == ("completed", 11)
    assert website.error_message is None
    assert not set(requested[:3]) & set(requested[3:])


async def test_a_site_whose_robots_txt_cannot_be_read_is_tried_again() -> None:
    with running_site(LINKED) as site:
        site.pages["/robots.txt"] = Response(status=503, body=b"down")
        async with open_shelf(site) as shelf:
            begun = await shelf.library.process(site_draft(site.url("/docs/")), wait_seconds=0)
            assert begun.job is not None
            with anyio.fail_after(60):
                ended = await shelf.library.wait_for(begun.job.job_id)
            website = (
                await shelf.library.status(begun.website.source_id, project="default")
            ).website

    assert (ended.state, ended.attempts) == ("failed", 5)
    assert (website.status, website.pages) == ("failed", 0)
    assert "robots.txt" in (website.error_message or "")


# ── refreshing ────────────────────────────────────────────────────────────────


async def test_a_refresh_of_a_site_reports_what_came_went_and_changed() -> None:
    with running_site(
        {
            "/docs/": prose("Docs", links=("a", "b", "c")),
            "/docs/a": prose("A"),
            "/docs/b": prose("B"),
            "/docs/c": prose("C"),
        }
    ) as site:
        async with open_shelf(site) as shelf:
            website = await processed(shelf, site_draft(site.url("/docs/")))
            site.pages |= {
                "/docs/": prose("Docs", links=("a", "b", "c", "d")),
                "/docs/a": html("A", "Something else is said of A now."),
                "/docs/b": Response(status=404, body=b"gone"),
                "/docs/c": Response(status=403, body=b"no"),
                "/docs/d": prose("D"),
            }
            with anyio.fail_after(60):
                refreshed = await shelf.library.refresh(
                    website.source_id, project="default", wait_seconds=None
                )
            paths = await shelf.page_urls(website.source_id)

    report = refreshed.report
    assert report is not None
    counts = (report.unchanged, report.changed, report.added, report.removed, report.failed)
    assert counts == (1, 1, 1, 1, 1)
    assert paths == ["/docs/", "/docs/a", "/docs/c", "/docs/d"]
    kinds = {change.url.rsplit("/", 1)[1]: change.kind for change in report.pages}
    assert kinds == {"a": "changed", "b": "removed", "c": "failed", "d": "added"}
    assert refreshed.website.last_change == report


async def test_a_sitemap_that_vouches_for_a_page_saves_its_fetch() -> None:
    pages: dict[str, Answer] = {f"/docs/{n}": prose(f"Page {n}") for n in range(3)}
    with running_site(pages) as site:
        site.pages["/sitemap.xml"] = sitemap(site, *pages, lastmod="2020-01-01")
        async with open_shelf(site) as shelf:
            website = await processed(shelf, site_draft(site.url("/docs/")))
            site.requests.clear()
            with anyio.fail_after(60):
                refreshed = await shelf.library.refresh(
                    website.source_id, project="default", wait_seconds=None
                )

    assert refreshed.report is not None
    assert refreshed.report.unchanged == 3
    assert not set(site.paths()) & set(pages)


async def test_a_page_can_be_made_a_site_and_its_id_stays() -> None:
    with running_site(LINKED) as site:
        async with open_shelf(site) as shelf:
            page = await shelf.library.process(page_draft(site.url("/docs/")), wait_seconds=60)
            website = await processed(shelf, site_draft(site.url("/docs/")))
            root = await shelf.store.get_page(website.source_id)

    assert page.website.source_id == website.source_id
    assert (website.kind, website.pages) == ("site", 5)
    assert root is not None
    assert root.info.title == "Docs"
