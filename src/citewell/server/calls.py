"""What a handler needs to know of its request: who calls, and the parts it needs."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import HTTPConnection

from citewell.app.call import Call
from citewell.core.errors import CitewellError, InvalidArgument, NotFound
from citewell.core.frozen import frozen
from citewell.server.plain_calls import local_caller
from citewell.tools.results import UNEXPECTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp.server.context import ServerRequestContext
    from starlette.types import Scope

    from citewell.app.parts import OpensParts, PartName
    from citewell.core.records import Caller

    RequestContext = ServerRequestContext[Any, Any]

logger = logging.getLogger(__name__)

CALLER_KEY = "citewell.caller"
"""Key of the admitted caller in the scope of an HTTP request."""

SESSION_KEY = "citewell.session"
"""Key of the session's name in the scope of a transport whose connection is the session."""

# Retired in the sessionless era, where an unknown resource is an invalid parameter.
RESOURCE_NOT_FOUND = -32002

# An error repeats no more of the URI of an unknown resource.
_MOST_URI_CHARACTERS = 200


@frozen
class Calls:
    """Turns requests into calls of one project."""

    app: OpensParts
    project: str
    timeout_seconds: float
    has_sessions: bool = True

    async def open(self, context: RequestContext, *needs: PartName) -> Call:
        """Return the call of a request, with the parts it needs.

        Raises:
            CitewellError: a part cannot be opened.
        """
        return Call(parts=await self.app.open(*needs), caller=self.identify(context))

    @contextmanager
    def answering(
        self,
        context: RequestContext,
        *,
        not_found: int = types.INVALID_PARAMS,
        uri: str | None = None,
    ) -> Iterator[None]:
        """Bound the time of a handler, and turn what goes wrong in it into JSON-RPC errors.

        The error for something that is not found names the `uri` that was asked for.
        """
        try:
            with anyio.fail_after(self.timeout_seconds):
                yield
        except NotFound as error:
            data = None if uri is None else {"uri": uri[:_MOST_URI_CHARACTERS]}
            raise MCPError(code=not_found, message=_sentence(error), data=data) from error
        except InvalidArgument as error:
            raise MCPError(code=types.INVALID_PARAMS, message=error.message) from error
        except CitewellError as error:
            logger.exception("%s failed", context.method)
            raise MCPError(code=types.INTERNAL_ERROR, message=_sentence(error)) from error
        except Exception as error:
            # Its message may contain paths or queries, so it goes to the log only.
            logger.exception("%s failed", context.method)
            raise MCPError(code=types.INTERNAL_ERROR, message=UNEXPECTED) from error

    def identify(self, context: RequestContext) -> Caller:
        """Return who sent a request."""
        request = context.request
        if not isinstance(request, HTTPConnection):
            return local_caller(self.project)
        caller: Caller = request.scope[CALLER_KEY]
        # Only the handshake era has sessions, and its transport has checked that this one exists;
        # in the other era, and without sessions, anyone could name the session of someone else.
        has_session = self.has_sessions and is_handshake_era(context)
        session = request.headers.get("mcp-session-id") if has_session else None
        session = request.scope.get(SESSION_KEY, session)
        return replace(caller, session=session or session_of_address(request.scope))


def session_of_address(scope: Scope) -> str:
    """Return the session of a client that has none, by its address."""
    # Two requests of a client without session and key share nothing but the address, and what
    # one finds the next must be able to read, at another replica too. Neighbours behind one
    # address can search the same pages anyway.
    client = scope.get("client")
    return f"address {client[0] if client else 'unknown'}"


def is_handshake_era(context: RequestContext) -> bool:
    """Return whether the request is of the era that opens with `initialize`."""
    return context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS


def _sentence(error: CitewellError) -> str:
    return f"{error.message} {error.suggestion}"
