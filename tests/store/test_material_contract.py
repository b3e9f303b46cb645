"""Every promise of MaterialStore, run once per backend."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from citewell.core.materials import Material
from citewell.store.materials import MaterialStore
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.fixture
def materials(store: Store) -> MaterialStore:
    return store.materials


async def add(
    materials: MaterialStore,
    text_hash: str,
    *pieces: str,
    owner: str = "me",
    task: str = "t",
    at: datetime = NOW,
    max_bytes: int = 1_000_000,
) -> Material:
    return await materials.add_material(
        owner, task=task, text_hash=text_hash, pieces=pieces, max_bytes=max_bytes, now=at
    )


async def find(
    materials: MaterialStore,
    text_hash: str,
    *,
    owner: str = "me",
    task: str = "t",
    model: str | None = None,
    at: datetime = NOW,
) -> Material | None:
    return await materials.find_material(owner, task=task, text_hash=text_hash, model=model, now=at)


async def test_a_text_is_found_again_with_its_pieces_in_order(materials: MaterialStore) -> None:
    added = await add(materials, "h", "one", "two", "三")

    assert await find(materials, "h") == added
    assert added.pieces == ("one", "two", "三")


async def test_only_its_owner_and_task_find_it(materials: MaterialStore) -> None:
    await add(materials, "h", "one")

    assert await find(materials, "h", owner="you") is None
    assert await find(materials, "h", task="other") is None
    assert await find(materials, "other") is None


async def test_the_same_text_is_kept_once(materials: MaterialStore) -> None:
    first = await add(materials, "h", "one")
    second = await add(materials, "h", "one")
    elsewhere = await add(materials, "h", "one", owner="you")

    assert second.material_id == first.material_id
    assert elsewhere.material_id != first.material_id


async def test_vectors_are_those_of_the_model_asked_for(materials: MaterialStore) -> None:
    added = await add(materials, "h", "one", "two")
    await materials.put_material_vectors(
        added.material_id, {1: np.array([0.6, 0.8], np.float32)}, model="a"
    )

    with_vectors = await find(materials, "h", model="a")
    without = await find(materials, "h", model="b")

    assert with_vectors is not None
    assert without is not None
    assert list(with_vectors.vectors) == [1]
    np.testing.assert_allclose(with_vectors.vectors[1], [0.6, 0.8], atol=1e-3)
    assert without.vectors == {}


async def test_what_was_used_longest_ago_goes_first(materials: MaterialStore) -> None:
    for hour, name in enumerate(("a", "b", "c")):
        await add(materials, name, "x" * 100, at=NOW + timedelta(hours=hour))
    await find(materials, "a", at=NOW + timedelta(hours=5))
    await add(materials, "d", "x" * 100, at=NOW + timedelta(hours=6), max_bytes=200)

    assert [name for name in "abcd" if await find(materials, name)] == ["a", "d"]


async def test_a_text_that_is_too_large_to_keep_still_serves_its_call(
    materials: MaterialStore,
) -> None:
    other = await add(materials, "theirs", "x" * 100, owner="you")
    large = await add(materials, "large", "x" * 1_000, max_bytes=10)

    assert large.pieces == ("x" * 1_000,)
    assert await find(materials, "large") is not None
    assert (await find(materials, "theirs", owner="you")) == other


async def test_vectors_of_a_material_that_is_gone_are_dropped(materials: MaterialStore) -> None:
    await materials.put_material_vectors(99, {0: np.array([1.0], np.float32)}, model="a")

    assert await find(materials, "h") is None
