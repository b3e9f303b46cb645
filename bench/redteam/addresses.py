"""Addresses that lead inside: by their form, by a redirect, by a name that changes its mind.

A site on loopback stands for everything private. Nothing of it may be read, and it may not even be
asked. Public lists of such URLs are tried too where they are at hand.
"""

from __future__ import annotations

import json
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bench.redteam.attempt import Attempt
from tests.site import Response, Site, running_site

from citewell.core.errors import CitewellError
from citewell.web.fetcher import Fetcher

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection

NAME = "addresses"
_LIST = Path("../shared/data/robustness/ssrf/urls.json")
_HOSTS = (
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "0",
    "0.0.0.0",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "0177.0.0.1",
    "127.000.000.001",
    "127.127.127.127",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[fe80::1%25lo]",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "site.localhost",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "127.0.0.1.",
    "public.example",
    "user:secret@127.0.0.1",
    "public.example@127.0.0.1",
    "169.254.169.254",
    "10.0.0.1",
    "192.168.0.1",
    "172.16.0.1",
    "100.64.0.1",
    "198.18.0.1",
    "[fd00::1]",
    "[fe80::1]",
    "255.255.255.255",
    "224.0.0.1",
)


async def attack() -> AsyncIterator[Attempt]:
    """Ask for each address, directly and by redirects."""
    with running_site({"/": "private"}) as inside, running_site({}) as outside:
        port = str(inside.port)
        direct = {f"http://{host}:{port}/" for host in _HOSTS} | set(_listed())
        async with _fetcher(port) as fetcher:
            for url in sorted(direct):
                yield await _try(f"directly {url}", url, fetcher, inside)
        async with _fetcher(port, outside) as fetcher:
            for place, host in enumerate(_HOSTS):
                target = f"http://{host}:{port}/"
                for how, answer in _ways_on(target).items():
                    path = f"/{how}/{place}"
                    outside.pages[path] = answer
                    yield await _try(f"{how} {target}", outside.url(path), fetcher, inside)


def _fetcher(port: str, outside: Site | None = None) -> Fetcher:
    async def resolve(name: str, port: int) -> Collection[str]:
        return ["127.0.0.1"]

    allowed = () if outside is None else (outside.host,)
    ports = ("80", "443", port, *(() if outside is None else (str(outside.port),)))
    return Fetcher(
        allowed_ports=ports,
        allowed_private_hosts=allowed,
        resolve=resolve,
        respect_robots=False,
        timeout_seconds=20,
        max_retries=0,
    )


def _ways_on(target: str) -> dict[str, Response]:
    """Return answers that send the reader on to `target`, which a header may not hold as it is."""
    spelt = target.encode().decode("latin-1")
    page = f'<meta http-equiv=refresh content="0;url={target}"><p>Wait.</p>'.encode()
    html = {"Content-Type": "text/html; charset=utf-8"}
    return {
        "301": Response(status=301, headers={"Location": spelt}),
        "307": Response(status=307, headers={"Location": spelt}),
        "refresh header": Response(body=b"wait", headers={**html, "Refresh": f"0;url={spelt}"}),
        "meta refresh": Response(body=page, headers=html),
    }


async def _try(what: str, url: str, fetcher: Fetcher, inside: Site) -> Attempt:
    asked = len(inside.requests)
    try:
        page = await fetcher.fetch(url)
    except CitewellError as error:
        outcome, held = type(error).__name__, True
    else:
        outcome, held = f"read {page.final_url}", "private" not in page.text
    if len(inside.requests) > asked:
        outcome, held = f"{outcome}; the private site was asked", False
    return Attempt(what=what, held=held, outcome=outcome)


def _listed() -> list[str]:
    """Return the URLs of public lists whose host is a name, or an address that is not public."""
    if not _LIST.exists():
        print(f"{NAME}: the URLs of {_LIST} are left out, there is no such file")
        return []
    urls = [entry["url"] for entry in json.loads(_LIST.read_text("utf-8"))]
    return [url for url in urls if not _is_public_address(url)]


def _is_public_address(url: str) -> bool:
    try:
        return ip_address(urlsplit(url).hostname or "").is_global
    except ValueError:
        return False
