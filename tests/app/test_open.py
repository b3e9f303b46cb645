"""Which parts of an application are open, and since when."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from citewell.app.open import already_open, open_app
from citewell.core.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.app.parts import Assembly, Opener, PartName


async def test_parts_for_later_open_on_request_once_another_part_is_open() -> None:
    opened = anyio.Event()

    @asynccontextmanager
    async def open_background(assembly: Assembly) -> AsyncIterator[None]:
        opened.set()
        yield

    replaced: dict[PartName, Opener] = {
        "secret": already_open(b"secret"),
        "background": open_background,
    }
    async with open_app(Settings(), replaced=replaced, later=("background",)) as app:
        app.open_later()
        await app.open("secret")
        await anyio.wait_all_tasks_blocked()
        assert not opened.is_set()

        app.open_later()
        with anyio.fail_after(30):
            await opened.wait()
