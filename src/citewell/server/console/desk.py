"""The two consoles of the desk, their JSON APIs (seed C), and the stream that tells of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from citewell.server.console.change_stream import ChangeStream
from citewell.server.console.door import read_form, read_json, refuse_json
from citewell.server.console.pages import guard_headers, html_of
from citewell.server.console.reader import parse_number
from citewell.tools.people import console
from citewell.tools.toolsets import is_shown
from citewell.tools.webapp.desk import render_questions

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request

    from citewell.server.console.door import Door, Handler
    from citewell.server.console.screen import Screen
    from citewell.server.draining import Draining
    from citewell.tools.tool import Call

QUESTIONS = "/mcp/tools/ask_user"
DIRECTIVES = "/mcp/tools/get_user_requests"
EVENTS = "/mcp/console/events"


def desk_routes(door: Door, screen: Screen, *, draining: Draining) -> list[Route]:
    """Return the routes of the question console and of the directive console."""
    pages = DeskPages(screen)

    async def stream_changes(request: Request, call: Call) -> Response:
        async def is_let_in() -> bool:
            return await door.lets_in(request)

        return ChangeStream(console.watch_desk(call), draining, is_let_in=is_let_in)

    def api(path: str, **handlers: Handler) -> Route:
        # One route for all methods of a path, so that the Allow header of a 405 names them all.
        async def handle(request: Request, call: Call) -> Response:
            method = "GET" if request.method == "HEAD" else request.method
            return await handlers[method](request, call)

        return Route(path, door.guard(handle, refuse=refuse_json), methods=list(handlers))

    def page(path: str, handler: Handler, method: str = "GET") -> Route:
        return Route(path, door.guard(handler, refuse=screen.refuse), methods=[method])

    return [
        page(QUESTIONS, pages.show_questions),
        page(f"{QUESTIONS}/history", pages.show_history),
        page(f"{QUESTIONS}/answers/{{id}}", pages.take_answer, "POST"),
        page(DIRECTIVES, pages.show_directives),
        page(f"{DIRECTIVES}/new", pages.take_directive, "POST"),
        page(f"{DIRECTIVES}/edited/{{id}}", pages.edit_directive, "POST"),
        page(f"{DIRECTIVES}/earlier/{{id}}", pages.deliver_earlier, "POST"),
        page(f"{DIRECTIVES}/later/{{id}}", pages.deliver_later, "POST"),
        page(f"{DIRECTIVES}/restored", pages.restore_directive, "POST"),
        page(f"{DIRECTIVES}/templates", pages.keep_template, "POST"),
        page(f"{DIRECTIVES}/templates/deleted/{{id:number}}", pages.drop_template, "POST"),
        page(f"{DIRECTIVES}/deleted", pages.drop_all, "POST"),
        page(f"{DIRECTIVES}/deleted/{{id}}", pages.drop_one, "POST"),
        api(f"{QUESTIONS}/api/requests", GET=_list_questions),
        api(f"{QUESTIONS}/api/requests/{{id}}", POST=_answer_question),
        api(
            f"{DIRECTIVES}/api/requests",
            GET=_list_directives,
            POST=_add_directive,
            DELETE=_delete_directives,
        ),
        api(f"{DIRECTIVES}/api/requests/{{id}}", DELETE=_delete_directive),
        api(EVENTS, GET=stream_changes),
    ]


def _is_listed(call: Call) -> bool:
    """Return whether all clients see the tools of the desk."""
    return is_shown("people", toolsets=call.settings.mcp_toolsets, elicits=False)


class DeskPages:
    """The pages and what their forms send."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    async def show_questions(self, request: Request, call: Call) -> Response:
        """Show open questions with their forms, and what became of the others."""
        questions = await console.list_questions(call)
        values = {
            **questions,
            "most_listed": console.MOST_LISTED,
            "is_listed": _is_listed(call),
            "rendered": await render_questions(call, questions),
            "html_of": html_of,
        }
        return self._screen.show(request, "questions.html", values)

    async def show_history(self, request: Request, call: Call) -> Response:
        """Show the questions of the past that hold the words of the search."""
        matching = request.query_params.get("q", "").strip()
        before = request.query_params.get("before") or None
        closed = await console.search_history(call, matching=matching, before=before)
        values = {
            "history": closed,
            "matching": matching,
            "before": before,
            "at_once": console.HISTORY_AT_ONCE,
            "rendered": await render_questions(call, {"history": closed}),
            "html_of": html_of,
        }
        return self._screen.show(request, "history.html", values)

    async def take_answer(self, request: Request, call: Call) -> Response:
        """Take the answer that a form sends."""
        form = await read_form(request)
        await console.answer_question(
            call,
            request.path_params["id"],
            answer=form.get("answer"),
            is_declined="declined" in form,
        )
        return _back(request, QUESTIONS)

    async def show_directives(self, request: Request, call: Call) -> Response:
        """Show the queue, what was delivered, and the form for a new directive."""
        values = {
            **await console.list_directives(call),
            "templates": await console.list_templates(call),
            "most_listed": console.MOST_LISTED,
            "is_listed": _is_listed(call),
        }
        return self._screen.show(request, "directives.html", values)

    async def take_directive(self, request: Request, call: Call) -> Response:
        """Take the directive that a form sends."""
        form = await read_form(request)
        await console.add_directive(
            call, content=form.get("content"), task_id=_task(form), is_last="last" in form
        )
        return _back(request, DIRECTIVES)

    async def edit_directive(self, request: Request, call: Call) -> Response:
        """Rewrite a directive that waits."""
        form = await read_form(request)
        await console.edit_directive(
            call, request.path_params["id"], content=form.get("content"), task_id=_task(form)
        )
        return _back(request, DIRECTIVES)

    async def deliver_earlier(self, request: Request, call: Call) -> Response:
        """Put a directive before the one that is delivered before it."""
        await console.move_directive(call, request.path_params["id"], earlier=True)
        return _back(request, DIRECTIVES)

    async def deliver_later(self, request: Request, call: Call) -> Response:
        """Put a directive behind the one that is delivered after it."""
        await console.move_directive(call, request.path_params["id"], earlier=False)
        return _back(request, DIRECTIVES)

    async def keep_template(self, request: Request, call: Call) -> Response:
        """Keep what the form holds to be used again."""
        form = await read_form(request)
        await console.add_template(call, content=form.get("content"), task_id=_task(form))
        return _back(request, DIRECTIVES)

    async def drop_template(self, request: Request, call: Call) -> Response:
        """Delete a template."""
        await console.delete_template(call, request.path_params["id"])
        return _back(request, DIRECTIVES)

    async def drop_one(self, request: Request, call: Call) -> Response:
        """Delete the directive of the form."""
        await console.delete_directive(call, request.path_params["id"])
        return _back(request, DIRECTIVES)

    async def restore_directive(self, request: Request, call: Call) -> Response:
        """Put the directive of the form back where it was."""
        form = await read_form(request)
        deleted = {name: str(value) for name, value in form.items()}
        place = parse_number(deleted.get("place", "")) or 0
        await console.restore_directive(call, deleted, place=place)
        return _back(request, DIRECTIVES)

    async def drop_all(self, request: Request, call: Call) -> Response:
        """Delete every directive."""
        await console.delete_directives(call)
        return _back(request, DIRECTIVES)


def _task(form: FormData) -> str | None:
    return str(form.get("task_id", "")).strip() or None


def _back(request: Request, path: str) -> Response:
    """Return to the page; a script of the page is only told to look again."""
    if "hx-request" in request.headers:
        return Response(status_code=204, headers={**guard_headers(), "HX-Trigger": "desk-changed"})
    return RedirectResponse(path, status_code=303)


async def _list_questions(request: Request, call: Call) -> Response:
    return _json(await console.list_questions(call))


async def _answer_question(request: Request, call: Call) -> Response:
    body = await read_json(request)
    answered = await console.answer_question(
        call,
        request.path_params["id"],
        answer=body.get("answer"),
        is_declined=body.get("declined") is True,
    )
    return _json(answered)


async def _list_directives(request: Request, call: Call) -> Response:
    return _json(await console.list_directives(call))


async def _add_directive(request: Request, call: Call) -> Response:
    body = await read_json(request)
    added = await console.add_directive(
        call, content=body.get("content"), task_id=body.get("task_id")
    )
    return _json(added, status=201)


async def _delete_directives(request: Request, call: Call) -> Response:
    return _json({"deleted": await console.delete_directives(call)})


async def _delete_directive(request: Request, call: Call) -> Response:
    await console.delete_directive(call, request.path_params["id"])
    return _json({"deleted": 1})


def _json(body: object, *, status: int = 200) -> Response:
    return JSONResponse(body, status_code=status, headers=guard_headers())
