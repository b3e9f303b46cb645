"""The passages that callers were shown, cached in memory per caller."""

from __future__ import annotations

import hmac
import logging
import secrets
import threading
import time
from collections import OrderedDict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.releases import NO_RELEASE, Release

if TYPE_CHECKING:
    from collections.abc import Callable

    from citewell.core.records import Caller, PageOrigin, StoredChunk

logger = logging.getLogger(__name__)

URI_SCHEME = "citewell://scratch/"
TTL_SECONDS = 1_800.0
"""How long a passage is kept for its caller."""
MAX_BYTES = 256_000_000
"""Of all passages in memory."""

# The place of a passage outlives its text, so that it can be read again from the store.
# About 600 bytes each.
_MAX_PLACES = 50_000
_MAX_SESSIONS = 10_000
# Memory of an entry besides its text.
_ENTRY_BYTES = 600
_SEAL_DIGITS = 8
_SESSION_DIGITS = 12
_PRESSURE_SECONDS = 60.0
_PRESSURE_EVICTIONS = 50


@frozen
class PassagePlace:
    """The place of a passage: enough to cite it and to read it again from its page."""

    section_id: str
    source_id: int
    page_hash: str
    start: int
    end: int
    title: str
    url: str
    tags: tuple[str, ...]
    heading_path: tuple[str, ...]
    anchor: str | None
    origin: PageOrigin = "fetched"
    release: Release = NO_RELEASE.release

    @classmethod
    def of_chunk(cls, chunk: StoredChunk) -> PassagePlace:
        """Return the place of a chunk."""
        return cls(
            section_id=str(chunk.chunk_id),
            source_id=chunk.source_id,
            page_hash=chunk.page_hash,
            start=chunk.start,
            end=chunk.end,
            title=chunk.title,
            url=chunk.url,
            tags=chunk.tags,
            heading_path=chunk.heading_path,
            anchor=chunk.anchor,
            origin=chunk.origin,
            release=chunk.release,
        )

    @property
    def doc_tag(self) -> str:
        """The page's first tag; empty where it has none."""
        return self.tags[0] if self.tags else ""


@frozen
class Passage:
    """A passage as its caller sees it."""

    passage_id: str
    session_id: str
    place: PassagePlace
    text: str
    created_at: datetime

    @property
    def uri(self) -> str:
        """The address of the passage as a resource."""
        return f"{URI_SCHEME}{self.session_id}/{self.passage_id}"

    @property
    def size_bytes(self) -> int:
        """The size of its text."""
        return len(self.text.encode("utf-8", "surrogatepass"))


@frozen
class ScratchStats:
    """How full scratch is, and what it has dropped so far."""

    passages: int
    bytes: int
    sessions: int
    expired: int
    evicted: int


_Key = tuple[str, str]


@frozen
class _Kept:
    passage: Passage
    cost: int


class ScratchStore:
    """The passages of all callers, bounded by age and size; the least recently used go first.

    The place of a dropped passage is kept, so that it can be restored from the store; and its id
    names its chunk, so that another process with the same `secret` can do so too. No method
    waits, and each takes a lock, so tasks and threads can share it.
    """

    def __init__(
        self,
        *,
        ttl_seconds: float = TTL_SECONDS,
        max_bytes: int = MAX_BYTES,
        secret: bytes | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ttl_seconds = ttl_seconds
        self._max_bytes = max_bytes
        self._clock = clock
        self._secret = secret or secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, str] = OrderedDict()
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        self._expiry: OrderedDict[_Key, float] = OrderedDict()
        self._places: OrderedDict[_Key, PassagePlace] = OrderedDict()
        self._bytes = 0
        self._expired = 0
        self._evicted = 0
        self._pressure = _Pressure()

    def session_of(self, caller: Caller) -> str:
        """Return the opaque name of the caller's part of scratch."""
        with self._lock:
            return self._session(caller)

    def put(self, caller: Caller, place: PassagePlace, text: str) -> Passage:
        """Keep `text` for the caller; the same place of the same page keeps its passage_id."""
        now = self._clock()
        with self._lock:
            session = self._session(caller)
            passage = Passage(
                passage_id=self._passage_id(session, place),
                session_id=session,
                place=place,
                text=text,
                created_at=datetime.now(UTC),
            )
            self._keep(passage, now)
            evicted = self._make_room(now)
        self._pressure.note(evicted, now)
        return passage

    def get(self, caller: Caller, passage_id: str) -> Passage | None:
        """Return the caller's passage while its text is kept."""
        now = self._clock()
        with self._lock:
            key = (self._session(caller), passage_id)
            self._expire(now)
            kept = self._kept.get(key)
            if kept is None:
                return None
            self._kept.move_to_end(key)
            self._places.move_to_end(key)
            return kept.passage

    def place_of(self, caller: Caller, passage_id: str) -> PassagePlace | None:
        """Return where the caller's passage stands, even when its text is gone."""
        with self._lock:
            return self._places.get((self._session(caller), passage_id))

    def id_of(self, caller: Caller, place: PassagePlace) -> str:
        """Return the passage_id that the caller has, or would have, for a place."""
        return self._seal(self.session_of(caller), place)

    def read(self, caller: Caller, session_id: str, passage_id: str) -> Passage | None:
        """Return a passage by the two parts of its URI; None unless it is the caller's own."""
        if session_id != self.session_of(caller):
            return None
        return self.get(caller, passage_id)

    def stats(self) -> ScratchStats:
        """Return the counters."""
        with self._lock:
            return ScratchStats(
                passages=len(self._kept),
                bytes=self._bytes,
                sessions=len(self._sessions),
                expired=self._expired,
                evicted=self._evicted,
            )

    def _session(self, caller: Caller) -> str:
        owner = _owner(caller)
        session = self._sessions.get(owner)
        if session is None:
            session = self._sessions[owner] = self._digits(owner, _SESSION_DIGITS)
            if len(self._sessions) > _MAX_SESSIONS:
                self._sessions.popitem(last=False)
        self._sessions.move_to_end(owner)
        return session

    def _passage_id(self, session: str, place: PassagePlace) -> str:
        known = self._seal(session, place)
        key = (session, known)
        self._places[key] = place
        self._places.move_to_end(key)
        if len(self._places) > _MAX_PLACES:
            self._drop(self._places.popitem(last=False)[0])
        return known

    def _seal(self, session: str, place: PassagePlace) -> str:
        where = f"{session} {place.section_id} {place.page_hash} {place.start} {place.end}"
        return self._digits(where, _SEAL_DIGITS) + place.section_id

    def _digits(self, text: str, count: int) -> str:
        """Return a keyed hash of `text` as digits, which cost a third of the tokens of letters."""
        seal = hmac.digest(self._secret, text.encode("utf-8", "surrogatepass"), "sha256")
        return f"{int.from_bytes(seal) % 10**count:0{count}d}"

    def _keep(self, passage: Passage, now: float) -> None:
        key = (passage.session_id, passage.passage_id)
        self._drop(key)
        cost = passage.size_bytes + _ENTRY_BYTES
        self._kept[key] = _Kept(passage=passage, cost=cost)
        # All have the same lifetime, so insertion order is expiry order.
        self._expiry[key] = now + self._ttl_seconds
        self._bytes += cost

    def _make_room(self, now: float) -> int:
        """Drop passages that are too old or too many; return how many were dropped for space."""
        self._expire(now)
        evicted = 0
        while self._bytes > self._max_bytes:
            self._drop(next(iter(self._kept)))
            evicted += 1
        self._evicted += evicted
        return evicted

    def _expire(self, now: float) -> None:
        while self._expiry:
            key, expires = next(iter(self._expiry.items()))
            if expires > now:
                return
            self._drop(key)
            self._expired += 1

    def _drop(self, key: _Key) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            del self._expiry[key]
            self._bytes -= kept.cost


class _Pressure:
    """Logs a warning when passages are evicted faster than callers can use them."""

    def __init__(self) -> None:
        self._since = float("-inf")
        self._count = 0

    def note(self, evicted: int, now: float) -> None:
        if now - self._since > _PRESSURE_SECONDS:
            self._since, self._count = now, 0
        before, self._count = self._count, self._count + evicted
        if before < _PRESSURE_EVICTIONS <= self._count:
            logger.warning(
                "scratch is full: %d passages were pushed out within %.0f s",
                self._count,
                _PRESSURE_SECONDS,
            )


def section_of_passage(passage_id: str) -> int | None:
    """Return the chunk that a passage_id names, which may be made up."""
    digits = passage_id[_SEAL_DIGITS:]
    well_formed = passage_id.isascii() and passage_id.isdigit() and 0 < len(digits) <= 18
    return int(digits) if well_formed else None


def parse_scratch_uri(uri: str) -> tuple[str, str] | None:
    """Return session_id and passage_id of a scratch URI; None when it is not one."""
    session_id, slash, passage_id = uri.removeprefix(URI_SCHEME).partition("/")
    well_formed = uri.startswith(URI_SCHEME) and bool(slash)
    names = (session_id, passage_id)
    if well_formed and all(name.isascii() and name.isalnum() and len(name) <= 40 for name in names):
        return names
    return None


def _owner(caller: Caller) -> str:
    """Return whose passages these are: the key's and user's, or the session's without a key."""
    if caller.key_hash is None:
        return f"{caller.project} session {caller.session}"
    return f"{caller.project} key {caller.key_hash} {caller.user or ''} {caller.agent or ''}"
