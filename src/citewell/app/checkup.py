"""Check whether this machine has what Citewell needs, and say how to fix what is missing."""

from __future__ import annotations

import os
import shutil
import ssl
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from citewell.app.open import open_app
from citewell.core.errors import CitewellError, HostUnreachable
from citewell.core.frozen import frozen
from citewell.core.records import SearchFilter
from citewell.core.text import counted
from citewell.inference.names import missing_embedder_note, vector_model
from citewell.store.open import database_file, open_store

if TYPE_CHECKING:
    from pathlib import Path

    from citewell.core.settings import Settings

State = Literal["ok", "note", "problem"]

_IN_MEMORY = "sqlite://"
_LEAST_FREE_BYTES = 50_000_000


@frozen
class Finding:
    """The result of one check; a `note` is about something optional that is missing."""

    name: str
    state: State
    message: str
    fix: str = ""


async def check_network(settings: Settings, url: str) -> Finding:
    """Fetch a page with the same limits, proxy rules and certificates as any other."""
    # In memory: checking the network must not create a library.
    async with open_app(replace(settings, database_url=_IN_MEMORY), role="command") as app:
        fetcher = (await app.open("fetcher")).fetcher
        try:
            await fetcher.fetch(url)
        except CitewellError as error:
            is_certificate = _has_cause(error, ssl.SSLError)
            name = "certificates" if is_certificate else "network"
            fix = error.suggestion
            if is_certificate:
                fix = "Install the CA of your proxy, or point SSL_CERT_FILE at its bundle."
            elif isinstance(error, HostUnreachable):
                fix = (
                    "Check the network connection, its name server and its firewall. Files and "
                    "indexed pages work without it."
                )
            return Finding(name=name, state="problem", message=error.message, fix=fix)
    return Finding(name="network", state="ok", message=f"{url} was fetched, its certificate holds")


def check_browser(settings: Settings) -> Finding:
    """Look for the browser that renders pages made by scripts."""
    from citewell.web.render.open import what_rendering_lacks

    missing = what_rendering_lacks(settings.render_browser_path)
    if missing is None:
        return Finding(name="browser", state="ok", message="pages made by scripts can be rendered")
    message = f"{missing.message}; pages made by scripts are read as they are sent"
    return Finding(name="browser", state="note", message=message, fix=missing.suggestion)


async def check_database(settings: Settings) -> Finding:
    """Open the database, if there is one, and count its pages."""
    file = database_file(settings.database_url)
    if file is not None and not file.exists():
        if (trouble := _cannot_write(file)) is not None:
            return trouble
        message = f"{file} will be made by the first page that is indexed"
        return Finding(name="database", state="note", message=message, fix="citewell ingest URL")
    try:
        store = await open_store(settings.database_url, schema=settings.postgres_schema)
        try:
            stats = await store.corpus_stats(SearchFilter(project=settings.project))
        finally:
            await store.aclose()
    except CitewellError as error:
        reason = str(error.__cause__ or "").partition("\n")[0]
        message = f"{error.message}: {reason}" if reason else error.message
        return Finding(name="database", state="problem", message=message, fix=error.suggestion)
    if file is not None and (trouble := _cannot_write(file)) is not None:
        return trouble
    message = f"{counted(stats.pages, 'page')}, {counted(stats.chunks, 'chunk')}"
    return Finding(name="database", state="ok", message=message)


async def check_model(settings: Settings) -> Finding:
    """Load the embedder and have it embed a word."""
    if (note := missing_embedder_note(settings.embedder)) is not None:
        return Finding(name="model", state="problem", message="searches use words only", fix=note)
    try:
        model = vector_model(settings.embedder)
        if model is None:
            message = "CITEWELL_EMBEDDER is none: searches use words only"
            return Finding(name="model", state="ok", message=message)
        async with open_app(replace(settings, database_url=_IN_MEMORY), role="command") as app:
            embedder = (await app.open("embedder")).embedder
            assert embedder is not None, "a model has an embedder"
            await embedder.embed_query("heron")
    except CitewellError as error:
        return Finding(name="model", state="problem", message=error.message, fix=error.suggestion)
    return Finding(name="model", state="ok", message=f"{model} works")


def _cannot_write(file: Path) -> Finding | None:
    place = file if file.exists() else next(folder for folder in file.parents if folder.exists())
    free = shutil.disk_usage(place if place.is_dir() else place.parent).free
    if free <= _LEAST_FREE_BYTES:
        message = f"{place}: the disk is full"
        fix = "Free some space, or name a --database on another disk."
    elif not os.access(place, os.W_OK):
        message = f"{place} cannot be written"
        fix = f"Make it writable (chmod u+w {place}), or name another --database."
    else:
        return None
    return Finding(name="permissions", state="problem", message=message, fix=fix)


def _has_cause(error: BaseException | None, kind: type[BaseException]) -> bool:
    while error is not None:
        if isinstance(error, kind):
            return True
        error = error.__cause__ or error.__context__
    return False
