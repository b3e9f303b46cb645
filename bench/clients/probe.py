"""What the probes share: a host's features tried one after the other, printed as JSON.

A probe runs in an environment that holds its client and nothing of Citewell, so this module needs
the standard library only.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

QUOTE = "The grey heron eats fish, frogs and small mammals."
QUESTION = "What does the grey heron eat?"
REPLY = "Soup."
DEFAULT_TOOLS = {"answer", "search", "status", "ingest", "kb_verify_quote", "web_fetch"}
PROMPT = "research"
HERON_URI = "citewell://page/1"
"""Of the page that is asked about first."""
_SECONDS = 90
_SOURCE_ID = re.compile(r"source_id (\d+)")


class Unsupported(Exception):
    """The client has no such feature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What to connect to: a command, or a URL with headers; and a page to ask about."""

    page: str
    changing_page: str
    """Has another text every time that it is fetched."""
    command: str = ""
    arguments: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    redirect_uri: str = ""
    """Where a person who signs in is sent back to; empty when nobody signs in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a tool call brought."""

    text: str
    structured: Any = None


class Host:
    """A client that is connected; what it does not offer raises Unsupported."""

    steps: list[float] | None = None
    """The progress that was reported so far; None for a client that shows none."""

    async def instructions(self) -> str:
        """Return what the server says about itself."""
        raise Unsupported

    async def tools(self) -> list[str]:
        """Return the names of the tools."""
        raise Unsupported

    async def call(self, name: str, arguments: dict[str, Any]) -> Reply:
        """Call a tool; the text of a failed call is returned as well."""
        raise Unsupported

    async def model_run(self, arguments: dict[str, Any]) -> str:
        """Return what a model that calls `answer` gets to read in the framework's own loop."""
        raise Unsupported

    async def ask(self, question: str) -> str:
        """Return the person's reply to `ask_user`, which arrives as an elicitation."""
        raise Unsupported

    async def read(self, uri: str) -> str:
        """Return a resource, which is listed."""
        raise Unsupported

    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        """Return a prompt."""
        raise Unsupported

    async def follow(self, uri: str, make_change: Callable[[], Awaitable[None]]) -> str:
        """Subscribe to a resource, change it, and return the URI that is reported as changed."""
        raise Unsupported


OpenHost = Callable[[Task], AbstractAsyncContextManager[Host]]


async def _look_at_instructions(host: Host, task: Task) -> None:
    _expect("Prefer Citewell" in await host.instructions(), "they are not shown")


async def _list_tools(host: Host, task: Task) -> None:
    missing = DEFAULT_TOOLS - set(await host.tools())
    _expect(not missing, f"not listed: {sorted(missing)}")


async def _answer(host: Host, task: Task) -> None:
    reply = await host.call("answer", {"url": task.page, "query": QUESTION})
    _expect(QUOTE in reply.text, f"no quote in {reply.text[:200]!r}")
    if reply.structured is not None:
        _expect(QUOTE in json.dumps(reply.structured), "no quote in the structure")


async def _see_progress(host: Host, task: Task) -> None:
    steps = host.steps
    if steps is None:
        raise Unsupported
    steps.clear()
    await host.call("answer", {"url": f"{task.page}?again", "query": QUESTION})
    _expect(bool(steps), "none arrived")
    _expect(steps == sorted(steps), f"it does not rise: {steps}")


async def _fail(host: Host, task: Task) -> None:
    reply = await host.call("ingest", {"url": "http://127.0.0.1:1/"})
    _expect("127.0.0.1" in reply.text, f"no reason in {reply.text[:200]!r}")


async def _run_model(host: Host, task: Task) -> None:
    read = await host.model_run({"url": task.page, "query": QUESTION})
    _expect(QUOTE in read, f"the model read {read[:200]!r}")


async def _ask_user(host: Host, task: Task) -> None:
    reply = await host.ask("What to eat?")
    _expect(REPLY in reply, f"it brought {reply[:200]!r}")


async def _read_resource(host: Host, task: Task) -> None:
    _expect("heron" in await host.read(HERON_URI), "the page is not there")


async def _get_prompt(host: Host, task: Task) -> None:
    text = await host.prompt(PROMPT, {"url": task.page, "question": QUESTION})
    _expect(QUESTION in text, f"it says {text[:200]!r}")


async def _follow(host: Host, task: Task) -> None:
    if type(host).follow is Host.follow:
        raise Unsupported
    fetch_again = {"url": task.changing_page, "force": True}
    stored = _SOURCE_ID.search((await host.call("ingest", fetch_again)).text)
    assert stored is not None, "ingest names the page's id"
    uri = f"citewell://page/{stored[1]}"

    async def change_page() -> None:
        await host.call("ingest", fetch_again)

    changed = await host.follow(uri, change_page)
    _expect(changed == uri, f"{changed} is reported")


FEATURES: dict[str, Callable[[Host, Task], Awaitable[None]]] = {
    "tools": _list_tools,
    "instructions": _look_at_instructions,
    "answer": _answer,
    "progress": _see_progress,
    "errors": _fail,
    "model": _run_model,
    "ask_user": _ask_user,
    "resources": _read_resource,
    "prompts": _get_prompt,
    "changes": _follow,
}
"""In the order in which they are tried: what is read later was stored by the calls before."""


def run_probe(open_host: OpenHost) -> None:
    """Try every feature of the host and print a JSON object: ok, a reason, or null for none."""
    print(json.dumps(asyncio.run(_try_all(open_host, load_task()))), flush=True)


def load_task() -> Task:
    """Return the task, which is the program's only argument."""
    return Task(**json.loads(sys.argv[1]))


async def _try_all(open_host: OpenHost, task: Task) -> dict[str, str | None]:
    outcomes: dict[str, str | None] = {}
    async with open_host(task) as host:
        features = {"tools": _list_tools} if task.redirect_uri else FEATURES
        for name, feature in features.items():
            try:
                await asyncio.wait_for(feature(host, task), _SECONDS)
                outcomes[name] = "ok"
            except Unsupported:
                outcomes[name] = None
            except Exception as error:  # noqa: BLE001 - whatever it is, it goes into the table
                outcomes[name] = f"{type(error).__name__}: {error}"[:300]
    return outcomes


async def sign_in(address: str) -> dict[str, str]:
    """Have the person behind stdin sign in at `address`; return the query of the redirect."""
    print(f"authorize {address}", flush=True)
    answer: dict[str, str] = json.loads(await asyncio.to_thread(sys.stdin.readline))
    return answer


def _expect(is_so: bool, otherwise: str) -> None:
    if not is_so:
        raise AssertionError(otherwise)
