"""What every page of the console shares: who is looking, the menu, and how errors look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from citewell.core.errors import AccessRefused, InvalidArgument, NotFound, ScopeViolation
from citewell.server.console.door import form_token, status_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from citewell.core.errors import CitewellError
    from citewell.server.console.pages import Pages


class Screen:
    """Shows pages to whom the door has let in, and the ways to sign in to others."""

    def __init__(self, pages: Pages, *, can_sign_in: bool) -> None:
        self._pages = pages
        self._can_sign_in = can_sign_in

    def show(
        self,
        request: Request,
        template: str,
        values: Mapping[str, Any],
        *,
        status: int = 200,
        connect_to: str | None = None,
    ) -> Response:
        """Return a page, or its main part for a script of the page."""
        shared = {
            "form_token": form_token(request),
            # The question that a page was reached from.
            "asked": None,
            "locked": False,
            # Unknown before the door has let anyone in: the menu then offers everything.
            "closed": getattr(request.state, "closed", ""),
            "can_sign_in": self._can_sign_in,
            "signed_in_as": getattr(request.state, "signed_in_as", None),
        }
        return self._pages.show(
            request, template, {**shared, **values}, status=status, connect_to=connect_to
        )

    def render(self, template: str, values: Mapping[str, Any]) -> str:
        """Return a part of a page as HTML."""
        return self._pages.render(template, values)

    def refuse(
        self, request: Request, error: CitewellError, *, is_unserved: bool = False
    ) -> Response:
        """Return what a person sees instead of the page: the form for the key, or the error.

        The page itself is no secret, so a browser that opens it gets it with status 200 and sends
        the key from there; a script that sent none, or a wrong one, is told so by the status.
        `is_unserved`: there is no page at the address.
        """
        status = status_of(error)
        is_locked = isinstance(error, AccessRefused)
        is_script = "hx-request" in request.headers
        values = {
            "locked": is_locked,
            "forbidden": isinstance(error, ScopeViolation),
            "missing": _missing(request, error, is_unserved=is_unserved),
            "message": error.message,
            "suggestion": suggestion_for_people(error),
            "tried": "authorization" in request.headers,
            "return_to": request.url.path,
            "came_from": _came_from(request),
        }
        template = "locked.html" if is_locked else "error.html"
        shown = 200 if is_locked and not is_script else status
        return self.show(request, template, values, status=shown)


def suggestion_for_people(error: CitewellError) -> str:
    """Return what to try; what a class suggests to models that call tools is left out."""
    is_for_models = error.suggestion in (InvalidArgument.suggestion, NotFound.suggestion)
    return "" if is_for_models else error.suggestion


def _missing(request: Request, error: CitewellError, *, is_unserved: bool) -> str | None:
    """Return what is not there, in the words of who opened it; tools speak of ids and calls."""
    if not isinstance(error, NotFound):
        return None
    if is_unserved:
        return "address"
    top = request.url.path.split("/")[1]
    return {"library": "entry", "read": "page"}.get(top)


def _came_from(request: Request) -> str | None:
    """Return the page of this server that sent the request, if it is another one."""
    page = urlsplit(request.headers.get("referer", ""))
    is_ours = page.netloc == request.headers.get("host")
    is_safe = page.path.startswith("/") and not page.path.startswith("//")
    # A form is sent to the page it stands on.
    is_same = page.path == request.url.path and request.method == "GET"
    if not is_ours or not is_safe or is_same:
        return None
    return f"{page.path}?{page.query}" if page.query else page.path
