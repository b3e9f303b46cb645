from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import anyio
import pytest
from tests.site import Answer, Request, Response, running_site
from tests.web.fetching import HTML, fetcher_for, redirect

from citewell.core.errors import (
    EmptyPage,
    FetchError,
    FetchTimeout,
    HostUnreachable,
    HttpStatusError,
    NotAUrl,
    PageNeedsLogin,
    PageNotFound,
    RobotsDisallowed,
    TooManyRedirects,
)
from citewell.web.fetcher import Fetcher

pytestmark = pytest.mark.anyio


def in_turn(*answers: Response) -> Callable[[Request], Response]:
    left = list(answers)
    return lambda request: left.pop(0) if len(left) > 1 else left[0]


async def test_a_page_comes_with_its_text_and_where_it_is_from() -> None:
    headers = HTML | {"ETag": '"1"', "Last-Modified": "Sat, 01 Nov 2025 10:00:00 GMT"}
    with running_site({"/a": Response(body="<p>Héron".encode(), headers=headers)}) as site:
        async with fetcher_for(site) as fetcher:
            page = await fetcher.fetch(site.url("/x/../a#part"))

    assert (page.url, page.final_url, page.redirects) == (site.url("/a"), site.url("/a"), ())
    assert (page.status, page.kind, page.text, page.encoding) == (200, "html", "<p>Héron", "utf-8")
    assert (page.etag, page.last_modified) == ('"1"', "Sat, 01 Nov 2025 10:00:00 GMT")
    assert page.fetched_at.tzinfo is not None


async def test_markdown_is_asked_for_first_and_no_credentials_or_cookies_are_sent() -> None:
    with running_site({"/": Response(body=b"# Heron", headers={"Set-Cookie": "a=b"})}) as site:
        async with fetcher_for(site, user_agent="Citewell/9") as fetcher:
            await fetcher.fetch(site.url())
            await fetcher.fetch(site.url())

    sent = {name.lower(): value for name, value in site.requests[-1].headers.items()}
    assert sent["accept"].startswith("text/markdown")
    assert (sent["user-agent"], sent["host"]) == ("Citewell/9", site.host)
    assert not {"cookie", "authorization", "referer"} & set(sent)


@pytest.mark.parametrize("url", ["heron", "ftp://127.0.0.1/", "http://user:secret@127.0.0.1/"])
async def test_what_is_not_a_web_url_is_not_fetched(url: str) -> None:
    async with Fetcher() as fetcher:
        with pytest.raises(NotAUrl):
            await fetcher.fetch(url)


async def test_a_name_without_an_address_is_unreachable() -> None:
    async def nowhere(name: str, port: int) -> Collection[str]:
        raise OSError("name unknown")

    async with Fetcher(resolve=nowhere) as fetcher:
        with pytest.raises(HostUnreachable, match=r"heron\.test"):
            await fetcher.fetch("https://heron.test/")


async def test_a_refused_connection_is_unreachable() -> None:
    with running_site({}) as site:
        pass

    async with fetcher_for(site, max_retries=1) as fetcher:
        with pytest.raises(HostUnreachable, match=rf"cannot connect to {site.host}") as refused:
            await fetcher.fetch(site.url())

    assert refused.value.suggestion.startswith("Check the port.")


async def test_a_server_without_tls_is_unreachable_by_https_and_not_tried_again() -> None:
    with running_site({"/": "heron"}) as site:
        async with fetcher_for(site, max_retries=3) as fetcher:
            with pytest.raises(HostUnreachable, match="does not answer with TLS") as refused:
                await fetcher.fetch(site.url().replace("http:", "https:"))

    assert "begin the address with http://" in refused.value.suggestion


async def test_redirects_are_followed_and_told() -> None:
    pages: dict[str, Answer] = {
        "/a": redirect("b", 301),
        "/b": redirect("/頁#x", 308),
        "/%E9%A0%81": "heron",
    }
    with running_site(pages) as site:
        site.pages["/b"] = redirect("/\u00e9\u00a0\u0081#x", 308)
        async with fetcher_for(site) as fetcher:
            page = await fetcher.fetch(site.url("/a"))

    assert page.text == "heron"
    assert page.url == site.url("/a")
    assert page.redirects == (site.url("/b"), site.url("/%E9%A0%81"))
    assert page.final_url == page.redirects[-1]


async def test_redirects_that_go_round_or_do_not_end_are_an_error() -> None:
    endless = {f"/{n}": redirect(f"/{n + 1}") for n in range(20)}
    with running_site({"/a": redirect("/b"), "/b": redirect("/a"), **endless}) as site:
        async with fetcher_for(site, max_redirects=3) as fetcher:
            for path in ("/a", "/0"):
                with pytest.raises(TooManyRedirects):
                    await fetcher.fetch(site.url(path))

    assert site.paths() == ["/a", "/b", "/0", "/1", "/2", "/3"]


@pytest.mark.parametrize("status", [404, 410])
async def test_a_missing_page_is_not_found(status: int) -> None:
    with running_site({"/a": Response(status=status)}) as site:
        async with fetcher_for(site) as fetcher:
            with pytest.raises(PageNotFound) as failure:
                await fetcher.fetch(site.url("/a"))

    assert failure.value.details == {"status": status}
    assert site.url("/a") in failure.value.message


@pytest.mark.parametrize("status", [300, 304, 400, 403, 451, 501])
async def test_another_error_status_is_told(status: int) -> None:
    with running_site({"/a": Response(status=status)}) as site:
        async with fetcher_for(site) as fetcher:
            with pytest.raises(HttpStatusError) as failure:
                await fetcher.fetch(site.url("/a"))

    assert failure.value.details["status"] == status
    assert len(site.paths()) == 1


async def test_a_page_that_asks_for_a_login_says_so() -> None:
    with running_site({"/a": Response(status=401)}) as site:
        async with fetcher_for(site) as fetcher:
            with pytest.raises(PageNeedsLogin) as failure:
                await fetcher.fetch(site.url("/a"))

    assert failure.value.details == {"status": 401}


async def test_a_route_is_not_sent_and_outlives_a_redirect() -> None:
    with running_site({"/a": redirect("/b"), "/b": "heron"}) as site:
        async with fetcher_for(site) as fetcher:
            page = await fetcher.fetch(site.url("/a#/birds"))

    assert (page.url, page.final_url) == (site.url("/a#/birds"), site.url("/b#/birds"))
    assert site.paths() == ["/a", "/b"]


async def test_a_site_in_passing_trouble_is_asked_again() -> None:
    busy = Response(status=503, headers={"Retry-After": "0"})
    late = Response(status=429, headers={"Retry-After": format_datetime(datetime.now(UTC))})
    with running_site({"/a": in_turn(busy, late, Response(body=b"heron"))}) as site:
        async with fetcher_for(site) as fetcher:
            page = await fetcher.fetch(site.url("/a"))

    assert (page.text, len(site.paths())) == ("heron", 3)


async def test_retries_end_and_the_last_status_is_told() -> None:
    with running_site({"/a": Response(status=502, headers={"Retry-After": "0"})}) as site:
        async with fetcher_for(site, max_retries=2) as fetcher:
            with pytest.raises(HttpStatusError) as failure:
                await fetcher.fetch(site.url("/a"))

    assert failure.value.details["status"] == 502
    assert len(site.paths()) == 3


@pytest.mark.parametrize("as_date", [False, True])
async def test_a_retry_after_beyond_the_time_limit_is_told_at_once(as_date: bool) -> None:
    value = format_datetime(datetime.now(UTC) + timedelta(hours=1)) if as_date else "3600"
    with running_site({"/a": Response(status=429, headers={"Retry-After": value})}) as site:
        async with fetcher_for(site) as fetcher:
            with anyio.fail_after(60), pytest.raises(HttpStatusError) as failure:
                await fetcher.fetch(site.url("/a"))

    retry_after = failure.value.details["retry_after"]
    assert isinstance(retry_after, float)
    assert 3500 < retry_after <= 3600


async def test_a_page_that_has_not_changed_comes_without_its_body() -> None:
    def answer(request: Request) -> Response:
        is_known = request.headers.get("If-None-Match") == '"1"'
        headers = {"ETag": '"1"', **HTML}
        return Response(status=304, headers=headers) if is_known else Response(body=b"heron")

    with running_site({"/a": answer}) as site:
        async with fetcher_for(site) as fetcher:
            page = await fetcher.fetch(site.url("/a"), etag='"1"')
            changed = await fetcher.fetch(site.url("/a"), etag='"0"')

    assert (page.not_modified, page.status, page.body, page.etag) == (True, 304, b"", '"1"')
    assert (changed.not_modified, changed.text) == (False, "heron")


async def test_the_date_of_an_earlier_fetch_is_sent() -> None:
    with running_site({"/a": Response(status=304)}) as site:
        async with fetcher_for(site) as fetcher:
            page = await fetcher.fetch(
                site.url("/a"), last_modified="Sat, 01 Nov 2025 10:00:00 GMT"
            )

    assert page.not_modified
    assert site.requests[-1].headers["If-Modified-Since"] == "Sat, 01 Nov 2025 10:00:00 GMT"


@pytest.mark.parametrize("body", [b"", b" \r\n\t "])
async def test_an_empty_body_is_an_error(body: bytes) -> None:
    with running_site({"/a": Response(body=body, headers=HTML)}) as site:
        async with fetcher_for(site) as fetcher:
            with pytest.raises(EmptyPage):
                await fetcher.fetch(site.url("/a"))


async def test_a_slow_page_is_a_timeout_and_the_fetcher_goes_on_working() -> None:
    with running_site({"/a": Response(wait_seconds=600), "/b": "heron"}) as site:
        async with fetcher_for(site, timeout_seconds=0.3) as fetcher:
            with pytest.raises(FetchTimeout) as failure:
                await fetcher.fetch(site.url("/a"))
            fetcher.timeout_seconds = 10.0
            assert (await fetcher.fetch(site.url("/b"))).text == "heron"

    assert (failure.value.code, failure.value.details) == ("TIMEOUT", {"timeout_seconds": 0.3})


async def test_robots_txt_is_obeyed_unless_told_otherwise() -> None:
    robots = "User-agent: citewell\nDisallow: /private\n"
    with running_site({"/robots.txt": robots, "/private": "heron", "/": "egret"}) as site:
        async with fetcher_for(site, user_agent="Citewell/1") as fetcher:
            with pytest.raises(RobotsDisallowed):
                await fetcher.fetch(site.url("/private"))
            assert (await fetcher.fetch(site.url("/"))).text == "egret"
        async with fetcher_for(site, respect_robots=False) as fetcher:
            assert (await fetcher.fetch(site.url("/private"))).text == "heron"

    assert [request.path for request in site.requests].count("/robots.txt") == 1


@pytest.mark.parametrize(("status", "allowed"), [(403, True), (404, True), (500, False)])
async def test_a_robots_txt_that_cannot_be_had_allows_or_forbids(
    status: int, allowed: bool
) -> None:
    with running_site({"/robots.txt": Response(status=status), "/": "heron"}) as site:
        async with fetcher_for(site) as fetcher:
            if allowed:
                assert (await fetcher.fetch(site.url("/"))).text == "heron"
            else:
                with pytest.raises(RobotsDisallowed, match="server error"):
                    await fetcher.fetch(site.url("/"))


async def test_a_redirect_to_a_page_that_robots_forbids_is_not_followed() -> None:
    pages: dict[str, Answer] = {
        "/robots.txt": "User-agent: *\nDisallow: /b\n", "/a": redirect("/b"), "/b": "heron",
    }  # fmt: skip
    with running_site(pages) as site:
        async with fetcher_for(site) as fetcher:
            with pytest.raises(RobotsDisallowed):
                await fetcher.fetch(site.url("/a"))

    assert site.paths() == ["/a"]


async def test_waiting_for_a_turn_does_not_use_up_the_time_limit() -> None:
    pages: dict[str, Answer] = {
        f"/{n}": Response(body=b"heron", wait_seconds=0.3) for n in range(4)
    }
    fetched: list[str] = []
    with running_site(pages) as site:
        options = {"host_concurrency": 1, "timeout_seconds": 0.8, "max_retries": 0}
        async with fetcher_for(site, **options) as fetcher:

            async def fetch(path: str) -> None:
                fetched.append((await fetcher.fetch(site.url(path))).text)

            async with anyio.create_task_group() as tasks:
                for path in pages:
                    tasks.start_soon(fetch, path)

    assert fetched == ["heron"] * 4


async def test_a_cancelled_fetch_frees_its_turn() -> None:
    with running_site({"/a": Response(wait_seconds=600), "/b": "heron"}) as site:
        async with fetcher_for(site, host_concurrency=1) as fetcher:
            with anyio.move_on_after(0.2):
                await fetcher.fetch(site.url("/a"))
            assert (await fetcher.fetch(site.url("/b"))).text == "heron"


async def test_errors_never_repeat_more_than_a_line_of_the_url() -> None:
    with running_site({}) as site:
        async with fetcher_for(site) as fetcher:
            with pytest.raises(FetchError) as failure:
                await fetcher.fetch(site.url("/" + "a" * 5_000))

    assert len(failure.value.message) < 300
