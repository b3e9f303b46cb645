"""The shell that the tests of research commands share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.shell import MOORING, STORAGE, Shell, make_database
from tests.site import running_site


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with running_site({"/storage": STORAGE, "/mooring": MOORING}) as site:
        env_file = tmp_path / "test.env"
        env_file.write_text(
            f"CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS={site.host}\nCITEWELL_EMBEDDER=none\n",
            encoding="utf-8",
        )
        database = f"sqlite:///{tmp_path / 'index.db'}"
        make_database(database)
        yield Shell(site=site, options=("--database", database, "--env-file", str(env_file)))
