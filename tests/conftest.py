"""Fixtures used by three or more folders of tests."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says more about the machine than about the code.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
