"""Tool calls that are answered without the SDK: those that only read the library.

Loading the SDK and passing a call through it takes longer than many of these calls take to run.
Unusual calls are left to the SDK: it alone reports progress over HTTP, asks clients, and explains
what is wrong with a request.
"""

from __future__ import annotations

import logging
import secrets
import time
from functools import cache
from typing import TYPE_CHECKING

from citewell import __version__
from citewell.app.call import Call
from citewell.app.client_port import ClientMustAnswer
from citewell.core.errors import CitewellError
from citewell.core.progress import no_progress
from citewell.core.records import Caller
from citewell.server.call_messages import (
    SERVER_NAME,
    SERVER_TITLE,
    Json,
    encode_result,
    find_call,
    shape_result,
)
from citewell.tools.resource_links import describe_resource, find_links
from citewell.tools.results import UNEXPECTED, error_result, outcome_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.app.client_port import ClientPort
    from citewell.app.parts import OpensParts
    from citewell.core.progress import OnProgress
    from citewell.server.call_messages import PlainCall
    from citewell.server.metrics import Metrics
    from citewell.tools.registry import Registry
    from citewell.tools.results import ToolResult

logger = logging.getLogger(__name__)

OLDEST_VERSION = "2025-06-18"
"""The first protocol version whose results have all that ours have."""

# Fields that only results of the sessionless era have.
_MODERN_FIELDS = {
    "resultType": "complete",
    "_meta": {
        "io.modelcontextprotocol/serverInfo": {
            "name": SERVER_NAME,
            "title": SERVER_TITLE,
            "version": __version__,
        }
    },
}


class PlainCalls:
    """Calls tools of a registry and writes their results as the SDK's server would."""

    def __init__(
        self, registry: Registry, app: OpensParts, *, metrics: Metrics | None = None
    ) -> None:
        self._registry = registry
        self._tool_calls = ToolCalls(registry, app, metrics)
        self._structured = app.settings.mcp_structured_output_enabled

    def find(self, message: Json, *, ignores_progress: bool = False) -> PlainCall | None:
        """Return the call that a valid message asks for; None if it is one for the SDK."""
        return find_call(message, self._registry, ignores_progress=ignores_progress)

    async def answer(self, call: PlainCall, caller: Caller, *, modern: bool) -> bytes:
        """Return the JSON-RPC response to a call, for clients of the sessionless era or before."""
        result, links = await self._tool_calls.run(call.name, call.arguments, caller=caller)
        shaped = shape_result(result, links, structured=self._structured)
        return encode_result(call.request_id, {**shaped, **(_MODERN_FIELDS if modern else {})})


class ToolCalls:
    """Calls the tools of a registry; however a call ends, it is counted in `metrics`."""

    def __init__(self, registry: Registry, app: OpensParts, metrics: Metrics | None) -> None:
        self._registry = registry
        self._app = app
        self._metrics = metrics

    async def run(
        self,
        name: str,
        arguments: Mapping[str, object],
        *,
        caller: Caller,
        on_progress: OnProgress = no_progress,
        client: ClientPort | None = None,
    ) -> tuple[ToolResult, list[Json]]:
        """Return the result of a metered call, and links to the caller's passages that it names.

        Raises:
            ClientMustAnswer: the client has to answer first.
        """
        started = time.monotonic()
        result: ToolResult | None = None
        try:
            parts = await self._app.open("access", "scratch")
            result = await self._registry.call(
                name,
                arguments,
                app=self._app,
                caller=caller,
                on_progress=on_progress,
                client=client,
                meter=parts.access.meter,
            )
            resources = find_links(result.structured, Call(parts=parts, caller=caller))
            return result, [
                {"type": "resource_link", **describe_resource(link)} for link in resources
            ]
        except ClientMustAnswer:
            raise
        except Exception as error:
            logger.exception("tool %s cannot be called", name)
            reported = error if isinstance(error, CitewellError) else CitewellError(UNEXPECTED)
            result = error_result(reported)
            return result, []
        finally:
            self._count(name, result, seconds=time.monotonic() - started)

    def _count(self, name: str, result: ToolResult | None, *, seconds: float) -> None:
        tool = self._registry.find(name)
        if self._metrics is not None and tool is not None:
            self._metrics.count_call(tool.underscored_name, outcome_of(result), seconds=seconds)


def local_caller(project: str) -> Caller:
    """Return whoever calls over stdio, or within this process."""
    return Caller(session=_process_session(), project=project)


@cache
def _process_session() -> str:
    return secrets.token_hex(16)
