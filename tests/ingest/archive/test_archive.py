"""A library goes into one file and comes out of it again, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest
from tests.drafts import FETCHED_AT, draft
from tests.hashing_embedder import HashingEmbedder

from citewell.core.errors import ArchiveRefused
from citewell.core.library import CrawlOptions, Fields, WebsiteDraft, WebsiteQuery
from citewell.core.records import SearchFilter
from citewell.core.storage import PageResponse
from citewell.core.words import words
from citewell.ingest.archive.format import FORMAT, VERSION
from citewell.ingest.archive.read import import_archive
from citewell.ingest.archive.write import write_archive
from citewell.store.open import open_store
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

MODEL = HashingEmbedder()
HERONS = draft(
    "https://birds.example/herons",
    "The grey heron eats fish.",
    "鷺は魚を食べる。",
    title="Herons",
    heading="Food",
    tags=("birds",),
    content_type="blog_article",
    etag='"1"',
)
OWLS = draft("https://birds.example/owls", "The tawny owl eats mice.", title="Owls")
EVERYTHING = SearchFilter(project="default")


@pytest.fixture
async def target() -> AsyncIterator[Store]:
    """A store with nothing in it."""
    store = await open_store("sqlite://", model=MODEL.name)
    yield store
    await store.aclose()


@pytest.fixture
async def source() -> AsyncIterator[Store]:
    """A store with two pages, their vectors, and a site that holds both."""
    store = await open_store("sqlite://", model=MODEL.name)
    await fill(store)
    yield store
    await store.aclose()


async def fill(store: Store) -> None:
    for page in (HERONS, OWLS):
        await store.put_page(page)
    waiting = await store.chunks_to_embed(model=MODEL.name, limit=100)
    vectors = await MODEL.embed_passages([text for _, text in waiting])
    ids = [chunk_id for chunk_id, _ in waiting]
    await store.put_vectors(dict(zip(ids, vectors, strict=True)), model=MODEL.name)
    now = datetime.now(UTC)
    site = WebsiteDraft(
        url="https://birds.example/",
        kind="site",
        content_type="blog_article",
        tags=("birds",),
        options=CrawlOptions(max_pages=7, include=("/h*",)),
    )
    website, _ = await store.library.add_website(site, now=now)
    for page in (HERONS, OWLS):
        found = await store.find_page(page.url, project="default")
        assert found is not None
        fields: Fields = {"author": [{"value": "Jane", "quote": "Jane"}]} if page is HERONS else {}
        await store.library.join_page(website.source_id, found.source_id, fields=fields)
    await store.library.finish_website(website.source_id, "completed", now=now, title="Birds")


def permissions(path: Path) -> str:
    return stat.filemode(path.stat().st_mode)


async def test_only_its_owner_can_read_an_archive(tmp_path: Path, source: Store) -> None:
    path = tmp_path / "library.zip"
    before = os.umask(0o022)
    try:
        await write_archive(path, store=source, project="default", model=MODEL.name)
    finally:
        os.umask(before)

    assert permissions(path) == "-rw-------"


async def test_supplied_text_stays_supplied_and_gives_way_to_a_fetched_page(
    tmp_path: Path, target: Store
) -> None:
    supplied = draft("https://birds.example/notes", "Herons bark.")
    supplied = replace(
        supplied, fetched=replace(supplied.fetched, origin="supplied", supplied_by="ann (…c0de)")
    )
    store = await open_store("sqlite://")
    await store.put_page(supplied)
    await write_archive(tmp_path / "notes.zip", store=store, project="default", model=None)
    await store.aclose()

    await import_archive(tmp_path / "notes.zip", store=target, project="default")
    first = await target.find_page(supplied.url, project="default")
    await target.put_page(draft(supplied.url, "Herons wade."))
    again = await import_archive(tmp_path / "notes.zip", store=target, project="default")
    second = await target.find_page(supplied.url, project="default")

    assert first is not None
    assert second is not None
    assert (first.origin, second.origin, again.pages_written) == ("supplied", "fetched", 0)
    assert (first.supplied_by, second.supplied_by) == ("ann (…c0de)", "")


async def test_a_library_comes_out_as_it_went_in(
    tmp_path: Path, source: Store, target: Store
) -> None:
    path = tmp_path / "library.zip"

    manifest = await write_archive(path, store=source, project="default", model=MODEL.name)
    imported = await import_archive(path, store=target, project="default")

    assert (manifest.pages, manifest.chunks, manifest.websites) == (2, 3, 1)
    assert (imported.pages_written, imported.websites_added) == (2, 1)
    before = await source.find_page(HERONS.url, project="default")
    after = await target.find_page(HERONS.url, project="default")
    assert before is not None
    assert after is not None
    assert after.text_hash == before.text_hash
    assert (after.title, after.tags, after.etag) == ("Herons", ("birds",), '"1"')
    assert after.embedded_chunks == after.chunks == 2
    assert after.fetched_at == FETCHED_AT
    hits = await target.search_words(words("鷺は魚"), where=EVERYTHING, limit=5)
    vector = await MODEL.embed_query("Owls tawny owl mice")
    near = await target.search_vectors(vector, model=MODEL.name, where=EVERYTHING, limit=1)
    (by_words,) = await target.load_chunks([hits[0].chunk_id])
    (by_vector,) = await target.load_chunks([near[0].chunk_id])
    assert by_words.text == "鷺は魚を食べる。"
    assert by_vector.text == "The tawny owl eats mice."
    website = (await target.library.list_websites(WebsiteQuery())).websites[0]
    assert (website.title, website.status, website.pages) == ("Birds", "completed", 2)
    assert website.fetched_at == FETCHED_AT
    assert website.options == CrawlOptions(max_pages=7, include=("/h*",))
    fields = await target.library.fields_of([after.source_id])
    assert fields[after.source_id]["author"] == [{"value": "Jane", "quote": "Jane"}]


DESCRIBED = replace(
    HERONS,
    extracted=replace(
        HERONS.extracted,
        canonical_url="https://birds.example/heron",
        description="What herons eat.",
        structured_data='[{"@type":"Article"}]',
    ),
)


async def described_page(store: Store) -> tuple[str | None, str, str]:
    """What the stored page says of itself."""
    info = await store.find_page(DESCRIBED.url, project="default")
    assert info is not None
    page = await store.get_page(info.source_id)
    assert page is not None
    return page.canonical_url, page.description, page.structured_data


async def test_what_a_page_says_of_itself_comes_along(
    tmp_path: Path, source: Store, target: Store
) -> None:
    path = tmp_path / "library.zip"
    await source.put_page(DESCRIBED)

    await write_archive(path, store=source, project="default", model=None)
    await import_archive(path, store=target, project="default")

    assert await described_page(target) == (
        "https://birds.example/heron",
        "What herons eat.",
        '[{"@type":"Article"}]',
    )


@pytest.mark.parametrize("max_bytes", [0, 10, 10_000], ids=["none kept", "too small", "kept"])
async def test_responses_come_along_as_far_as_they_may_be_kept(
    tmp_path: Path, target: Store, source: Store, max_bytes: int
) -> None:
    path = tmp_path / "library.zip"
    response = PageResponse(
        status=203,
        final_url=HERONS.url,
        content_type="text/html; charset=latin-1",
        headers=(("x-robots-tag", "noindex"),),
        body="<p>The grey heron eats fish – \0 é.</p>".encode("cp1252") * 9,
        fetched_at=FETCHED_AT,
    )
    here = await source.find_page(HERONS.url, project="default")
    assert here is not None
    await source.responses.put_response(here.source_id, response)

    await write_archive(path, store=source, project="default", model=MODEL.name)
    await import_archive(path, store=target, project="default", response_max_bytes=max_bytes)

    there = await target.find_page(HERONS.url, project="default")
    assert there is not None
    kept = await target.responses.get_response(there.source_id)
    assert kept == (response if max_bytes == 10_000 else None)


async def test_a_file_of_the_first_version_can_still_be_read(
    tmp_path: Path, source: Store, target: Store
) -> None:
    path = tmp_path / "library.zip"
    await source.put_page(DESCRIBED)
    await write_archive(path, store=source, project="default", model=None)
    make_first_version(path)

    imported = await import_archive(path, store=target, project="default")

    assert imported.pages_written == 2
    assert await described_page(target) == (None, "", "[]")


def make_first_version(path: Path) -> None:
    """Take from an archive what files of the first version did not have."""
    with zipfile.ZipFile(path) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    manifest = json.loads(parts.pop("manifest.json"))
    pages = [json.loads(line) for line in parts["pages/00000.jsonl"].splitlines()]
    for page in pages:
        for name in ("canonical_url", "description", "structured_data"):
            del page[name]
    parts["pages/00000.jsonl"] = "".join(json.dumps(page) + "\n" for page in pages).encode()
    manifest["version"] = 1
    manifest["parts"] = {name: hashlib.sha256(body).hexdigest() for name, body in parts.items()}
    with zipfile.ZipFile(path, "w") as first:
        for name, body in {**parts, "manifest.json": json.dumps(manifest).encode()}.items():
            first.writestr(name, body)


async def test_a_second_import_changes_nothing(
    tmp_path: Path, source: Store, target: Store
) -> None:
    path = tmp_path / "library.zip"
    await write_archive(path, store=source, project="default", model=MODEL.name)
    await import_archive(path, store=target, project="default")

    again = await import_archive(path, store=target, project="default")

    assert (again.pages_written, again.pages_unchanged) == (0, 2)
    assert (again.websites_added, again.websites_known) == (0, 1)


async def test_an_import_that_was_cut_short_goes_on(
    tmp_path: Path, source: Store, target: Store
) -> None:
    path = tmp_path / "library.zip"
    await write_archive(path, store=source, project="default", model=MODEL.name)
    # The page is there, its vectors and the website are not: as after a kill between the two.
    await target.put_page(HERONS)

    imported = await import_archive(path, store=target, project="default")

    assert imported.pages_written == 2
    page = await target.find_page(HERONS.url, project="default")
    assert page is not None
    assert page.embedded_chunks == 2


async def test_a_page_that_was_fetched_later_stays(
    tmp_path: Path, source: Store, target: Store
) -> None:
    path = tmp_path / "library.zip"
    later = draft(HERONS.url, "Herons eat frogs.", fetched_at=FETCHED_AT + timedelta(days=1))
    await write_archive(path, store=source, project="default", model=MODEL.name)
    await target.put_page(later)

    imported = await import_archive(path, store=target, project="default")

    assert imported.pages_newer == 1
    assert await target.search_words(words("frogs"), where=EVERYTHING, limit=5)


async def test_a_damaged_file_is_refused_before_anything_is_written(
    tmp_path: Path, source: Store, target: Store
) -> None:
    path = tmp_path / "library.zip"
    await write_archive(path, store=source, project="default", model=MODEL.name)
    with zipfile.ZipFile(path) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    parts["websites.jsonl"] = parts["websites.jsonl"].replace(b"Birds", b"Fishes")
    with zipfile.ZipFile(path, "w") as changed:
        for name, body in parts.items():
            changed.writestr(name, body)

    with pytest.raises(ArchiveRefused, match="damaged"):
        await import_archive(path, store=target, project="default")

    assert (await target.corpus_stats(EVERYTHING)).pages == 0


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"not a zip", "damaged"),
        ({"format": "other"}, "not a Citewell library"),
        ({"format": FORMAT, "version": VERSION + 1}, f"version {VERSION + 1}"),
    ],
    ids=["no zip", "another format", "newer"],
)
async def test_files_that_cannot_be_read_are_refused(
    tmp_path: Path, body: object, message: str, target: Store
) -> None:
    path = tmp_path / "library.zip"
    if isinstance(body, bytes):
        path.write_bytes(body)
    else:
        with zipfile.ZipFile(path, "w") as zipped:
            zipped.writestr("manifest.json", json.dumps(body))

    with pytest.raises(ArchiveRefused, match=message):
        await import_archive(path, store=target, project="default")


async def test_half_of_a_file_is_refused(tmp_path: Path, source: Store, target: Store) -> None:
    path = tmp_path / "library.zip"
    await write_archive(path, store=source, project="default", model=MODEL.name)
    path.write_bytes(path.read_bytes()[:-200])

    with pytest.raises(ArchiveRefused):
        await import_archive(path, store=target, project="default")


async def test_a_file_that_cannot_be_written_is_told_and_leaves_nothing(
    tmp_path: Path, source: Store
) -> None:
    with pytest.raises(ArchiveRefused, match="cannot be written"):
        await write_archive(
            tmp_path / "missing" / "library.zip",
            store=source,
            project="default",
            model=None,
        )

    assert [each.name async for each in anyio.Path(tmp_path).iterdir()] == []
