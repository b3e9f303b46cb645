"""The stdio front answers from a file that is made of the sources under test."""

from __future__ import annotations

import pytest

from citewell.server.prepare_front import write_prepared_answers


@pytest.fixture(scope="session", autouse=True)
def _prepared_front() -> None:
    write_prepared_answers()
