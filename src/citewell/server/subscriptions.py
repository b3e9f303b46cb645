"""Subscriptions to pages and websites that change, for clients of both eras."""

from __future__ import annotations

from collections import Counter, OrderedDict
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from citewell.core.errors import NotFound
from citewell.core.fair_turns import share_of
from citewell.server.calls import RESOURCE_NOT_FOUND
from citewell.tools.resources import RESOURCE_NEEDS, find_subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

    from citewell.app.content_watch import Notify
    from citewell.core.records import Caller
    from citewell.server.calls import Calls

    RequestContext = ServerRequestContext[Any, Any]


LISTEN_METHOD = "subscriptions/listen"
MAX_URIS = 100
"""Of one session or one stream."""
_MAX_STREAMS = 1_000
MAX_STREAMS_OF_CALLER = 100
"""Of one caller; see `share_of`."""
_MAX_SESSIONS = 10_000


class Subscriptions:
    """The handlers of subscriptions: of a session, or of a stream that a client listens to."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._streams: Counter[str] = Counter()
        self._sessions: OrderedDict[str, dict[str, Callable[[], None]]] = OrderedDict()

    async def subscribe(
        self, context: RequestContext, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Send the session a notification whenever the resource changes."""
        if not context.session.can_send_request:
            raise MCPError(code=types.INVALID_REQUEST, message="Subscribing needs a session.")
        session, uri = self._calls.identify(context).session, str(params.uri)
        uris = self._sessions.setdefault(session, {})
        self._sessions.move_to_end(session)
        if uri in uris:
            return types.EmptyResult()
        if len(uris) >= MAX_URIS:
            message = f"A session can subscribe to {MAX_URIS} resources; unsubscribe from some."
            raise MCPError(code=types.INVALID_PARAMS, message=message)
        notify = partial(self._send, session, context.session, uri)
        with self._calls.answering(context, not_found=RESOURCE_NOT_FOUND, uri=uri):
            uris[uri] = await self._follow(context, uri, notify)
        if len(self._sessions) > _MAX_SESSIONS:
            self._forget(next(iter(self._sessions)))
        return types.EmptyResult()

    async def unsubscribe(
        self, context: RequestContext, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """Send the session no more notifications about the resource."""
        session = self._calls.identify(context).session
        leave = self._sessions.get(session, {}).pop(str(params.uri), None)
        if leave is not None:
            leave()
        return types.EmptyResult()

    async def listen(
        self, context: RequestContext, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Send what changes of the requested resources until the client closes the stream.

        Resources that the caller may not see are left out, as the acknowledgement shows.
        """
        with self._place(self._calls.identify(context)), ExitStack() as stack:
            bus = InMemorySubscriptionBus()
            honoured = []
            for uri in (params.notifications.resource_subscriptions or ())[:MAX_URIS]:
                notify = partial(bus.publish, ResourceUpdated(uri=uri))
                try:
                    stack.callback(await self._follow(context, uri, notify))
                except NotFound:
                    continue
                honoured.append(uri)
            wanted = params.notifications.model_copy(
                update={"resource_subscriptions": honoured or None}
            )
            listening = params.model_copy(update={"notifications": wanted})
            return await ListenHandler(bus)(context, listening)

    @contextmanager
    def _place(self, caller: Caller) -> Iterator[None]:
        """Count a stream while it is open; no caller can take the places of all others."""
        who = share_of(caller)
        if self._streams[who] >= MAX_STREAMS_OF_CALLER:
            message = f"A caller can listen to {MAX_STREAMS_OF_CALLER} streams; close some."
            raise MCPError(code=types.INVALID_REQUEST, message=message)
        if self._streams.total() >= _MAX_STREAMS:
            raise MCPError(code=types.INTERNAL_ERROR, message="Too many clients are listening.")
        self._streams[who] += 1
        try:
            yield
        finally:
            self._streams[who] -= 1
            if not self._streams[who]:
                del self._streams[who]

    async def _follow(
        self, context: RequestContext, uri: str, notify: Notify
    ) -> Callable[[], None]:
        call = await self._calls.open(context, *RESOURCE_NEEDS, "watch")
        subject = await find_subject(uri, call)
        return await call.parts.watch.follow(subject, notify)

    async def _send(self, session: str, client: ServerSession, uri: str) -> None:
        try:
            await client.send_resource_updated(uri)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._forget(session)

    def _forget(self, session: str) -> None:
        for leave in self._sessions.pop(session, {}).values():
            leave()
