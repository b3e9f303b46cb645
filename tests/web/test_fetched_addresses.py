"""Which addresses are fetched: none that is private, however it is spelt or reached."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from tests.site import Answer, Response, running_site
from tests.web.fetching import HTML, fetcher_for, redirect

from citewell.core.errors import AddressRefused, FetchError
from citewell.web.asked_for import asked_for, was_asked_for
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


@pytest.mark.parametrize("robots", [True, False])
@pytest.mark.parametrize("way", ["redirect", "refresh", "header", "file", "robots"])
async def test_an_exception_does_not_hold_for_what_a_page_leads_to(way: str, robots: bool) -> None:
    with running_site({"/": "heron"}) as inside:
        answers: dict[str, Answer] = {
            "redirect": redirect(inside.url()),
            "refresh": f'<meta http-equiv=refresh content="0;url={inside.url()}">',
            "header": Response(headers={**HTML, "Refresh": f"0;url={inside.url()}"}),
            "file": redirect(inside.url()),
            "robots": redirect(inside.url("/secret")),
        }
        with running_site({"/robots.txt" if way == "robots" else "/": answers[way]}) as site:
            async with fetcher_for(
                site, allowed_private_hosts=("127.0.0.0/8",), respect_robots=robots
            ) as fetcher:
                get = fetcher.fetch_file if way == "file" else fetcher.fetch
                with pytest.raises(FetchError) as refused:
                    await get(site.url())
                asked_by_pages = list(inside.requests)
                # Nor where a connection to it is open.
                await fetcher.fetch(inside.url())
                before = len(inside.requests)
                with pytest.raises(FetchError):
                    await get(site.url())

    assert asked_by_pages == []
    assert len(inside.requests) == before
    assert way == "robots" or isinstance(refused.value, AddressRefused)


async def test_an_exception_holds_for_redirects_within_the_host_that_was_asked_for() -> None:
    with running_site({"/": redirect("/herons"), "/herons": "heron"}) as site:
        async with fetcher_for(site) as fetcher:
            assert (await fetcher.fetch(site.url())).text == "heron"


@pytest.mark.parametrize(
    ("host", "port", "expected"),
    [
        ("docs.intra", 443, True),
        ("www.docs.intra.", 80, True),
        ("docs.intra", 8080, False),
        ("api.docs.intra", 80, False),
        ("[::1]", 8000, True),
        ("::1", 8001, False),
    ],
)
def test_one_site_is_a_host_and_port_whatever_its_scheme(
    host: str, port: int, expected: bool
) -> None:
    with asked_for(["http://docs.intra/x", "http://[::1]:8000/", "pypi:herons@1/README"]):
        assert was_asked_for(host, port) is expected
    assert was_asked_for(host, port)
