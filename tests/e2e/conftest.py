"""The stdio front's file, made of the sources under test, and an HTTP server of its own data."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.e2e.processes import ServerProcess, http_server

from citewell.server.prepare_front import write_prepared_answers


@pytest.fixture(scope="session", autouse=True)
def _prepared_front() -> None:
    write_prepared_answers()


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with http_server(tmp_path_factory.mktemp("http")) as server:
        yield server
