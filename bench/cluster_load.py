"""The load of `bench.cluster`: agents and people at work, and a ledger of what they sent."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio
from bench.cluster_processes import Caller, Outcome
from tests.site import Request, Response, Site

QUESTIONS = "/mcp/tools/ask_user/api/requests"
DIRECTIVES = "/mcp/tools/get_user_requests/api/requests"
SITE_PAGES = 6


def page(request: Request) -> Response:
    """Return a page for any path except robots.txt and sitemaps.

    Its text holds the path; the front page of a site links to the site's other pages.
    """
    path = request.path.split("?")[0]
    if path.endswith((".txt", ".xml", ".gz", ".md")):
        return Response(status=404)
    first = path.rstrip("/")
    links = ""
    if first.startswith("/site-") and first.count("/") == 1:
        links = "".join(f'<p><a href="{first}/{n}">Part {n}</a></p>' for n in range(1, SITE_PAGES))
    text = (
        f"<html><head><title>{path}</title></head><body><main><h1>{path}</h1>"
        f"<p>The heron of {path} stands still, and eats fish, frogs and small mammals.</p>"
        f"{links}</main></body></html>"
    )
    return Response(body=text.encode(), headers={"Content-Type": "text/html"})


@dataclass
class Ledger:
    """What the load has asked for, and what it was given."""

    pages: set[str] = field(default_factory=set)
    sites: set[str] = field(default_factory=set)
    posted: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)
    """Directives whose posting was cut off: there or not."""
    taken: list[str] = field(default_factory=list)
    cut_takes: int = 0
    answered: set[str] = field(default_factory=set)
    unsure_answers: set[str] = field(default_factory=set)
    received: list[str] = field(default_factory=list)
    cut_asks: int = 0


class Load:
    """Agents and people who keep the cluster busy until told to stop."""

    def __init__(self, caller: Caller, site: Site, *, seed: int) -> None:
        self.ledger = Ledger()
        self.stopping = anyio.Event()
        self._has_ended = anyio.Event()
        self._caller = caller
        self._site = site
        self._rng = random.Random(seed)

    async def run(self) -> None:
        """Keep busy; on stopping, every agent's last call is waited for."""
        agents = (
            self._search,
            self._search,
            self._add_pages,
            self._add_sites,
            self._post_directives,
            self._take_directives,
            self._take_directives,
            self._ask,
            self._ask,
        )
        async with anyio.create_task_group() as people:
            people.start_soon(self._answer)
            async with anyio.create_task_group() as tasks:
                for act in agents:
                    tasks.start_soon(self._repeat, act)
            self._has_ended.set()

    async def _repeat(self, act: Callable[[int], Awaitable[None]]) -> None:
        number = 0
        while not self.stopping.is_set():
            await act(number)
            number += 1

    async def _call(self, tool: str, **arguments: object) -> Outcome:
        """Call once; late answers that come along are received."""
        outcome = await self._caller.call(tool, **arguments)
        late = outcome.result.get("late_answers", [])
        self.ledger.received += [each["question"] for each in late]
        if outcome.code != "ok":
            await anyio.sleep(0.2)
        return outcome

    async def _search(self, number: int) -> None:
        await self._call("search", query=f"what does the heron on page {number % 50} eat?")
        await anyio.sleep(0.05)

    async def _add_pages(self, number: int) -> None:
        url = self._site.url(f"/page-{number}")
        while (await self._call("rag_process_website", url=url)).code != "ok":
            # Its server was killed: the agent asks again, and the page must be there once.
            pass
        self.ledger.pages.add(url)

    async def _add_sites(self, number: int) -> None:
        url = self._site.url(f"/site-{number}/")
        given = {"url": url, "mode": "crawl", "depth": 2, "max_pages": SITE_PAGES}
        while (await self._call("rag_process_website", **given)).code != "ok":
            pass
        self.ledger.sites.add(url)
        await anyio.sleep(2)

    async def _post_directives(self, number: int) -> None:
        content = f"directive {number}"
        posted = await self._caller.ask_api("POST", DIRECTIVES, {"content": content})
        (self.ledger.posted if posted.code == "ok" else self.ledger.unsure).add(content)
        await anyio.sleep(0.2)

    async def _take_directives(self, number: int) -> None:
        outcome = await self._call("get_user_request")
        if outcome.code == "ok" and outcome.result["status"] == "consumed":
            self.ledger.taken.append(outcome.result["content"])
            return
        self.ledger.cut_takes += outcome.code == "cut"
        await anyio.sleep(0.2)

    async def _ask(self, number: int) -> None:
        question = f"question {number} {self._rng.randrange(10**9)}"
        outcome = await self._call("ask_user", question=question)
        if outcome.code == "ok":
            self.ledger.received.append(outcome.result["question"])
        self.ledger.cut_asks += outcome.code == "cut"

    async def _answer(self) -> None:
        while not self._has_ended.is_set():
            await self._answer_all()
            await anyio.sleep(0.3)

    async def _answer_all(self) -> int:
        """Answer every open question; return how many there were."""
        listed = await self._caller.ask_api("GET", QUESTIONS)
        pending = listed.result.get("pending", []) if listed.code == "ok" else []
        for each in pending:
            path = f"{QUESTIONS}/{each['id']}"
            sent = await self._caller.ask_api("POST", path, {"answer": "Yes."})
            into = self.ledger.answered if sent.code == "ok" else self.ledger.unsure_answers
            into.add(each["question"])
        return len(pending)

    async def drain(self) -> None:
        """Let the people answer, and one agent take, what is left once all is quiet."""
        while await self._answer_all():
            pass
        quiet = 0
        # Answers that nobody waited for are handed out some seconds after they came.
        while quiet < 40:
            before = len(self.ledger.taken) + len(self.ledger.received)
            await self._take_directives(0)
            quiet = quiet + 1 if len(self.ledger.taken) + len(self.ledger.received) == before else 0
