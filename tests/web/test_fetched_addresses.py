"""Which addresses are fetched: none that is private, however it is spelt or reached."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from tests.site import Answer, Response, running_site
from tests.web.fetching import fetcher_for, redirect

from citewell.core.errors import (
    AddressRefused,
)
from citewell.web.fetcher import Fetcher

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"],
)
async def test_a_private_address_is_refused_and_never_connected_to(host: str) -> None:
    with running_site({"/": "heron"}) as site:
        async with Fetcher() as fetcher:
            with pytest.raises(AddressRefused) as refusal:
                await fetcher.fetch(f"http://{host}:{site.port}/")

    assert site.requests == []
    assert refusal.value.code == "INVALID_ARGUMENT"
    assert "CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS" in refusal.value.suggestion


async def test_an_exception_for_one_port_does_not_open_another() -> None:
    with running_site({"/": "heron"}) as site, running_site({"/": "egret"}) as other:
        async with fetcher_for(site) as fetcher:
            assert (await fetcher.fetch(site.url())).text == "heron"
            with pytest.raises(AddressRefused):
                await fetcher.fetch(other.url())

    assert other.requests == []


async def test_a_network_may_be_allowed_as_a_whole() -> None:
    with running_site({"/": "heron"}) as site:
        async with fetcher_for(site, allowed_private_hosts=("127.0.0.0/8",)) as fetcher:
            assert (await fetcher.fetch(site.url())).text == "heron"


@pytest.mark.parametrize("robots", [True, False])
@pytest.mark.parametrize(
    "location", ["http://10.0.0.1/", "http://169.254.169.254/", "//localhost/"]
)
async def test_a_redirect_to_a_private_address_is_refused(location: str, robots: bool) -> None:
    with running_site({"/": redirect(location)}) as site:
        async with fetcher_for(site, respect_robots=robots) as fetcher:
            with pytest.raises(AddressRefused):
                await fetcher.fetch(site.url())


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://a/", "http://u:p@a/", "http://["]
)
async def test_a_redirect_to_what_is_no_web_url_is_refused(location: str) -> None:
    with running_site({"/": redirect(location)}) as site:
        async with fetcher_for(site) as fetcher:
            with pytest.raises(AddressRefused):
                await fetcher.fetch(site.url())


async def test_a_robots_txt_may_not_redirect_to_a_private_address() -> None:
    with running_site({"/": "heron"}) as inside:
        pages: dict[str, Answer] = {"/robots.txt": redirect(inside.url("/secret")), "/": "egret"}
        with running_site(pages) as site:
            async with fetcher_for(site) as fetcher:
                with pytest.raises(AddressRefused):
                    await fetcher.fetch(site.url())

    assert inside.requests == []


async def test_a_name_is_resolved_once_and_the_connection_goes_to_that_address() -> None:
    answers = [["127.0.0.1"], ["10.255.255.1"]]
    asked: list[str] = []

    async def rebinding(name: str, port: int) -> Collection[str]:
        asked.append(name)
        return answers[min(len(asked), 2) - 1]

    with running_site({"/": "heron"}) as site:
        allowed = (f"127.0.0.1:{site.port}",)
        options = {"allowed_private_hosts": allowed, "resolve": rebinding}
        async with fetcher_for(site, respect_robots=False, **options) as fetcher:
            page = await fetcher.fetch(f"http://heron.test:{site.port}/")

    assert page.text == "heron"
    assert asked == ["heron.test"]
    assert site.requests[-1].headers["Host"] == f"heron.test:{site.port}"


async def test_a_name_that_turns_private_between_connections_is_refused() -> None:
    answers = iter([["127.0.0.1"], ["127.0.0.2"]])

    async def rebinding(name: str, port: int) -> Collection[str]:
        return next(answers)

    closing = {"Connection": "close"}
    with running_site({"/": Response(body=b"heron", headers=closing)}) as site:
        options = {"resolve": rebinding, "respect_robots": False}
        async with fetcher_for(site, **options) as fetcher:
            await fetcher.fetch(f"http://heron.test:{site.port}/")
            with pytest.raises(AddressRefused):
                await fetcher.fetch(f"http://heron.test:{site.port}/")
