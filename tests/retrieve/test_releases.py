"""Which versions a search sees."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.drafts import draft
from tests.store.backends import empty_store

from citewell.core.errors import InvalidArgument
from citewell.core.records import SearchFilter
from citewell.core.releases import Release
from citewell.retrieve.pipeline import Models, Options, Retrieval, retrieve
from citewell.retrieve.releases import choose_releases
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

WORDS = Models(embedder=None, reranker=None)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with empty_store("sqlite", tmp_path) as opened:
        for version, depth in (("1.2.0", "one metre"), ("1.9.1", "two metres"), ("2.0.0", "three")):
            url = f"pypi:heron-watch@{version}/herons"
            await opened.put_page(draft(url, f"The default depth of wade is {depth}."))
        await opened.put_page(draft("pypi:egret@1.2.0/egret", "Egrets wade at a depth of five."))
        await opened.put_page(draft("https://birds.example/", "A depth to wade in is shallow."))
        yield opened


async def ask(
    store: Store, question: str, *, version: str | None = None, url_prefix: str | None = None
) -> Retrieval:
    where = SearchFilter(project="default", version=version, url_prefix=url_prefix)
    return await retrieve(
        question, store=store, models=WORDS, where=where, options=Options(limit=9)
    )


def versions(found: Retrieval) -> set[str]:
    releases = {each.chunk.release for each in found.chunks}
    return {release.label for release in releases}


async def test_without_a_project_the_newest_version_is_searched(store: Store) -> None:
    found = await ask(store, "default depth of wade")

    assert versions(found) == {"heron-watch 2.0.0", "egret 1.2.0", ""}


async def test_the_versions_of_synced_folders_are_preferred(store: Store) -> None:
    own = [Release(product="pypi:heron-watch", version="1.9.1")]
    await store.releases.put_used_releases("default", folder="/shop", releases=own)

    found = await ask(store, "default depth of wade")

    assert versions(found) == {"heron-watch 1.9.1", "egret 1.2.0", ""}
    assert found.notes == ()


async def test_a_release_that_the_caller_names_is_searched_whatever_a_folder_uses(
    store: Store,
) -> None:
    own = [Release(product="pypi:heron-watch", version="1.9.1")]
    await store.releases.put_used_releases("default", folder="/shop", releases=own)
    newer = Release(product="pypi:heron-watch", version="2.0.0")

    where = SearchFilter(project="default", releases=(newer.key,))
    chosen = await choose_releases("default depth of wade", store=store, where=where)

    assert chosen.where.releases == (newer.key,)


async def test_evidence_from_another_version_than_the_projects_says_so(store: Store) -> None:
    own = [Release(product="pypi:egret", version="3.0.0")]
    await store.releases.put_used_releases("default", folder="/shop", releases=own)

    found = await ask(store, "depth of egrets")

    assert "This project uses egret 3.0.0; the evidence is from egret 1.2.0." in found.notes


@pytest.mark.parametrize(
    "question",
    [
        "In Heron-Watch 1.9, what is the default depth of wade?",
        "What is the default depth of wade in heron_watch v1.9.1?",
        "default depth of wade in heron-watch==1.9.1",
        "default depth of wade (heron-watch@1.9)",
        "default depth of wade in version 1.9 of heron watch",
        "default depth of wade in heron-watch >=1.5,<2",
    ],
)
async def test_a_version_in_the_question_decides(store: Store, question: str) -> None:
    found = await ask(store, question)

    assert versions(found) - {"egret 1.2.0", ""} == {"heron-watch 1.9.1"}
    assert "1.9" not in found.query.text
    assert found.notes == ()


async def test_a_version_that_is_not_indexed_is_reported(store: Store) -> None:
    found = await ask(store, "In heron-watch 3.1, what is the default depth of wade?")

    assert "heron-watch 3.1 is not indexed; indexed: 1.2.0, 1.9.1, 2.0.0." in found.notes
    assert versions(found) >= {"heron-watch 2.0.0"}


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("1.2.0", {"heron-watch 1.2.0", "egret 1.2.0"}),
        (">=1.5,<2", {"heron-watch 1.9.1"}),
        ("latest", {"heron-watch 2.0.0", "egret 1.2.0"}),
        ("heron-watch@1.2.0", {"heron-watch 1.2.0"}),
        ("heron_watch<1.5", {"heron-watch 1.2.0"}),
    ],
)
async def test_the_version_argument_is_strict(
    store: Store, version: str, expected: set[str]
) -> None:
    assert versions(await ask(store, "default depth of wade", version=version)) == expected


async def test_the_version_argument_is_about_the_product_that_the_question_names(
    store: Store,
) -> None:
    found = await ask(store, "default depth of wade in heron-watch", version="1.2.0")

    assert versions(found) == {"heron-watch 1.2.0"}


@pytest.mark.parametrize("version", ["9.9", "newest", "; --"])
async def test_a_version_that_nothing_has_is_an_error(store: Store, version: str) -> None:
    with pytest.raises(InvalidArgument):
        await ask(store, "default depth of wade", version=version)


async def test_pages_named_by_their_address_are_searched_whatever_their_version(
    store: Store,
) -> None:
    found = await ask(store, "default depth of wade", url_prefix="pypi:heron-watch@1.2.0/")

    assert versions(found) == {"heron-watch 1.2.0"}


async def test_a_site_of_the_minor_version_documents_its_patches(store: Store) -> None:
    text = "On the site the depth of wade is explained."
    url = "https://herons.example/en/1.9/wade.html"
    await store.put_page(draft(url, text, tags=("heron-watch@1.9",)))

    named = await ask(store, "default depth of wade in heron-watch 1.9.1")
    given = await ask(store, "default depth of wade", version="heron-watch@1.9.1")
    other = await ask(store, "default depth of wade in heron-watch 2.0.0")

    assert versions(named) >= {"heron-watch 1.9", "heron-watch 1.9.1"}
    assert versions(given) == {"heron-watch 1.9", "heron-watch 1.9.1"}
    assert "heron-watch 1.9" not in versions(other)


async def test_a_site_that_does_not_say_its_version_is_searched_and_the_note_says_so(
    store: Store,
) -> None:
    own = [Release(product="pypi:heron-watch", version="1.9.1")]
    await store.releases.put_used_releases("default", folder="/shop", releases=own)
    text = "On the site the depth of wade is explained."
    await store.put_page(draft("https://herons.example/", text, tags=("heron-watch@latest",)))

    found = await ask(store, "On which site is the depth of wade explained?")

    assert "heron-watch latest" in versions(found)
    assert found.notes == (
        "This project uses heron-watch 1.9.1; the evidence is from documentation that does not "
        "say its version.",
    )


async def test_the_folder_that_a_process_runs_in_decides_between_projects(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, boat = tmp_path / "shop", tmp_path / "boat" / "src"
    for folder, version in ((shop, "1.2.0"), (boat.parent, "1.9.1")):
        folder.mkdir()
        own = [Release(product="pypi:heron-watch", version=version)]
        await store.releases.put_used_releases("default", folder=str(folder), releases=own)
    boat.mkdir()

    both = await ask(store, "default depth of wade")
    monkeypatch.chdir(boat)
    inside = await ask(store, "default depth of wade")

    assert versions(both) == {"heron-watch 1.2.0", "heron-watch 1.9.1", "egret 1.2.0", ""}
    assert versions(inside) == {"heron-watch 1.9.1", "egret 1.2.0", ""}
