"""Citewell started in the folder of another application, as an editor or a person does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from tests.postgres import empty_database

pytestmark = pytest.mark.anyio

FOREIGN_SETTINGS = """\
# Settings of the shop
DATABASE_URL=postgresql://shop:secret@127.0.0.1:1/shop
PROJECT=shop
EVENTS=kafka://broker
EMBEDDER=word2vec
MCP_PORT=not-a-port
CITEWELL_PROJECT=shop
PRIVATE_KEY="-----BEGIN KEY-----
MIIEvgIBADANBgkqhkiG9w0BAQEFAASC
-----END KEY-----"
"""
FOREIGN_ENVIRONMENT = {
    "PROJECT": "shop",
    "EVENTS": "kafka://broker",
    "EMBEDDER": "word2vec",
    "SYNTHESIS": "always",
    "WEB_TIMEOUT_SECONDS": "soon",
    "PRIVATE_KEY": "-----BEGIN KEY-----\nMIIEvgIBADANBgkqhkiG9w0BAQ\n-----END KEY-----",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The folder of a web shop with a `.env` of its own."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / ".env").write_text(FOREIGN_SETTINGS, encoding="utf-8")
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text("# Shop\n\nHerons are sold out.\n", encoding="utf-8")
    return folder


def environment(project: Path, **variables: str) -> dict[str, str]:
    own = {"PATH": os.environ["PATH"], "HOME": str(project.parent)}
    return {**own, **FOREIGN_ENVIRONMENT, **variables}


def run(project: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "citewell", *arguments],
        cwd=project,
        env=environment(project, **variables),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def files_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def test_a_command_ignores_the_settings_of_the_folder_it_is_started_in(project: Path) -> None:
    before = files_of(project)

    made = run(project, "keys", "create", "ann")
    ended = run(project, "status")

    assert (made.returncode, made.stderr) == (0, "")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert files_of(project) == before
    assert (project.parent / ".local/share/citewell/citewell.db").is_file()


async def test_a_stdio_server_ignores_the_settings_of_the_folder_it_is_started_in(
    project: Path,
) -> None:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "citewell", "serve"],
        env=environment(project, MCP_PORT="tcp://10.0.0.1:8765"),
        cwd=project,
    )
    before = files_of(project)

    async with Client(stdio_client(parameters)) as client:
        result = await client.call_tool("status", {})

    assert not result.is_error
    assert files_of(project) == before


def test_a_settings_file_of_another_program_is_refused_by_name(project: Path) -> None:
    ended = run(project, "status", "--env-file", ".env")

    assert ended.returncode == 2
    assert ended.stderr == (
        "citewell: .env line 2: DATABASE_URL is not a setting; "
        "did you mean CITEWELL_DATABASE_URL?\n"
    )


@pytest.mark.parametrize(
    "url", ["mysql://shop:secret@127.0.0.1/shop", "postgresql://db/shop\nsecret"]
)
def test_a_database_of_another_kind_stops_only_what_needs_it(project: Path, url: str) -> None:
    needs = run(project, "status", DATABASE_URL=url)
    needs_not = run(project, "config", "cursor", DATABASE_URL=url)
    own = f"sqlite:///{project.parent}/own.db"
    overridden = run(project, "keys", "create", "ann", "--database", own, DATABASE_URL=url)

    assert needs.returncode == 2
    assert needs.stderr.count("\n") == 1
    assert "set CITEWELL_DATABASE_URL" in needs.stderr
    assert "secret" not in needs.stderr
    assert needs_not.returncode == 0
    assert needs_not.stdout.startswith("{")
    made = f"citewell: made a new library in {project.parent}/own.db\n"
    assert (overridden.returncode, overridden.stderr) == (0, made)


def test_a_bare_name_with_a_foreign_value_stops_only_the_http_server(project: Path) -> None:
    port = {"MCP_PORT": "tcp://10.0.0.1:8765"}

    run(project, "keys", "create", "ann")
    status = run(project, "status", **port)
    serve = run(project, "serve", "--transport", "streamable-http", **port)

    assert status.returncode == 0
    assert "warning: MCP_PORT must be a whole number" in status.stderr
    assert serve.returncode == 2
    assert "to override it, set CITEWELL_MCP_PORT" in serve.stderr.splitlines()[-1]


def test_a_misspelt_setting_is_pointed_out(project: Path) -> None:
    run(project, "keys", "create", "ann")
    ended = run(project, "status", CITEWELL_MCP_TOOLSET="all")

    assert ended.returncode == 0
    assert ended.stderr == (
        "citewell: warning: CITEWELL_MCP_TOOLSET is not a setting; "
        "did you mean CITEWELL_MCP_TOOLSETS?\n"
    )


@pytest.fixture
def shop_database() -> Iterator[str]:
    """The database of the shop, with a table of its own."""
    with empty_database() as address:
        with psycopg.connect(address) as connection:
            connection.execute("CREATE TABLE public.page (shelf text)")
        yield address


def tables_of(address: str) -> set[str]:
    with psycopg.connect(address) as connection:
        rows = connection.execute(
            "SELECT schemaname || '.' || tablename FROM pg_tables "
            "WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
    return {name for (name,) in rows}


def test_the_database_of_another_program_is_used_only_by_choice(
    project: Path, shop_database: str
) -> None:
    refused = run(project, "status", DATABASE_URL=shop_database)
    untouched = tables_of(shop_database)
    chosen = run(project, "status", CITEWELL_DATABASE_URL=shop_database)

    assert refused.returncode != 0
    assert "CITEWELL_DATABASE_URL" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert untouched == {"public.page"}
    assert chosen.returncode == 0
    assert {name for name in tables_of(shop_database) if name.startswith("public.")} == {
        "public.page"
    }


async def test_a_stdio_server_leaves_the_database_of_another_program_alone(
    project: Path, shop_database: str
) -> None:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "citewell", "serve"],
        env=environment(project, DATABASE_URL=shop_database),
        cwd=project,
    )

    async with Client(stdio_client(parameters)) as client:
        tools = await client.list_tools()
        result = await client.call_tool("status", {})

    assert tools.tools
    assert result.is_error
    assert "CITEWELL_DATABASE_URL" in str(result.content)
    assert tables_of(shop_database) == {"public.page"}
