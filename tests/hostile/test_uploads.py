"""Large bodies that strangers announce: who may not send them is refused before they arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from tests.server.shelf import Shelf
from tests.server.test_http_access import bearer, make_keys
from tests.server.tiny import serving

from citewell.access.keys import KeyTerms

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.anyio

IMPORT = "/library/import"
ZIPPED = {"Content-Type": "application/zip"}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[tuple[str, dict[str, str]]]:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    keys = await make_keys(
        shelf.settings, reader=KeyTerms(scope="read"), root=KeyTerms(scope="admin")
    )
    async with serving(shelf, shelf.settings) as base:
        yield base, keys


async def announce(base: str, path: str, headers: dict[str, str]) -> bytes:
    """Send a request that says how much will come, and none of it; return the status line."""
    address = urlsplit(base)
    assert address.hostname is not None
    assert address.port is not None
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: {address.netloc}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    with anyio.fail_after(30):
        async with await anyio.connect_tcp(address.hostname, address.port) as stream:
            await stream.send("\r\n".join([*lines, "", ""]).encode())
            return (await stream.receive()).partition(b"\r\n")[0]


@pytest.mark.parametrize(("who", "status"), [(None, b"401"), ("reader", b"403")])
async def test_an_import_is_refused_before_its_file_is_sent(
    server: tuple[str, dict[str, str]], who: str | None, status: bytes
) -> None:
    base, keys = server
    known = bearer(keys[who]) if who else {}

    answer = await announce(base, IMPORT, {**ZIPPED, **known, "Content-Length": "900000000"})

    assert status in answer


async def test_a_stranger_is_refused_before_a_form_is_sent(
    server: tuple[str, dict[str, str]],
) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded", "Transfer-Encoding": "chunked"}

    # The page that asks for a key.
    assert b"200" in await announce(server[0], "/library/add", form)


async def test_a_body_that_announces_too_much_or_goes_on_is_refused(
    server: tuple[str, dict[str, str]],
) -> None:
    base, keys = server
    form = {"Content-Type": "application/x-www-form-urlencoded"}

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b"a" * 10_000

    # A form is held in memory, wherever it is sent.
    announced = await announce(base, IMPORT, {**form, "Content-Length": "900000000"})
    async with httpx2.AsyncClient(base_url=base, headers=bearer(keys["root"])) as http:
        endless = await http.post("/library/add", content=pieces(), headers=form)

    assert b"413" in announced
    assert endless.status_code == 413
    assert "larger than 200,000 bytes" in endless.text
