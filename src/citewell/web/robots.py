"""robots.txt by RFC 9309: its rules, and a cache of them for each origin."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

import anyio
from anyio import to_thread

from citewell.core.frozen import frozen
from citewell.web.urls import split_url

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from citewell.web.sandbox import Sandbox

# What RFC 9309 asks a crawler to read at least; more would be a burden, not a policy.
MAX_ROBOTS_BYTES = 500 * 1024
_LIFETIME_SECONDS = 24 * 3600.0
# A site in trouble disallows everything, but only for a short while.
_TROUBLE_LIFETIME_SECONDS = 60.0
_MAX_ORIGINS = 1_000
_MOST_KEPT_RULES = 300_000
# Some 20 ms of CPU: so many characters of rules and of the paths that they are compared with.
_QUICK_CHARACTERS = 5_000_000
_CHARACTERS_PER_RULE = 200

_LINE_END = re.compile(r"\r\n|\n|\r")
_SITEMAP = re.compile(r"^[ \t]*sitemap[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)
_MAX_SITEMAPS = 50
_PRODUCT_TOKEN = re.compile(r"[A-Za-z_-]*")
_PERCENT = re.compile(r"%([0-9a-fA-F]{2})")
# Bytes that mean the same whether percent-encoded or not (RFC 3986, unreserved).
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_FIELDS = {
    "user-agent": "agent",
    "useragent": "agent",
    "user agent": "agent",
    "allow": "allow",
    "disallow": "disallow",
    "dissallow": "disallow",
    "dissalow": "disallow",
    "disalow": "disallow",
    "diasllow": "disallow",
    "disallaw": "disallow",
    "crawl-delay": "delay",
}


@frozen
class RobotsAnswer:
    """What a site answered when asked for /robots.txt."""

    status: int
    body: bytes = b""


@frozen
class RobotsRules:
    """The rules of one robots.txt that apply to one crawler."""

    rules: tuple[tuple[str, bool], ...] = ()
    """Path patterns, each with whether it allows."""
    crawl_delay_seconds: float | None = None
    is_unreadable: bool = False
    """The site is in trouble: there may be rules, but they cannot be read."""
    sitemaps: tuple[str, ...] = ()
    """What the file names as sitemaps, for whichever crawler."""

    def may_fetch(self, url: str) -> bool:
        """Return whether the rules allow a canonical URL: the longest match decides."""
        path = _normal_path(split_url(url).target)
        longest, allowed = -1, True
        for pattern, allows in self.rules:
            if len(pattern) < longest or (len(pattern) == longest and not allows):
                continue
            if _matches(pattern, path):
                longest, allowed = len(pattern), allows
        return allowed

    def is_quick_for(self, url: str) -> bool:
        """Return whether `may_fetch` takes a moment only."""
        return len(self.rules) * (_CHARACTERS_PER_RULE + len(url)) <= _QUICK_CHARACTERS


ALLOW_ALL = RobotsRules()
DISALLOW_ALL = RobotsRules(rules=(("/", False),), is_unreadable=True)


@dataclass(slots=True)
class _Group:
    """The rules under one or several user-agent lines."""

    agents: list[str] = field(default_factory=list)
    rules: list[tuple[str, bool]] = field(default_factory=list)
    delay_seconds: float | None = None


def parse_robots(text: str, *, user_agent: str) -> RobotsRules:
    """Return the rules of a robots.txt for the crawler whose User-Agent is `user_agent`.

    Groups that name the crawler's product token are merged; without one, those for "*" apply.
    """
    token = product_token(user_agent)
    groups = _parse_groups(text)
    own = [group for group in groups if token and token in group.agents]
    chosen = own or [group for group in groups if "*" in group.agents]
    delays = [group.delay_seconds for group in chosen if group.delay_seconds is not None]
    return RobotsRules(
        rules=tuple(rule for group in chosen for rule in group.rules),
        crawl_delay_seconds=max(delays, default=None),
        sitemaps=tuple(dict.fromkeys(_SITEMAP.findall(text)))[:_MAX_SITEMAPS],
    )


def may_fetch(rules: tuple[tuple[str, bool], ...], url: str) -> bool:
    """Return whether the rules allow a canonical URL."""
    return RobotsRules(rules=rules).may_fetch(url)


def product_token(user_agent: str) -> str:
    """Return the name by which robots.txt knows a crawler: letters, "_" and "-", lower case."""
    match = _PRODUCT_TOKEN.match(user_agent)
    return match.group().lower() if match else ""


class RobotsCache:
    """Keeps the rules of each origin for a day; `ask` fetches a robots.txt by its URL.

    What `ask` raises reaches the caller: a host that cannot be reached has no rules to keep.
    """

    def __init__(
        self,
        ask: Callable[[str], Awaitable[RobotsAnswer]],
        *,
        user_agent: str,
        sandbox: Sandbox,
    ) -> None:
        self._ask = ask
        self._user_agent = user_agent
        self._sandbox = sandbox
        self._kept: OrderedDict[str, tuple[float, RobotsRules]] = OrderedDict()
        self._locks: dict[str, anyio.Lock] = {}

    async def rules_for(self, url: str) -> RobotsRules:
        """Return the rules that hold for a canonical URL, asking the site at most once a day."""
        parts = split_url(url)
        origin = parts.origin
        # Many pages of one site are fetched at once; only the first asks for its robots.txt.
        lock = self._locks.setdefault(origin, anyio.Lock())
        try:
            async with lock:
                rules = self._fresh(origin)
                if rules is None:
                    rules = await self._renew(origin, f"{url[: _host_end(url)]}/robots.txt")
                return rules
        finally:
            if not lock.statistics().tasks_waiting and not lock.locked():
                self._locks.pop(origin, None)

    async def may_fetch(self, url: str, rules: RobotsRules) -> bool:
        """Return what `rules` say of a canonical URL, from another process if they are many.

        Raises:
            ExtractionError: it took too long.
        """
        if rules.is_quick_for(url):
            return rules.may_fetch(url)
        return await self._sandbox.run(may_fetch, rules.rules, url)

    def _fresh(self, origin: str) -> RobotsRules | None:
        until, rules = self._kept.get(origin, (0.0, ALLOW_ALL))
        return rules if anyio.current_time() < until else None

    async def _renew(self, origin: str, robots_url: str) -> RobotsRules:
        answer = await self._ask(robots_url)
        lifetime = _LIFETIME_SECONDS
        if 200 <= answer.status < 300:
            text = answer.body[:MAX_ROBOTS_BYTES].decode("utf-8-sig", "replace")
            # Half a megabyte of rules takes a while, and others fetch meanwhile.
            rules = await to_thread.run_sync(
                partial(parse_robots, text, user_agent=self._user_agent)
            )
        elif answer.status < 500:
            rules = ALLOW_ALL
        else:
            rules, lifetime = DISALLOW_ALL, _TROUBLE_LIFETIME_SECONDS
        self._kept[origin] = (anyio.current_time() + lifetime, rules)
        self._kept.move_to_end(origin)
        kept_rules = sum(len(kept.rules) for _, kept in self._kept.values())
        while len(self._kept) > _MAX_ORIGINS or kept_rules > _MOST_KEPT_RULES:
            _, (_, dropped) = self._kept.popitem(last=False)
            kept_rules -= len(dropped.rules)
        return rules


def _host_end(url: str) -> int:
    return url.index("/", len("https://"))


def _parse_groups(text: str) -> list[_Group]:
    groups: list[_Group] = []
    naming_agents = False
    for line in _LINE_END.split(text.removeprefix("\ufeff")):
        name, value = _parse_line(line)
        if name is None:
            continue
        if name == "agent":
            if not naming_agents:
                groups.append(_Group())
            groups[-1].agents.append("*" if _is_any_agent(value) else product_token(value))
        elif groups:
            _add_rule(groups[-1], name, value)
        # Crawl-delay is no rule of the RFC and does not end the list of agents.
        naming_agents = bool(groups) and (name == "agent" or (naming_agents and name == "delay"))
    return groups


def _parse_line(line: str) -> tuple[str | None, str]:
    plain = line.partition("#")[0].strip()
    name, colon, value = plain.partition(":")
    if not colon:
        # Some sites forget the colon; two words still say what is meant.
        name, value = words if len(words := plain.split()) == 2 else ("", "")
    return _FIELDS.get(name.strip().lower()), value.strip()


def _is_any_agent(value: str) -> bool:
    return value == "*" or value.startswith(("* ", "*\t"))


def _add_rule(group: _Group, name: str, value: str) -> None:
    if name == "delay":
        if re.fullmatch(r"\d{1,6}(\.\d*)?", value, re.ASCII):
            group.delay_seconds = float(value)
    elif value:
        group.rules.append((_normal_path(value), name == "allow"))


def _normal_path(path: str) -> str:
    """Return `path` with one spelling for each byte, so that equal paths are equal strings."""
    encoded = quote(path, safe="/%:?#[]@!$&'()*+,;=\"<>\\^`{|}~")
    return _PERCENT.sub(_decode_unreserved, encoded)


def _decode_unreserved(match: re.Match[str]) -> str:
    byte = int(match.group(1), 16)
    return chr(byte) if byte in _UNRESERVED else match.group().upper()


def _matches(pattern: str, path: str) -> bool:
    """Match by hand: as a regular expression, a hostile pattern could take for ever."""
    anchored = pattern.endswith("$")
    first, *others = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    position = len(first)
    last = others.pop() if anchored and others else None
    for part in others:
        place = path.find(part, position)
        if place < 0:
            return False
        position = place + len(part)
    if last is not None:
        return len(path) - len(last) >= position and path.endswith(last)
    return not anchored or position == len(path)
