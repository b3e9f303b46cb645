"""`/auth/…`: signing in to the consoles at the OAuth issuer, and out again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse
from starlette.routing import Route

from citewell.core.errors import AccessRefused, NotConfigured
from citewell.core.issuer import CALLBACK_PATH
from citewell.server.console.door import SESSION_COOKIE
from citewell.server.console.pages import guard_headers

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from citewell.app.call import Call
    from citewell.app.parts import Parts
    from citewell.server.console.door import Door
    from citewell.server.console.screen import Screen

_SIGN_IN_COOKIE = "citewell_sign_in"


def sign_in_routes(door: Door, screen: Screen) -> list[Route]:
    """Return where a person signs in, comes back from the issuer, and signs out."""
    return [
        Route("/auth/login", door.greet(_start, refuse=screen.refuse), methods=["GET"]),
        Route(CALLBACK_PATH, door.greet(_finish, refuse=screen.refuse), methods=["GET"]),
        Route("/auth/logout", door.guard(_sign_out, refuse=screen.refuse), methods=["POST"]),
    ]


async def _start(request: Request, parts: Parts) -> Response:
    if (sign_in := parts.access.sign_in) is None:
        raise _not_configured()
    started = await sign_in.start(request.query_params.get("return_to", "/"))
    response = _redirect(started.address)
    _set_cookie(
        response, _SIGN_IN_COOKIE, started.cookie, path=CALLBACK_PATH, secure=sign_in.is_secure
    )
    return response


async def _finish(request: Request, parts: Parts) -> Response:
    if (sign_in := parts.access.sign_in) is None:
        raise _not_configured()
    answer = request.query_params
    if "code" not in answer:
        reason = answer.get("error_description") or answer.get("error") or "no code was sent"
        raise AccessRefused(f"Sign-in failed: {reason[:200]}")
    signed_in = await sign_in.finish(
        request.cookies.get(_SIGN_IN_COOKIE),
        code=answer["code"],
        state=answer.get("state", ""),
        issuer=answer.get("iss"),
    )
    response = _redirect(signed_in.return_to)
    _set_cookie(response, SESSION_COOKIE, signed_in.cookie, path="/", secure=sign_in.is_secure)
    response.delete_cookie(_SIGN_IN_COOKIE, path=CALLBACK_PATH)
    return response


async def _sign_out(request: Request, call: Call) -> Response:
    response = _redirect("/")
    response.delete_cookie(SESSION_COOKIE, path="/")
    return response


def _not_configured() -> NotConfigured:
    return NotConfigured(
        "Nobody can sign in to this server.",
        suggestion="Use a key, or set CITEWELL_OAUTH_ISSUER and CITEWELL_OAUTH_CLIENT_ID.",
    )


def _redirect(address: str) -> Response:
    return RedirectResponse(address, status_code=303, headers=guard_headers())


def _set_cookie(response: Response, name: str, value: str, *, path: str, secure: bool) -> None:
    # Lax, not Strict: the browser comes back from the issuer's page with it.
    response.set_cookie(name, value, path=path, secure=secure, httponly=True, samesite="lax")
