"""The store under test, once for each backend."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.store.backends import BACKENDS, empty_store
from tests.store.looking import MODEL

from citewell.store.protocol import Store


@pytest.fixture(params=BACKENDS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An empty store; pages count as embedded when they have vectors of MODEL."""
    async with empty_store(request.param, tmp_path, model=MODEL) as opened:
        yield opened
