"""Pages that send their reader on at once are followed as redirects are."""

from __future__ import annotations

from typing import Any

import pytest
from tests.site import Answer, Response, Site, running_site

from citewell.core.errors import AddressRefused, RobotsDisallowed, TooManyRedirects
from citewell.web.fetcher import Fetcher

pytestmark = pytest.mark.anyio


def fetcher_for(site: Site, **options: Any) -> Fetcher:
    return Fetcher(allowed_private_hosts=(site.host,), **options)


def sending_on(content: str) -> str:
    return f"<html><head><meta http-equiv='Refresh' content=\"{content}\"></head>Moved.</html>"


@pytest.mark.parametrize(
    "page",
    [
        sending_on("0; url=/b"),
        sending_on("0;URL='/b'"),
        sending_on(" 3.9, /b "),
        sending_on(".5 url = b"),
        "<p>Moved.<META content='0;url=/b' HTTP-EQUIV=refresh>",
        "<base href='/x/'>" + sending_on("0; url=../b"),
        Response(headers={"Refresh": "0; url=/b"}),
    ],
    ids=["plain", "quoted", "comma", "fraction", "in-body", "base", "header"],
)
async def test_a_page_that_sends_on_at_once_is_followed(page: str | Response) -> None:
    with running_site({"/a": page, "/b": "heron"}) as site:
        async with fetcher_for(site) as fetcher:
            fetched = await fetcher.fetch(site.url("/a"))

    assert (fetched.text, fetched.url) == ("heron", site.url("/a"))
    assert fetched.redirects == (site.url("/b"),)


@pytest.mark.parametrize(
    "page",
    [
        sending_on("4; url=/b"),
        sending_on("30; url=/b"),
        sending_on("9" * 5_000 + "; url=/b"),
        sending_on("0"),
        sending_on("0; url=#part"),
        sending_on("0; url=/a"),
        sending_on("soon; url=/b"),
        f"<noscript>{sending_on('0; url=/b')}</noscript>",
        f"<!-- {sending_on('0; url=/b')} -->Moved.",
        f"<pre>{sending_on('0; url=/b').replace('<', '&lt;')}</pre>",
    ],
    ids=["4-s", "30-s", "digits", "reload", "anchor", "itself", "no-number", "noscript",
         "comment", "text"],
)  # fmt: skip
async def test_a_page_that_is_meant_to_be_read_is_left_alone(page: str) -> None:
    with running_site({"/a": page, "/b": "heron"}) as site:
        async with fetcher_for(site) as fetcher:
            fetched = await fetcher.fetch(site.url("/a"))

    assert (fetched.text, fetched.redirects) == (page, ())
    assert site.paths() == ["/a"]


async def test_sending_on_counts_with_the_redirects_and_ends() -> None:
    endless: dict[str, str | Response] = {
        f"/{n}": sending_on(f"0; url=/{n + 1}")
        if n % 2
        else Response(status=302, headers={"Location": f"/{n + 1}"})
        for n in range(20)
    }
    round_about = {"/a": sending_on("0; url=/b"), "/b": sending_on("0; url=/a")}
    with running_site({**round_about, **endless}) as site:
        async with fetcher_for(site, max_redirects=3) as fetcher:
            for path in ("/a", "/0"):
                with pytest.raises(TooManyRedirects):
                    await fetcher.fetch(site.url(path))

    assert site.paths() == ["/a", "/b", "/0", "/1", "/2", "/3"]


@pytest.mark.parametrize(
    "target",
    ["http://169.254.169.254/", "//localhost/", "file:///etc/passwd", "javascript:alert(1)",
     "data:text/html,heron", "https://user:secret@example.com/"],
)  # fmt: skip
async def test_sending_on_to_what_may_not_be_fetched_is_refused(target: str) -> None:
    with running_site({"/": sending_on(f"0; url={target}")}) as site:
        async with fetcher_for(site) as fetcher:
            with pytest.raises(AddressRefused) as refusal:
                await fetcher.fetch(site.url())

    assert "secret" not in refusal.value.message


async def test_sending_on_to_what_robots_forbid_is_not_followed() -> None:
    robots = Response(body=b"User-agent: *\nDisallow: /b")
    pages: dict[str, Answer] = {"/robots.txt": robots, "/a": sending_on("0; url=/b"), "/b": "heron"}
    with running_site(pages) as site:
        async with fetcher_for(site) as fetcher:
            with pytest.raises(RobotsDisallowed):
                await fetcher.fetch(site.url("/a"))

    assert site.paths() == ["/a"]
