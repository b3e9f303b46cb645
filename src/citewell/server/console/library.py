"""`/library`: the websites and pages that are kept, and everything that is done with them."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args
from urllib.parse import urlencode

import anyio
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from citewell.core.errors import CitewellError, FetchError, InvalidArgument, NotFound
from citewell.core.library import (
    WebsiteDraft,
    WebsiteStatus,
)
from citewell.server.console.door import read_form, refuse_json, status_of
from citewell.server.console.library_forms import (
    LIBRARY,
    MOST_LISTED,
    PAGE_ORDERS,
    SCHEDULES,
    WEBSITE_ORDERS,
    address_of,
    read_chosen,
    read_draft,
    read_page_query,
    read_website_query,
    read_words,
    shown_order,
    target_of,
)
from citewell.server.console.pages import guard_headers
from citewell.server.console.reader import parse_number
from citewell.server.console.screen import suggestion_for_people
from citewell.tools.webapp import library, work
from citewell.tools.webapp.ask import count_corpus
from citewell.tools.webapp.entries import address_below, list_entries
from citewell.tools.webapp.permissions import permissions_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from citewell.server.console.door import Door
    from citewell.server.console.screen import Screen
    from citewell.tools.tool import Call

IMPORT = f"{LIBRARY}/import"
MAX_IMPORT_BYTES = 1_000_000_000

# In UTF-8 no longer than a file system allows.
_MOST_NAME_CHARACTERS = 60


def library_routes(door: Door, screen: Screen) -> list[Route]:
    """Return the routes of the library."""
    pages = LibraryPages(screen)

    def page(path: str, show: Callable[[Request, Call], Awaitable[Response]]) -> Route:
        return Route(LIBRARY + path, door.guard(show, refuse=screen.refuse), methods=["GET"])

    def form(path: str, take: Callable[[Request, Call], Awaitable[Response]]) -> Route:
        return Route(LIBRARY + path, door.guard(take, refuse=screen.refuse), methods=["POST"])

    return [
        page("", pages.show_websites),
        page("/pages", pages.show_pages),
        page("/work", pages.show_work),
        Route(f"{LIBRARY}/export", door.guard(_export, refuse=refuse_json), methods=["GET"]),
        Route(IMPORT, door.guard(_import, refuse=refuse_json), methods=["POST"]),
        form("/preview", pages.preview),
        form("/add", pages.add),
        form("/chosen/refresh", pages.refresh_chosen),
        form("/chosen/delete", pages.delete_chosen),
        form("/jobs/{id:number}/cancel", pages.cancel),
        form("/jobs/{id:number}/retry", pages.retry),
        page("/{id}", pages.show_website),
        form("/{id:number}/refresh", pages.refresh),
        form("/{id:number}/retry", pages.retry_failed_pages),
        form("/{id:number}/more", pages.read_more),
        form("/{id:number}/settings", pages.change_settings),
        form("/{id:number}/delete", pages.delete),
    ]


class LibraryPages:
    """The pages of the library, and what their forms send."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    async def show_websites(self, request: Request, call: Call) -> Response:
        """Show one screen of websites, filtered and sorted as the address says."""
        query = read_website_query(request)
        listing = await list_entries(query, call)
        values = {
            "query": query,
            "listing": listing,
            "stats": await count_corpus(call),
            "groups": await work.list_jobs(call),
            "statuses": get_args(WebsiteStatus),
            "orders": WEBSITE_ORDERS,
            "order": shown_order(query),
            "address_of": address_of,
            "draft": None,
            "of": None,
            "schedules": SCHEDULES,
            "may": permissions_of(call.caller),
        }
        return self._screen.show(request, "library.html", values)

    async def show_work(self, request: Request, call: Call) -> Response:
        """Show the background work alone, of one website or of all, for the page that polls it."""
        website = parse_number(request.query_params.get("of", ""))
        groups = await work.list_jobs(call)
        if website is not None:
            groups = [group for group in groups if group.source_id == website]
        values = {"groups": groups, "of": website, "may": permissions_of(call.caller)}
        return self._screen.show(request, "work.html", values)

    async def show_pages(self, request: Request, call: Call) -> Response:
        """Show one screen of pages, filtered and sorted as the address says."""
        asked = request.query_params
        query, tag, release = read_page_query(request), asked.get("tag"), asked.get("release")
        under = asked.get("under") or None
        values = {
            "query": query,
            "tag": tag or "",
            "release": release or "",
            "under": under,
            "listing": await library.list_pages(query, call, tag=tag, release=release, under=under),
            "releases": await library.list_releases(call),
            "orders": PAGE_ORDERS,
            "order": shown_order(query),
            "may": permissions_of(call.caller),
            "kept": urlencode([(key, value) for key, value in asked.items() if key != "page"]),
        }
        return self._screen.show(request, "library_pages.html", values)

    async def show_website(self, request: Request, call: Call) -> Response:
        """Show one website with its pages and its work."""
        source_id = parse_number(request.path_params["id"])
        if source_id is None:
            raise NotFound("There is no such website.", suggestion="Go back to the library.")
        after = parse_number(request.query_params.get("after", "")) or 0
        shown = await library.view_website(source_id, call, after=after)
        back = [n for n in request.query_params.get("back", "").split(",") if n.isdigit()]
        values = {
            "after": after,
            "back": back,
            "shown": shown,
            "website": shown.view.website,
            "schedules": SCHEDULES,
            "at_once": library.PAGES_AT_ONCE,
            "may": permissions_of(call.caller),
            "is_saved": "saved" in request.query_params,
            "address_below": address_below,
        }
        return self._screen.show(request, "website.html", values)

    async def preview(self, request: Request, call: Call) -> Response:
        """Show what a crawl would read, with the form to go on."""
        draft = read_draft(await read_form(request))
        try:
            preview = await library.preview(draft.url, draft.options, call)
        except (FetchError, InvalidArgument) as error:
            return self._show_form_again(request, draft, error)
        values = {
            # Only a site is crawled, and the pages that are ticked are to be what is added.
            "draft": replace(draft, kind="site"),
            "was_page": draft.kind == "page",
            "preview": preview,
            "listed": {url: target_of(url) for url in sorted(preview.urls[:MOST_LISTED])},
            "schedules": SCHEDULES,
        }
        return self._screen.show(request, "library_preview.html", values)

    async def add(self, request: Request, call: Call) -> Response:
        """Add the page or site of the form."""
        draft = read_draft(await read_form(request))
        try:
            source_id = await library.add_website(draft, call)
        except (FetchError, InvalidArgument) as error:
            return self._show_form_again(request, draft, error)
        return _to(f"{LIBRARY}/{source_id}")

    def _show_form_again(
        self, request: Request, draft: WebsiteDraft, error: CitewellError
    ) -> Response:
        """Show why what a form names cannot be read, with the form as it was filled in."""
        values = {
            "draft": draft,
            "preview": None,
            "error": error,
            "suggestion": suggestion_for_people(error),
            "schedules": SCHEDULES,
        }
        status = status_of(error)
        return self._screen.show(request, "library_preview.html", values, status=status)

    async def refresh(self, request: Request, call: Call) -> Response:
        """Fetch a website again."""
        await library.refresh_website(request.path_params["id"], call)
        return _to(f"{LIBRARY}/{request.path_params['id']}")

    async def retry_failed_pages(self, request: Request, call: Call) -> Response:
        """Fetch the pages of a site that could not be read again."""
        await library.retry_failed_pages(request.path_params["id"], call)
        return _to(f"{LIBRARY}/{request.path_params['id']}")

    async def read_more(self, request: Request, call: Call) -> Response:
        """Read more pages of a site than its limit allowed."""
        await library.raise_limit(request.path_params["id"], call)
        return _to(f"{LIBRARY}/{request.path_params['id']}")

    async def change_settings(self, request: Request, call: Call) -> Response:
        """Set the schedule and the tags of a website."""
        form, source_id = await read_form(request), request.path_params["id"]
        schedule = str(form.get("schedule", ""))
        if schedule in SCHEDULES:
            await library.schedule_website(source_id, call, every_seconds=SCHEDULES[schedule])
        tags = read_words(form, "tags")
        await library.tag_website(source_id, call, tags=tags)
        return _to(f"{LIBRARY}/{source_id}?saved=1")

    async def delete(self, request: Request, call: Call) -> Response:
        """Delete a website with its pages; with `check`, only say whether that would be refused."""
        source_id = request.path_params["id"]
        if "check" in await read_form(request):
            await library.check_deletion(source_id, call)
            return Response(status_code=204, headers=guard_headers())
        await library.delete_website(source_id, call)
        return _to(LIBRARY)

    async def refresh_chosen(self, request: Request, call: Call) -> Response:
        """Fetch the chosen entries of a list again."""
        for source_id in await read_chosen(request):
            await library.refresh_website(source_id, call)
        return _to(LIBRARY)

    async def delete_chosen(self, request: Request, call: Call) -> Response:
        """Delete the chosen entries; with `check`, only say whether that would be refused."""
        chosen = await read_chosen(request)
        for source_id in chosen:
            await library.check_deletion(source_id, call)
        if "check" in await read_form(request):
            return Response(status_code=204, headers=guard_headers())
        for source_id in chosen:
            await library.delete_website(source_id, call)
        return _back(request)

    async def cancel(self, request: Request, call: Call) -> Response:
        """Stop a job."""
        await work.cancel_job(request.path_params["id"], call)
        return _back(request)

    async def retry(self, request: Request, call: Call) -> Response:
        """Let a failed job run again."""
        await work.retry_job(request.path_params["id"], call)
        return _back(request)


async def _export(request: Request, call: Call) -> Response:
    folder = Path(await anyio.to_thread.run_sync(tempfile.mkdtemp))
    path = folder / "citewell-library.zip"

    def remove() -> None:
        path.unlink(missing_ok=True)
        folder.rmdir()

    try:
        await library.export_library(path, call)
    except BaseException:
        await anyio.to_thread.run_sync(remove)
        raise
    return FileResponse(
        path,
        media_type="application/zip",
        filename=path.name,
        headers=guard_headers(),
        background=BackgroundTask(remove),
    )


async def _import(request: Request, call: Call) -> Response:
    library.check_import(call)
    with tempfile.TemporaryDirectory() as folder:
        # Errors name the file by the name that it has on the person's machine.
        path = Path(folder, _file_name(request.query_params.get("name", "")))
        async with await anyio.open_file(path, "wb") as file:
            async for piece in request.stream():
                await file.write(piece)
        imported = await library.import_library(path, call)
    body = {
        "pages": imported.pages_written,
        "kept": imported.pages_unchanged + imported.pages_newer,
        "websites": imported.websites_added,
    }
    return JSONResponse(body, headers=guard_headers())


def _file_name(name: str) -> str:
    """Return a name that stays in its folder; the name itself where it is harmless."""
    shown = "".join(letter for letter in name if letter.isprintable() and letter not in "/\\")
    return shown[:_MOST_NAME_CHARACTERS].strip(". ") or "library.zip"


def _to(path: str) -> Response:
    return RedirectResponse(path, status_code=303, headers=guard_headers())


def _back(request: Request) -> Response:
    """Redirect to the page of the library that sent the form."""
    came_from = request.headers.get("referer", "")
    path = came_from.partition("://")[2].partition("/")[2].partition("?")[0]
    is_ours = path.startswith(LIBRARY.removeprefix("/")) and "/" not in path[len("library/") :]
    return _to(f"/{path}" if is_ours else LIBRARY)
