"""The docs website over HTTP: rendered pages, raw files, search as you type."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from anyio import CapacityLimiter, to_thread
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from citewell import __version__
from citewell.core.fair_turns import FairTurns, working_for
from citewell.server.compression import Compressed, PackedBodies
from citewell.tools.docs.site import Moved

if TYPE_CHECKING:
    from starlette.requests import Request

    from citewell.tools.docs.site import DocsSite, Resource

_DEFAULT_RESULTS = 10
# Most of them wait for the few processes that render.
_RENDERED_AT_ONCE = 20

_READ_METHODS = ["GET", "HEAD"]
# A reader's copy is good as long as its ETag is: the site may change at any time.
_HEADERS = {
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    # A page declares the rest of its policy itself; this directive works only as a header.
    "Content-Security-Policy": "frame-ancestors 'none'",
}
# At an address that names the version of what is there.
_FOR_A_YEAR = "public, max-age=31536000, immutable"
# A picture can hold scripts; opened on its own it must not run them.
_ALONE = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}


def docs_routes(site: DocsSite) -> list[Route]:
    """Return the routes of the website; the last one matches every path."""
    rendering = FairTurns(_RENDERED_AT_ONCE, most_of_one=1)
    threads = CapacityLimiter(_RENDERED_AT_ONCE)
    packed = PackedBodies()

    async def healthz(request: Request) -> Response:
        pages = site.count_pages()
        return JSONResponse({"status": "ok", "version": __version__, "pages": pages})

    async def search(request: Request) -> Response:
        query = request.query_params.get("q", "")
        number = request.query_params.get("limit", "")
        limit = int(number) if number.isascii() and number.isdecimal() else _DEFAULT_RESULTS
        results = await to_thread.run_sync(lambda: site.search(query, limit=max(limit, 1)))
        return JSONResponse(results, headers=_HEADERS)

    async def show(request: Request) -> Response:
        path = "/" + request.path_params["path"]
        file = await to_thread.run_sync(site.read_file, path)
        if file is not None:
            return _respond(request, file, headers=_ALONE)
        query = request.query_params.get("q", "")
        find = partial(site.find, path, query=query)
        if site.is_at_hand(path):
            page = await to_thread.run_sync(find)
        else:
            # Pages that take long wait for each other, and every page is rendered once.
            with working_for(path):
                async with rendering.turn():
                    page = await to_thread.run_sync(find, limiter=threads)
        if isinstance(page, Moved):
            return RedirectResponse(page.url, status_code=301, headers=_HEADERS)
        if page is not None:
            if page.packed is not None:
                packed.keep(page.etag, page.packed)
            return _respond(request, page)
        missing = await to_thread.run_sync(site.not_found, path)
        return Response(
            missing.body, status_code=404, media_type=missing.media_type, headers=_HEADERS
        )

    compressed = [Middleware(Compressed, packed)]
    return [
        Route("/healthz", healthz, methods=_READ_METHODS),
        Route("/api/search", search, methods=_READ_METHODS, middleware=compressed),
        Route("/{path:path}", show, methods=_READ_METHODS, middleware=compressed),
    ]


def _respond(
    request: Request, resource: Resource, *, headers: dict[str, str] | None = None
) -> Response:
    """Return the resource, or 304 if the reader has it already."""
    sent = {**_HEADERS, "ETag": resource.etag, **(headers or {})}
    version = request.query_params.get("v")
    if version is not None and version == resource.etag.strip('"'):
        sent["Cache-Control"] = _FOR_A_YEAR
    if _has_already(request.headers.get("if-none-match", ""), resource.etag):
        return Response(status_code=304, headers=sent)
    return Response(resource.body, media_type=resource.media_type, headers=sent)


def _has_already(validators: str, etag: str) -> bool:
    known = [validator.strip().removeprefix("W/") for validator in validators.split(",")]
    return etag in known or "*" in known
