"""Log messages to clients that asked for them, with `logging/setLevel` or with a request."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, get_args

import mcp_types as types

from citewell.server.calls import is_handshake_era
from citewell.tools.results import outcome_of

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from citewell.server.calls import Calls
    from citewell.tools.results import ToolResult

    RequestContext = ServerRequestContext[Any, Any]

_LEVELS: tuple[types.LoggingLevel, ...] = get_args(types.LoggingLevel)
_MAX_SESSIONS = 10_000


class ClientLog:
    """What each client wants to hear of; one that asked for nothing hears nothing."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._levels: OrderedDict[str, types.LoggingLevel] = OrderedDict()

    async def set_level(
        self, context: RequestContext, params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        """Send the caller's session messages of this level and above from now on."""
        session = self._calls.identify(context).session
        self._levels[session] = params.level
        self._levels.move_to_end(session)
        if len(self._levels) > _MAX_SESSIONS:
            self._levels.popitem(last=False)
        return types.EmptyResult()

    async def report(self, context: RequestContext, tool: str, result: ToolResult | None) -> None:
        """Send how a call failed, if it did."""
        if result is not None and result.is_error:
            await self._send(context, "error", f"{tool}: {outcome_of(result)}")

    async def _send(self, context: RequestContext, level: types.LoggingLevel, text: str) -> None:
        """Send a message about a request, if its client wants messages of this level."""
        wanted = self._wanted(context)
        if wanted not in _LEVELS or _LEVELS.index(level) < _LEVELS.index(wanted):
            return
        notification = types.LoggingMessageNotification(
            params=types.LoggingMessageNotificationParams(level=level, logger="citewell", data=text)
        )
        await context.session.send_notification(notification, related_request_id=context.request_id)

    def _wanted(self, context: RequestContext) -> object:
        if is_handshake_era(context):
            return self._levels.get(self._calls.identify(context).session)
        meta: dict[str, object] = dict(context.meta or {})
        return meta.get(types.LOG_LEVEL_META_KEY)
