"""Fetches a page: robots, pace, redirects, retries and limits around single requests."""

from __future__ import annotations

import math
import random
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Self

import anyio

from citewell import __version__
from citewell.core.boundary import label
from citewell.core.errors import (
    AddressRefused,
    FetchError,
    FetchTimeout,
    HostUnreachable,
    HttpStatusError,
    NotAUrl,
    PageNeedsLogin,
    PageNotFound,
    RobotsDisallowed,
    TooManyRedirects,
)
from citewell.core.frozen import frozen
from citewell.core.records import FetchedPage
from citewell.web.address_guard import AddressGuard, GuardedNetwork, Resolve
from citewell.web.asked_for import asked_for_itself
from citewell.web.body import OpenedBody, open_body
from citewell.web.content import kind_of_type, refuse_binary_type
from citewell.web.host_limiter import HostLimiter, SharedTurns
from citewell.web.http_client import HttpClient, OpenAnswer, may_pass
from citewell.web.meta_refresh import refresh_of_header
from citewell.web.robots import MAX_ROBOTS_BYTES, RobotsAnswer, RobotsCache
from citewell.web.sandbox import Sandbox
from citewell.web.urls import canonical_url, resolve_url, shown_url, split_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

_ACCEPT = (
    "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, "
    "application/pdf;q=0.7, application/json;q=0.7, application/xml;q=0.7, */*;q=0.1"
)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PASSING_STATUSES = frozenset({429, 500, 502, 503, 504})
_GONE_STATUSES = frozenset({404, 410})
_FIRST_BACK_OFF_SECONDS = 0.25
# So much is decoded within milliseconds; what is larger, where it holds nobody up.
_AT_ONCE_BYTES = 64 * 1024
# RFC 9309 §2.3.1.2.
_MAX_ROBOTS_REDIRECTS = 5


@frozen
class _Reply:
    """One answer, read as far as it matters: the body of a page, or the target of a redirect."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    redirect: str | None = None


@dataclass(kw_only=True, eq=False)
class Fetcher:
    """Fetches pages from the web; use it as an async context manager.

    `timeout_seconds` is for one page with all its redirects and retries; waiting for a turn on
    a busy host does not count. `allowed_ports` and `allowed_private_hosts` are described at
    `AddressGuard`.
    """

    user_agent: str = f"Citewell/{__version__}"
    timeout_seconds: float = 20.0
    max_page_bytes: int = 20_000_000
    max_redirects: int = 8
    max_retries: int = 2
    respect_robots: bool = True
    host_concurrency: int = 4
    host_delay_seconds: float = 0.0
    allowed_ports: tuple[str, ...] = ("80", "443", "8000", "8080", "8443")
    allowed_private_hosts: tuple[str, ...] = ()
    shared_turns: SharedTurns | None = None
    """Turns on hosts that other processes take too; None where there are none."""
    resolve: Resolve | None = None
    """How names become addresses; the operating system's way if not given."""
    sandbox: Sandbox = field(default_factory=Sandbox, repr=False)
    """Where large bodies are decoded and parsed; it is closed with the fetcher."""
    guard: AddressGuard = field(init=False, repr=False)
    """Which addresses may be reached; whoever else connects for a page asks it too."""
    _client: HttpClient = field(init=False, repr=False)
    _limiter: HostLimiter = field(init=False, repr=False)
    _robots: RobotsCache = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.guard = AddressGuard(
            allowed_ports=self.allowed_ports,
            allowed_private_hosts=self.allowed_private_hosts,
            resolve=self.resolve,
        )
        self._client = HttpClient(GuardedNetwork(self.guard), user_agent=self.user_agent)
        self._limiter = HostLimiter(
            concurrency=self.host_concurrency,
            delay_seconds=self.host_delay_seconds,
            shared=self.shared_turns,
        )
        self._robots = RobotsCache(
            self._ask_robots, user_agent=self.user_agent, sandbox=self.sandbox
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()
        await self.sandbox.aclose()

    async def fetch(
        self, url: str, *, etag: str | None = None, last_modified: str | None = None
    ) -> FetchedPage:
        """Return the page at `url`; `redirects` holds the URLs it led to, the last being final.

        With `etag` or `last_modified` of an earlier fetch, a page that has not changed since
        comes back `not_modified`, without its body.

        Raises:
            NotAUrl: `url` is not an http or https URL.
            FetchError: the page could not be had; each subclass says why.
        """
        start = canonical_url(url)
        headers = {"Accept": _ACCEPT}
        if etag:
            headers["If-None-Match"] = etag
        if last_modified:
            headers["If-Modified-Since"] = last_modified
        with asked_for_itself(start), anyio.move_on_after(self.timeout_seconds) as limit:
            return await self._follow(start, headers, limit)
        raise FetchTimeout(
            f"{shown_url(start)} did not arrive within {self.timeout_seconds:g} seconds",
            timeout_seconds=self.timeout_seconds,
        )

    async def fetch_file(self, url: str) -> bytes:
        """Return the bytes at `url`, of whatever type: a sitemap, perhaps a compressed one.

        Raises:
            NotAUrl: `url` is not an http or https URL.
            FetchError: they could not be had; each subclass says why.
        """
        at = canonical_url(url)
        with asked_for_itself(at), anyio.move_on_after(self.timeout_seconds):
            for _ in range(self.max_redirects + 1):
                async with self.visit(at), self._client.get(at, {"Accept": "*/*"}) as answer:
                    if answer.status not in _REDIRECTS:
                        if not 200 <= answer.status < 300:
                            reply = _Reply(status=answer.status, headers=answer.headers)
                            raise _status_error(at, reply)
                        return await answer.read(max_bytes=self.max_page_bytes)
                    at = _redirect_target(at, _url_header(answer, "location"))
            raise TooManyRedirects(f"{shown_url(url)} is redirected too often")
        raise FetchTimeout(
            f"{shown_url(url)} did not arrive within {self.timeout_seconds:g} seconds",
            timeout_seconds=self.timeout_seconds,
        )

    async def sitemaps_of(self, url: str) -> tuple[str, ...]:
        """Return the sitemaps that the robots.txt of a canonical URL's site names.

        Raises:
            FetchError: the site cannot be reached.
        """
        with asked_for_itself(url):
            return (await self._robots.rules_for(url)).sitemaps

    async def _follow(
        self, start: str, headers: Mapping[str, str], limit: anyio.CancelScope
    ) -> FetchedPage:
        redirects: list[str] = []
        url, pace = start, True
        while True:
            reply = await self._request_in_turn(url, headers, limit, paced=pace)
            target = reply.redirect
            if target is None:
                page, onward = await self._open_page(start, url, reply, tuple(redirects))
                target = _refresh_target(url, onward)
                if target is None:
                    return page
            if target in (start, *redirects) or len(redirects) >= self.max_redirects:
                raise TooManyRedirects(
                    f"{shown_url(start)} is redirected in a loop or more than "
                    f"{self.max_redirects} times",
                    redirects=len(redirects) + 1,
                )
            redirects.append(_with_route_of(url, target))
            # A redirect within a host is one visit: the pause it asks for is between pages.
            pace = split_url(url).host != split_url(target).host
            url = redirects[-1]

    async def _open_page(
        self, start: str, final: str, reply: _Reply, redirects: tuple[str, ...]
    ) -> tuple[FetchedPage, str | None]:
        """Return the page, and where it sends its reader on to."""
        content_type = reply.headers.get("content-type", "")
        if reply.status == 304:
            opened = OpenedBody(kind_of_type(content_type) or "html", "", "utf-8", None)
        elif len(reply.body) <= _AT_ONCE_BYTES:
            opened = open_body(reply.body, content_type, final)
        else:
            opened = OpenedBody(*await self.sandbox.run(open_body, reply.body, content_type, final))
        return _page(start, final, reply, opened, redirects=redirects), opened.onward

    async def _request_in_turn(
        self, url: str, headers: Mapping[str, str], limit: anyio.CancelScope, *, paced: bool
    ) -> _Reply:
        delay_seconds = await self.check_robots(url)
        async with self._turn(url, limit, delay_seconds=delay_seconds if paced else None):
            return await self._request_with_retries(url, headers, limit)

    @asynccontextmanager
    async def _turn(
        self, url: str, limit: anyio.CancelScope, *, delay_seconds: float | None
    ) -> AsyncIterator[None]:
        """Hold a turn on the host; the time limit stands still until the turn comes."""
        left = limit.deadline - anyio.current_time()
        limit.deadline = math.inf
        async with self._limiter.turn(split_url(url).host, delay_seconds=delay_seconds):
            limit.deadline = anyio.current_time() + left
            yield

    @asynccontextmanager
    async def visit(self, url: str) -> AsyncIterator[None]:
        """Hold a turn on the host of a canonical URL, for whoever else fetches from it.

        Raises:
            RobotsDisallowed: the page may not be fetched.
        """
        delay_seconds = await self.check_robots(url)
        async with self._limiter.turn(split_url(url).host, delay_seconds=delay_seconds):
            yield

    async def check_robots(self, url: str) -> float | None:
        """Return the pause between pages that robots.txt asks for.

        Raises:
            RobotsDisallowed: the page may not be fetched.
        """
        if not self.respect_robots:
            return None
        rules = await self._robots.rules_for(url)
        if rules.is_unreadable:
            host = split_url(url).host
            raise RobotsDisallowed(
                f"the robots.txt of {host} answers with a server error, "
                "so nothing of the site may be fetched for now",
                may_pass=True,
                host=host,
            )
        if not await self._robots.may_fetch(url, rules):
            raise RobotsDisallowed(f"robots.txt does not allow {shown_url(url)} to be fetched")
        return rules.crawl_delay_seconds

    async def _ask_robots(self, robots_url: str) -> RobotsAnswer:
        url = robots_url
        for _ in range(_MAX_ROBOTS_REDIRECTS + 1):
            async with self._client.get(url, {"Accept": "text/plain, */*;q=0.1"}) as answer:
                if answer.status not in _REDIRECTS:
                    is_text = 200 <= answer.status < 300
                    body = await answer.read_start(max_bytes=MAX_ROBOTS_BYTES) if is_text else b""
                    return RobotsAnswer(status=answer.status, body=body)
                url = _redirect_target(url, _url_header(answer, "location"))
        return RobotsAnswer(status=404)

    async def _request_with_retries(
        self, url: str, headers: Mapping[str, str], limit: anyio.CancelScope
    ) -> _Reply:
        for attempt in range(self.max_retries + 1):
            back_off = _FIRST_BACK_OFF_SECONDS * 2**attempt * random.uniform(1.0, 1.5)
            failure: FetchError
            wait_seconds: float | None
            try:
                reply = await self._request(url, headers)
            except HostUnreachable as error:
                failure = error
                wait_seconds = back_off if may_pass(error) else None
            else:
                if reply.status not in _PASSING_STATUSES:
                    return reply
                failure = _status_error(url, reply)
                wait_seconds = _retry_after(reply, default=back_off)
            left = limit.deadline - anyio.current_time()
            if wait_seconds is None or wait_seconds >= left or attempt == self.max_retries:
                raise failure
            await anyio.sleep(wait_seconds)
        raise AssertionError("the loop ends by returning or raising")

    async def _request(self, url: str, headers: Mapping[str, str]) -> _Reply:
        async with self._client.get(url, headers) as answer:
            status = answer.status
            reply = _Reply(status=status, headers=answer.headers)
            if status in _REDIRECTS and "location" in answer.headers:
                location = _redirect_target(url, _url_header(answer, "location"))
                return _Reply(status=status, headers=answer.headers, redirect=location)
            if status == 304 and ("If-None-Match" in headers or "If-Modified-Since" in headers):
                await answer.read_start(max_bytes=1)  # nothing, but it frees the connection
                return reply
            if status in _PASSING_STATUSES:
                return reply
            if not 200 <= status < 300:
                raise _status_error(url, reply)
            onward = refresh_of_header(_url_header(answer, "refresh"))
            if (target := _refresh_target(url, onward)) is not None:
                return _Reply(status=status, headers=answer.headers, redirect=target)
            refuse_binary_type(answer.headers.get("content-type", ""), url=url)
            body = await answer.read(max_bytes=self.max_page_bytes)
            return _Reply(status=status, headers=answer.headers, body=body)


def _page(
    start: str, final: str, reply: _Reply, opened: OpenedBody, *, redirects: tuple[str, ...]
) -> FetchedPage:
    return FetchedPage(
        url=start,
        final_url=final,
        status=reply.status,
        kind=opened.kind,
        body=reply.body,
        text=opened.text,
        encoding=opened.encoding,
        fetched_at=datetime.now(UTC),
        etag=reply.headers.get("etag"),
        last_modified=reply.headers.get("last-modified"),
        not_modified=reply.status == 304,
        redirects=redirects,
        robots_tag=reply.headers.get("x-robots-tag", ""),
        headers=tuple(reply.headers.items()),
    )


def _refresh_target(url: str, written: str | None) -> str | None:
    """Return where a page sends its reader on to; None where that is the page itself."""
    target = None if written is None else _redirect_target(url, written)
    return None if target == url else target


def _url_header(answer: OpenAnswer, name: str) -> str:
    # Servers send the bytes of the URL as they are; browsers read them as UTF-8.
    return answer.headers.get(name, "").encode("latin-1").decode("utf-8", "replace")


def _redirect_target(url: str, location: str) -> str:
    target = resolve_url(url, location)
    try:
        return canonical_url(target or location)
    except NotAUrl as error:
        named = label(shown_url(location))
        raise AddressRefused(
            f"{shown_url(url)} leads to '{named}', which is not an address that may be fetched",
            target=named,
        ) from error


def _with_route_of(url: str, target: str) -> str:
    """Return where a redirect leads: as in a browser, a route is kept unless it names another."""
    _, mark, route = url.partition("#")
    return target if "#" in target else f"{target}{mark}{route}"


def _status_error(url: str, reply: _Reply) -> FetchError:
    if reply.status == 401:
        return PageNeedsLogin(f"{shown_url(url)} asks for a login", status=reply.status)
    if reply.status in _GONE_STATUSES:
        return PageNotFound(f"{shown_url(url)} does not exist", status=reply.status)
    message = f"{shown_url(url)} answers with status {reply.status}"
    retry_after = _retry_after(reply, default=None)
    if retry_after is None:
        return HttpStatusError(message, status=reply.status)
    return HttpStatusError(message, status=reply.status, retry_after=retry_after)


def _retry_after(reply: _Reply, *, default: float | None) -> float | None:
    value = reply.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", value):
        return float(value)
    try:
        moment = parsedate_to_datetime(value).astimezone(UTC)
    except (ValueError, OverflowError):
        return default
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
