"""Which search engines to ask, and whether they have what they need; imports no HTTP client."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from citewell.core.errors import SettingsError
from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence


@frozen
class EngineAccess:
    """The keys and addresses of the engines; an engine without what it needs is not set up."""

    google_api_key: str | None = field(default=None, repr=False)
    google_cx: str | None = None
    brave_api_key: str | None = field(default=None, repr=False)
    tavily_api_key: str | None = field(default=None, repr=False)
    searxng_url: str | None = None
    urls: tuple[str, ...] = ()
    """`engine=URL` for an API that stands at another address, such as a proxy of one's own."""


NEEDS = {
    "google": ("google_api_key", "google_cx"),
    "brave": ("brave_api_key",),
    "tavily": ("tavily_api_key",),
    "searxng": ("searxng_url",),
    "duckduckgo": (),
}


def chosen_engines(names: Sequence[str], access: EngineAccess) -> list[str]:
    """Return the engines to ask, in order: those named, else those that were given a key.

    DuckDuckGo needs no key, and is asked only when it is named.

    Raises:
        SettingsError: a named engine does not exist or lacks its key.
    """
    if not names:
        return [name for name, needs in NEEDS.items() if needs and not _missing(name, access)]
    for name in names:
        if name not in NEEDS:
            listed = ", ".join(NEEDS)
            raise SettingsError(
                f"CITEWELL_WEB_SEARCH_ENGINES names {name!r}; the engines are {listed}"
            )
        if missing := _missing(name, access):
            settings = " and ".join(f"CITEWELL_WEB_SEARCH_{need.upper()}" for need in missing)
            raise SettingsError(f"CITEWELL_WEB_SEARCH_ENGINES names {name}: set {settings}")
    return list(dict.fromkeys(names))


def _missing(name: str, access: EngineAccess) -> list[str]:
    return [need for need in NEEDS[name] if not getattr(access, need)]
