"""`/`: the question box, which shows evidence as it is found."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.responses import RedirectResponse
from starlette.routing import Route

from citewell.core.errors import (
    BudgetExceeded,
    CitewellError,
    InvalidArgument,
    Overloaded,
    RateLimited,
)
from citewell.server.console.door import complete_url, read_form, status_of
from citewell.server.console.event_stream import EventStream
from citewell.server.console.pages import html_of, sentence
from citewell.server.console.screen import suggestion_for_people
from citewell.server.console.texts import Texts
from citewell.tools.webapp import ask
from citewell.tools.webapp.ask import Asked
from citewell.tools.webapp.entries import list_places
from citewell.tools.webapp.permissions import permissions_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response

    from citewell.app.parts import OpensParts
    from citewell.core.progress import Progress
    from citewell.server.console.door import Door
    from citewell.server.console.event_stream import SendEvent
    from citewell.server.console.screen import Screen
    from citewell.server.draining import Draining
    from citewell.tools.tool import Call
    from citewell.tools.webapp.ask import AskView

MAX_URLS = 10
MAX_SITE_CHARACTERS = 4_000
_ADDRESS = re.compile(r"https?://\S{1,2000}")
_NUMBER = re.compile(r"\d{1,9}")
# Steps that are said without a number.
_SAID_ALIKE = frozenset({"analysis", "reranking", "expansion", "locality", "merge"})


def ask_routes(door: Door, screen: Screen, app: OpensParts, *, draining: Draining) -> list[Route]:
    """Return the routes of the question box."""
    pages = AskPages(screen, app, draining)
    return [
        Route("/", door.guard(pages.show, refuse=screen.refuse), methods=["GET"]),
        Route("/ask", door.guard(pages.take_question, refuse=screen.refuse), methods=["POST"]),
    ]


class AskPages:
    """The question box, and what its form sends."""

    def __init__(self, screen: Screen, app: OpensParts, draining: Draining) -> None:
        self._screen = screen
        self._app = app
        self._draining = draining
        self._texts = Texts()

    async def show(self, request: Request, call: Call) -> Response:
        """Show the box; with a question in the address, what is indexed is searched.

        A browser gets the box alone and asks from there, so that it shows something meanwhile.
        """
        query = request.query_params
        asked = _asked(query.get("q", ""), query.getlist("url"), site=query.get("site", ""))
        if not asked.question:
            return await self._show(request, call, asked, None)
        if _is_read_by_people(request):
            # The empty page comes first; its script then asks and shows the progress.
            return await self._show(request, call, asked, None, begins=True)
        try:
            view = await ask.show_again(asked, call, self._app)
        except (BudgetExceeded, Overloaded, RateLimited) as error:
            return await self._show(request, call, asked, None, error=error)
        return await self._show(request, call, asked, view)

    async def take_question(self, request: Request, call: Call) -> Response:
        """Answer: as a stream for the script of the page, as a page without one.

        Raises:
            InvalidArgument: there is no question.
        """
        form = await read_form(request)
        urls, site = str(form.get("urls", "")).split(), str(form.get("site", ""))
        asked = _asked(str(form.get("q", "")), urls, site=site)
        if not asked.question:
            raise InvalidArgument("Write a question first.")
        if "text/event-stream" in request.headers.get("accept", ""):
            return self._stream(asked, call, again="again" in form)
        if not asked.urls:
            return RedirectResponse(f"/?{urlencode(asked.address)}", status_code=303)
        try:
            view = await ask.ask(asked, call, self._app)
        except CitewellError as error:
            return await self._show(request, call, asked, None, error=error)
        return await self._show(request, call, asked, view)

    async def _show(
        self,
        request: Request,
        call: Call,
        asked: Asked,
        view: AskView | None,
        *,
        error: CitewellError | None = None,
        begins: bool = False,
    ) -> Response:
        stats = await ask.count_corpus(call)
        is_fresh = not asked.question and view is None
        values = {
            "suggestion": "" if error is None else suggestion_for_people(error),
            "recent": await ask.recent_questions(call) if is_fresh else [],
            "asked": asked,
            "view": view,
            "stats": stats,
            "places": await list_places(call),
            "html_of": html_of,
            "may": permissions_of(call.caller),
            "error": error,
            "begins": begins,
            "at_once": urlencode([*asked.address, ("now", "1")]),
        }
        status = 200 if error is None else status_of(error)
        return self._screen.show(request, "ask.html", values, status=status)

    def _stream(self, asked: Asked, call: Call, *, again: bool) -> Response:
        run = ask.show_again if again else ask.ask

        async def work(send_event: SendEvent) -> None:
            async def report(progress: Progress) -> None:
                message = self._said_to_people(progress)
                await send_event("progress", asdict(replace(progress, message=message)))

            try:
                view = await run(asked, replace(call, on_progress=report), self._app)
            except CitewellError as error:
                reason = f"{sentence(error.message)} {suggestion_for_people(error)}".strip()
                await send_event("failed", {"message": reason, "of_pages": bool(asked.urls)})
                return
            values = {"view": view, "html_of": html_of, "may": permissions_of(call.caller)}
            await send_event("found", {"html": self._screen.render("ask_found.html", values)})

        return EventStream(work, self._draining)

    def _said_to_people(self, progress: Progress) -> str:
        """Return a step in plain words: those of tools are set by their specification."""
        if progress.phase == "retrieval" and progress.message.startswith(ask.EVIDENCE_SO_FAR):
            return progress.message
        url = _ADDRESS.search(progress.message)
        if url is not None:
            return self._texts("ask.step_page", url=url[0].rstrip("."))
        number = _NUMBER.search(progress.message)
        if progress.phase == "retrieval" and number is not None:
            return self._texts("ask.step_retrieval", count=int(number[0]))
        if progress.phase in _SAID_ALIKE:
            return self._texts(f"ask.step_{progress.phase}")
        return progress.message


def _is_read_by_people(request: Request) -> bool:
    """Return whether a browser asks that has not said that it runs no scripts."""
    is_browser = "text/html" in request.headers.get("accept", "") or "hx-request" in request.headers
    return is_browser and "now" not in request.query_params


def _asked(question: str, urls: Iterable[str], *, site: str) -> Asked:
    named = tuple(dict.fromkeys(url.strip() for url in urls if url.strip()))
    return Asked(
        question=question.strip()[: ask.MAX_QUERY_CHARACTERS],
        urls=tuple(map(complete_url, named[:MAX_URLS])),
        site=site.strip()[:MAX_SITE_CHARACTERS],
    )
