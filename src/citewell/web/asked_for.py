"""Which sites a caller named itself: only there do exceptions for private hosts hold.

A redirect, a link or a sitemap can name any address, also one that its author cannot reach.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from citewell.core.errors import NotAUrl
from citewell.web.urls import canonical_url, split_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# The same host over http and https, with "www." or without it, is one site.
_USUAL_PORTS = (80, 443)

_asked: ContextVar[frozenset[tuple[str, int | None]] | None] = ContextVar("asked", default=None)


@contextmanager
def asked_for(urls: Iterable[str]) -> Iterator[None]:
    """Say which URLs whatever is fetched within was asked for as, or was found on."""
    token = _asked.set(frozenset(site for url in urls if (site := _site_of(url)) is not None))
    try:
        yield
    finally:
        _asked.reset(token)


@contextmanager
def asked_for_itself(url: str) -> Iterator[None]:
    """Say that a URL is asked for by its own name, unless somebody has said otherwise."""
    if _asked.get() is not None:
        yield
        return
    with asked_for([url]):
        yield


def was_asked_for(host: str, port: int) -> bool:
    """Return whether the site of a host was named by the caller; so is any if nobody said which."""
    asked = _asked.get()
    return asked is None or _site(host, port) in asked


def _site_of(url: str) -> tuple[str, int | None] | None:
    try:
        parts = split_url(canonical_url(url))
    except NotAUrl:
        return None  # a file or a package, which leads to no host of its own
    return _site(parts.host, parts.port)


def _site(host: str, port: int) -> tuple[str, int | None]:
    name = host.strip("[]").lower().removesuffix(".").removeprefix("www.")
    return name, None if port in _USUAL_PORTS else port
