"""Watch stored pages and websites for changes, whichever process makes them."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

import anyio

from citewell.core.errors import CitewellError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.store.protocol import Store

logger = logging.getLogger(__name__)

_POLL_SECONDS = 2.0
_NOTIFY_SECONDS = 10.0

Notify = Callable[[], Awaitable[None]]


class Subject(NamedTuple):
    """What is watched: a page, or all pages of a website."""

    kind: Literal["page", "website"]
    source_id: int


class ContentWatch:
    """Notifies followers of changes; polls the store only while there are followers.

    It polls because other processes write to the store, and SQLite has no notifications.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._followers: dict[Subject, dict[object, Notify]] = {}
        self._hashes: dict[Subject, str | None] = {}
        self._is_followed = anyio.Event()

    async def follow(self, subject: Subject, notify: Notify) -> Callable[[], None]:
        """Await `notify` after every change of the subject until the returned function is called.

        A notification can take a few seconds; others do not wait for it.

        Raises:
            StoreError: the store cannot be read.
        """
        if subject not in self._hashes:
            self._hashes.update(await self._hash_subjects([subject]))
        follower = object()
        self._followers.setdefault(subject, {})[follower] = notify
        self._is_followed.set()

        def leave() -> None:
            followers = self._followers.get(subject, {})
            followers.pop(follower, None)
            if not followers:
                self._followers.pop(subject, None)
                self._hashes.pop(subject, None)

        return leave

    async def run(self) -> None:
        """Look for changes until cancelled."""
        async with anyio.create_task_group() as tasks:
            while True:
                await self._is_followed.wait()
                await anyio.sleep(_POLL_SECONDS)
                for notify in await self._find_changes():
                    tasks.start_soon(_run_bounded, notify)
                if not self._followers:
                    self._is_followed = anyio.Event()

    async def _find_changes(self) -> list[Notify]:
        """Return the notifications to send."""
        try:
            hashes = await self._hash_subjects(list(self._followers))
        except CitewellError as error:
            logger.warning("cannot look for changed pages: %s", error.message)
            return []
        due: list[Notify] = []
        for subject, text_hash in hashes.items():
            if subject in self._followers and self._hashes.get(subject) != text_hash:
                self._hashes[subject] = text_hash
                due += self._followers[subject].values()
        return due

    async def _hash_subjects(self, subjects: Sequence[Subject]) -> dict[Subject, str | None]:
        """Return the hash of each subject; None for one that is gone."""
        pages = [subject.source_id for subject in subjects if subject.kind == "page"]
        websites = [subject.source_id for subject in subjects if subject.kind == "website"]
        of_pages = await self._store.text_hashes(pages) if pages else {}
        of_websites = await self._store.library.text_hashes(websites) if websites else {}
        return {
            **{Subject("page", source_id): of_pages.get(source_id) for source_id in pages},
            **{Subject("website", source_id): of_websites.get(source_id) for source_id in websites},
        }


async def _run_bounded(notify: Notify) -> None:
    with anyio.move_on_after(_NOTIFY_SECONDS):
        try:
            await notify()
        except Exception:
            # A failing follower must not end the watch for the others.
            logger.exception("a follower could not be notified of a change")
