"""The docs folder as part of the corpus."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from tests.docsite.folders import BIRDS, open_folder, write_folder
from tests.drafts import draft

from citewell.app.docs_corpus import store_docs
from citewell.app.open import App, already_open, open_app
from citewell.app.parts import Parts
from citewell.core.records import Caller, SearchFilter
from citewell.core.settings import Settings
from citewell.docsite.folder import DocsFolder
from citewell.tools.catalog import open_registry

pytestmark = pytest.mark.anyio

LINKED = {**BIRDS, "guide/owls.md": "# Owls\n\nOwls eat mice, unlike [herons](herons.md).\n"}


def settings(root: Path) -> Settings:
    return Settings(
        database_url="sqlite://",
        embedder="none",
        docs_root=str(root),
        docs_base_url="https://birds.example",
        project="marsh",
        mcp_toolsets=("all",),
    )


@asynccontextmanager
async def opened(settings: Settings, folder: DocsFolder) -> AsyncIterator[tuple[App, Parts]]:
    async with open_app(settings, replaced={"docs": already_open(folder)}) as app:
        yield app, await app.open("store", "ingester")


async def stored(parts: Parts) -> list[str]:
    pages = await parts.store.list_pages(SearchFilter(project="marsh"), limit=100)
    return sorted(page.url for page in pages)


async def test_pages_are_cited_by_their_address_on_the_website(tmp_path: Path) -> None:
    folder = open_folder(tmp_path, LINKED)

    async with opened(settings(tmp_path), folder) as (app, parts):
        written = await store_docs(parts, folder)
        evidence = await open_registry(parts.settings).call(
            "kb_retrieve_evidence",
            {"question": "What does the grey heron eat?"},
            app=app,
            caller=Caller(session="s", project="marsh"),
        )
        owls = await parts.store.find_page("https://birds.example/guide/owls.html", project="marsh")
        assert owls is not None
        page = await parts.store.get_page(owls.source_id)

    assert written == 4
    assert "https://birds.example/guide/herons.html" in evidence.text
    assert "The grey heron eats fish and frogs." in evidence.text
    assert page is not None
    assert [link.url for link in page.links] == ["https://birds.example/guide/herons.html"]


async def test_only_changed_files_are_stored_again_and_gone_ones_deleted(tmp_path: Path) -> None:
    folder = open_folder(tmp_path, LINKED)

    async with opened(settings(tmp_path), folder) as (_, parts):
        await store_docs(parts, folder)
        assert await store_docs(parts, folder) == 0

        write_folder(tmp_path, {"index.md": "# Birds\n\nNow with bitterns.\n"})
        (tmp_path / "ja/sagi.md").unlink()
        folder.refresh()

        assert await store_docs(parts, folder) == 1
        assert await stored(parts) == [
            "https://birds.example/",
            "https://birds.example/guide/herons.html",
            "https://birds.example/guide/owls.html",
        ]


async def test_pages_that_came_from_elsewhere_are_left_alone(tmp_path: Path) -> None:
    folder = open_folder(tmp_path, {"index.md": "# Birds\n\nHerons.\n", "empty.md": ""})
    fetched = draft("https://birds.example/blog", "The marsh in May.", project="marsh")

    async with opened(settings(tmp_path), folder) as (_, parts):
        await parts.store.put_page(fetched)
        await store_docs(parts, folder)

        assert await stored(parts) == ["https://birds.example/", "https://birds.example/blog"]


async def test_a_server_without_the_website_cites_the_files(tmp_path: Path) -> None:
    write_folder(tmp_path, LINKED)
    stdio = replace(settings(tmp_path), docs_base_url="")

    async with open_app(stdio) as app:
        parts = await app.open("background", "store")
        with anyio.fail_after(60):
            while len(await stored(parts)) < len(LINKED):
                await anyio.lowlevel.checkpoint()
        found = await open_registry(stdio).call(
            "search",
            {"query": "What does the grey heron eat?"},
            app=app,
            caller=Caller(session="s", project="marsh"),
        )

    assert (tmp_path / "guide/herons.md").as_uri() in found.text
