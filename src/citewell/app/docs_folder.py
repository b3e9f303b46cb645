"""The docs folder that the settings name."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread
from platformdirs import user_cache_path

from citewell.core.errors import SettingsError
from citewell.core.hosts import local_url
from citewell.core.ids import content_hash
from citewell.docsite.folder import DocsFolder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.app.parts import Assembly
    from citewell.core.settings import Settings

__all__ = [
    "DocsFolder",
    "base_url",
    "cache_root",
    "open_docs",
    "open_docs_part",
    "require_docs",
    "with_base_url",
]


@asynccontextmanager
async def open_docs_part(assembly: Assembly) -> AsyncIterator[DocsFolder | None]:
    """Give the docs folder that is served; None when none is set."""
    yield await to_thread.run_sync(open_docs, assembly.settings)


def open_docs(settings: Settings) -> DocsFolder | None:
    """Return the folder that is served, indexed; None when none is set.

    Raises:
        SettingsError: it is not there.
    """
    if not settings.docs_root:
        return None
    return DocsFolder.open(
        Path(settings.docs_root),
        cache_root=cache_root(settings),
        snippet_length=settings.mcp_snippet_length,
    )


def require_docs(settings: Settings) -> DocsFolder:
    """Return the folder that is served, indexed.

    Raises:
        SettingsError: none is set, or it is not there.
    """
    folder = open_docs(settings)
    if folder is None:
        raise SettingsError("no docs folder is named: give one, or set CITEWELL_DOCS_ROOT")
    return folder


def cache_root(settings: Settings) -> Path:
    """Return where the index is kept: as set, or a folder in the user's cache."""
    if settings.docs_cache_root:
        return Path(settings.docs_cache_root)
    name = content_hash(str(Path(settings.docs_root).resolve()))[:16]
    return user_cache_path("citewell") / "docs" / name


def base_url(settings: Settings) -> str:
    """Return the URL of the website without a trailing slash; empty when there is none."""
    return settings.docs_base_url.rstrip("/")


def with_base_url(settings: Settings) -> Settings:
    """Return the settings with the URL of the website; the server's own address if none is set.

    Pages are stored under it, so it should stay the same from start to start.
    """
    if settings.docs_base_url:
        return settings
    return replace(settings, docs_base_url=local_url(settings.mcp_host, settings.mcp_port))
