"""The door of the consoles: whose request it is, and whether the person meant to send it."""

from __future__ import annotations

import hmac
import logging
import re
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcp.server.transport_security import TransportSecurityMiddleware
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from citewell.app.call import Call
from citewell.core.bounded_json import TooManyValues, parse_bounded_json
from citewell.core.errors import (
    AccessRefused,
    BudgetExceeded,
    CitewellError,
    InvalidArgument,
    QuestionClosed,
    ScopeViolation,
)
from citewell.core.fair_turns import share_of, working_for
from citewell.server.auth import allowed_names, identify
from citewell.server.console.pages import guard_headers
from citewell.server.jsonrpc import MAX_VALUES
from citewell.tools.people.console import DESK_NEEDS
from citewell.tools.webapp.ask import ASK_NEEDS
from citewell.tools.webapp.handed_out import HANDED_OUT_NEEDS
from citewell.tools.webapp.library import LIBRARY_NEEDS
from citewell.tools.webapp.permissions import permissions_of
from citewell.tools.webapp.reader import READER_NEEDS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.datastructures import FormData, Headers
    from starlette.requests import Request
    from starlette.responses import Response

    from citewell.app.parts import OpensParts, PartName, Parts
    from citewell.core.records import Caller
    from citewell.core.settings import Settings

    Handler = Callable[[Request, Call], Awaitable[Response]]
    Greeting = Callable[[Request, Parts], Awaitable[Response]]
    Endpoint = Callable[[Request], Awaitable[Response]]
    Refuse = Callable[[Request, CitewellError], Response]

logger = logging.getLogger(__name__)

CONSOLE_NEEDS: tuple[PartName, ...] = (
    *DESK_NEEDS,
    *ASK_NEEDS,
    *LIBRARY_NEEDS,
    *READER_NEEDS,
    *HANDED_OUT_NEEDS,
    "access",
    "secret",
)

FORM_TOKEN = "form_token"
SESSION_COOKIE = "citewell_session"

_OWN_MACHINE = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?=[:/?#]|$)", re.IGNORECASE)
# A colon that no port follows; without one, two slashes (`https//a.example`) give it away.
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,30}:(?!\d)|[a-z]{2,10}//", re.IGNORECASE)
_SAFE_METHODS = frozenset({"GET", "HEAD"})
# Types that a page of another site can post without a preflight; it cannot know the form token.
_FORM_TYPES = frozenset({"application/x-www-form-urlencoded", "multipart/form-data", "text/plain"})
# The largest forms send a box for each of 200 pages, beside some ten fields.
_MAX_FIELDS = 400
_STATUS_OF_CODE = {
    "INVALID_ARGUMENT": 400,
    "NOT_FOUND": 404,
    "RATE_LIMITED": 429,
    "OVERLOADED": 503,
    "BUDGET_EXCEEDED": 413,
    "TIMEOUT": 504,
    "BACKEND_UNAVAILABLE": 503,
    "INTERNAL_ERROR": 500,
}


class Door:
    """Lets requests to the consoles in.

    A request with a bearer token is meant: no browser adds one by itself. One without, by a session
    cookie or on a server that requires no token, must not come from the page of another site; a
    plain form also carries the token that only this server's own pages show to this session.
    """

    def __init__(self, app: OpensParts, *, settings: Settings) -> None:
        self._app = app
        self._names = TransportSecurityMiddleware(allowed_names(settings))

    def guard(self, handler: Handler, *, refuse: Refuse) -> Endpoint:
        """Return the endpoint that runs `handler` for those who may; others see `refuse`."""

        async def identify_first(request: Request, parts: Parts) -> Response:
            caller = replace(await _identify_person(request, self._app), session="console")
            request.state.closed = _closed_to(caller)
            await self._check_meant(request)
            with working_for(share_of(caller)):
                return await handler(request, Call(parts=parts, caller=caller))

        return self.greet(identify_first, refuse=refuse)

    def greet(self, handler: Greeting, *, refuse: Refuse) -> Endpoint:
        """Return the endpoint that runs `handler` for anyone who reached a name of this server."""

        async def endpoint(request: Request) -> Response:
            refusal = await self._names.validate_request(request, is_post=False)
            if refusal is not None:
                return refusal
            try:
                return await handler(request, await self._app.open(*CONSOLE_NEEDS))
            except CitewellError as error:
                return refuse(request, error)
            except Exception:
                logger.exception("%s failed", request.url.path)
                return refuse(request, CitewellError("The server met an unexpected error."))

        return endpoint

    async def lets_in(self, request: Request) -> bool:
        """Return whether the key of a request that was let in is still good."""
        try:
            await _identify_person(request, self._app)
        except AccessRefused:
            return False
        except CitewellError:
            # The key cannot be checked now; whoever was admitted before stays.
            logger.warning("a key cannot be checked again", exc_info=True)
        return True

    async def _check_meant(self, request: Request) -> None:
        if request.method in _SAFE_METHODS or "authorization" in request.headers:
            return
        origin = request.headers.get("origin")
        from_here = origin is None or urlsplit(origin).netloc == request.headers.get("host")
        site = request.headers.get("sec-fetch-site", "same-origin")
        if not from_here or site not in ("same-origin", "none"):
            raise ScopeViolation("This request comes from the page of another site.")
        if is_form(request.headers):
            token = str((await read_form(request)).get(FORM_TOKEN, ""))
            if not hmac.compare_digest(_unmasked(token), _own_token(request)):
                raise ScopeViolation("The form is out of date; reload the page and send it again.")


def form_token(request: Request) -> str:
    """Return what forms of the page must carry; empty for who was not let in.

    It looks different each time: from the lengths of compressed pages nobody learns it.
    """
    token = _own_token(request)
    mask = secrets.token_bytes(len(token))
    return (mask + _joined(token, mask)).hex()


def _own_token(request: Request) -> bytes:
    return bytes(getattr(request.state, FORM_TOKEN, b""))


def _unmasked(token: str) -> bytes:
    try:
        data = bytes.fromhex(token)
    except ValueError:
        return b""
    half = len(data) // 2
    return _joined(data[:half], data[half:])


def _joined(data: bytes, mask: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(data, mask, strict=False))


async def _identify_person(request: Request, app: OpensParts) -> Caller:
    """Return whose request it is, by its key or its session, and what its forms must carry.

    Raises:
        AccessRefused: neither is valid, and one is required.
    """
    parts = await app.open("access", "secret")
    session = None
    if parts.access.sign_in is not None and "authorization" not in request.headers:
        session = parts.access.sign_in.recognise(request.cookies.get(SESSION_COOKIE))
    # The same on every replica, and another for each session.
    purpose = f"console form {session.id if session else ''}".encode()
    request.state.form_token = hmac.digest(parts.secret, purpose, "sha256")
    request.state.signed_in_as = session.caller.user if session else None
    return session.caller if session else await identify(request, app)


def status_of(error: CitewellError) -> int:
    """Return the HTTP status that says what went wrong."""
    if isinstance(error, AccessRefused):
        return 401
    if isinstance(error, ScopeViolation):
        return 403
    if isinstance(error, QuestionClosed):
        return 409
    return _STATUS_OF_CODE.get(error.code, 500)


def refuse_json(request: Request, error: CitewellError) -> Response:
    """Return an error in the form of the JSON APIs."""
    status = status_of(error)
    headers = guard_headers()
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="citewell"'
    body = {"error": error.message, "code": error.code, "suggestion": error.suggestion}
    return JSONResponse(body, status_code=status, headers=headers)


async def read_json(request: Request) -> dict[str, object]:
    """Return the JSON object that a request holds.

    Raises:
        InvalidArgument: it holds something else.
    """
    if _content_type(request.headers) != "application/json":
        raise InvalidArgument("the body must be application/json")
    try:
        body = parse_bounded_json(await request.body(), max_values=MAX_VALUES)
    except TooManyValues as error:
        raise BudgetExceeded(
            f"the body has more than {MAX_VALUES:,} values", suggestion="Send less."
        ) from error
    except ValueError as error:
        raise InvalidArgument("the body is not valid JSON") from error
    if not isinstance(body, dict):
        raise InvalidArgument("the body must be a JSON object")
    return body


def _closed_to(caller: Caller) -> str:
    """Return the pages of the menu that the caller's key cannot open."""
    opens = {
        "desk": permissions_of(caller).use_desk,
        "keys": "admin" in caller.scopes,
        # Without keys, there is none to enter.
        "key": caller.key_hash is not None,
    }
    return " ".join(name for name, is_open in opens.items() if not is_open)


async def read_form(request: Request) -> FormData:
    """Return the form that a request holds; an empty one when it holds something else.

    Raises:
        InvalidArgument: the form cannot be read.
    """
    try:
        return await request.form(max_files=0, max_fields=_MAX_FIELDS)
    except HTTPException as error:
        raise InvalidArgument("the form cannot be read") from error


def complete_url(text: str) -> str:
    """Return the URL that a person typed, with a scheme if it has none: this machine has no TLS.

    What has another scheme, or a mistyped one (`htp:/a.example`), stays as it is, to be refused.
    """
    if _SCHEME.match(text):
        return text
    return f"http://{text}" if _OWN_MACHINE.match(text) else f"https://{text}"


def is_form(headers: Headers) -> bool:
    """Return whether a request is one that a form of any page can send."""
    return _content_type(headers) in _FORM_TYPES


def _content_type(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()
