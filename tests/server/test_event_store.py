"""Events that a client can resume from: only its own stream's, only while they are kept."""

from __future__ import annotations

import mcp_types as types
import pytest
from mcp.server.streamable_http import EventMessage

from citewell.server.event_store import KeptEvents, SessionEvents

pytestmark = pytest.mark.anyio


def message(words: str) -> types.JSONRPCNotification:
    return types.JSONRPCNotification(
        jsonrpc="2.0", method="notifications/message", params={"data": words}
    )


async def replayed(store: SessionEvents, event_id: str) -> tuple[str | None, list[object]]:
    events: list[EventMessage] = []

    async def keep(event: EventMessage) -> None:
        events.append(event)

    stream = await store.replay_events_after(event_id, keep)
    return stream, [event.message for event in events]


async def test_a_stream_goes_on_after_the_last_event_that_was_received() -> None:
    store = KeptEvents().of_new_session()
    first = await store.store_event("a", None)
    await store.store_event("b", message("of another stream"))
    await store.store_event("a", message("heron"))
    last = await store.store_event("a", message("egret"))

    assert await replayed(store, first) == ("a", [message("heron"), message("egret")])
    assert await replayed(store, last) == ("a", [])


async def test_ids_cannot_be_guessed() -> None:
    store = KeptEvents().of_new_session()
    ids = {await store.store_event("a", None) for _ in range(100)}

    assert len(ids) == 100
    assert {len(event_id) for event_id in ids} == {32}
    assert await replayed(store, "1") == (None, [])


async def test_the_oldest_events_are_dropped_first() -> None:
    store = KeptEvents(max_bytes=5_000).of_new_session()
    first = await store.store_event("a", None)
    for number in range(20):
        await store.store_event("a", message(f"{number} " + "x" * 200))
    last = await store.store_event("a", message("the last"))

    assert await replayed(store, first) == (None, [])
    assert (await replayed(store, last))[0] == "a"


async def test_an_id_and_a_stream_count_only_in_their_session() -> None:
    kept = KeptEvents()
    own, other = kept.of_new_session(), kept.of_new_session()
    # Both sessions number their requests from 1, and a stream has the number of its request.
    first = await own.store_event("1", None)
    foreign = await other.store_event("1", message("of another session"))
    await own.store_event("1", message("heron"))

    assert await replayed(own, first) == ("1", [message("heron")])
    assert await replayed(own, foreign) == (None, [])
    assert await replayed(other, first) == (None, [])
