"""Vectors that one process leaves to be made by another."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from tests.drafts import FETCHED_AT, draft
from tests.jobs.shelves import open_shelf
from tests.postgres import empty_library
from tests.site import running_site
from tests.store.backends import BACKENDS, empty_store

from citewell.app.duties import Duties, duties_of
from citewell.core.errors import SettingsError
from citewell.core.jobs import JobKind
from citewell.core.settings import Settings
from citewell.store.open import open_store
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

NOW = FETCHED_AT + timedelta(hours=1)
INGESTING: frozenset[JobKind] = frozenset(
    {"process_website", "process_site", "refresh_website", "reread_pages"}
)


@pytest.fixture(params=BACKENDS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with empty_store(request.param, tmp_path, model="hashing") as opened:
        yield opened


async def add_jobs(store: Store, *, limit: int = 100, minutes_ago: float = 30) -> int:
    before = NOW - timedelta(minutes=minutes_ago)
    return await store.jobs.add_embedding_jobs(
        model="hashing", now=NOW, stored_before=before, limit=limit
    )


async def test_each_page_that_lacks_vectors_becomes_one_job(store: Store) -> None:
    herons = await store.put_page(draft("https://a.org/1", "Herons fish.", "Herons wade."))
    egrets = await store.put_page(draft("https://a.org/2", "Egrets are white.", project="other"))

    added = [await add_jobs(store), await add_jobs(store)]

    jobs = await store.jobs.list_jobs()
    assert added == [2, 0]
    assert {(job.kind, job.project, job.key, job.priority) for job in jobs} == {
        ("embed_page", "default", str(herons.source_id), -1),
        ("embed_page", "other", str(egrets.source_id), -1),
    }


async def test_pages_with_vectors_and_those_just_stored_are_left_alone(store: Store) -> None:
    await store.put_page(draft("https://a.org/1", "Herons fish."))
    waiting = await store.chunks_to_embed(model="hashing", limit=10)
    await store.pass_over([at for at, _ in waiting], model="hashing")
    await store.put_page(draft("https://a.org/2", "Egrets.", fetched_at=NOW))

    assert await add_jobs(store) == 0


async def test_pages_beyond_the_limit_have_their_turn_later(store: Store) -> None:
    for number in range(3):
        await store.put_page(draft(f"https://a.org/{number}", f"Heron {number} fishes."))

    assert await add_jobs(store, limit=2) == 2


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
async def test_a_worker_makes_the_vectors_that_others_left(backend: str, tmp_path: Path) -> None:
    with running_site({}) as site, empty_library() as database:
        address = database if backend == "postgres" else f"sqlite://{tmp_path}/pages.db"
        left = await open_store(address)
        for number in range(3):
            await left.put_page(draft(f"https://a.org/{number}", f"Heron {number} fishes."))
        await left.aclose()
        async with open_shelf(site, address=address, embeds_left=True) as shelf:
            with anyio.fail_after(60):
                await shelf.library.run_until_idle()
            waiting = await shelf.store.chunks_to_embed(model="hashing", limit=1)
            jobs = await shelf.store.jobs.list_jobs()

    assert waiting == []
    assert [(job.kind, job.state, job.result) for job in jobs] == [
        ("embed_page", "done", '{"chunks": 1}')
    ] * 3


@pytest.mark.parametrize(
    ("named", "duties"),
    [
        ((), Duties(jobs=INGESTING | {"embed_page"}, embeds=True, embeds_left=True, renders=True)),
        (("none",), Duties(jobs=frozenset(), embeds=False)),
        (("ingest",), Duties(jobs=INGESTING, embeds=False)),
        (("process_site",), Duties(jobs=frozenset({"process_site"}), embeds=False)),
        (("embed",), Duties(jobs=frozenset({"embed_page"}), embeds=True, embeds_left=True)),
        (
            ("render",),
            Duties(jobs=frozenset(), embeds=False, renders=True, must_render=True),
        ),
    ],
    ids=["unset", "none", "ingest", "one-kind", "embed", "render"],
)
def test_kinds_of_work_are_what_a_worker_does(named: tuple[str, ...], duties: Duties) -> None:
    assert duties_of(Settings(jobs_kinds=named), is_worker=True) == duties


def test_a_server_does_no_more_than_its_own_and_the_jobs() -> None:
    duties = duties_of(Settings(), is_worker=False)

    assert duties == Duties(jobs=INGESTING | {"embed_page"}, embeds=True)


def test_a_kind_of_work_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SettingsError, match="ingest, embed, render"):
        duties_of(Settings(jobs_kinds=("embed", "paint")), is_worker=True)
