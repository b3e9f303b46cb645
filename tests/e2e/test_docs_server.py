"""`citewell docs` as its users run it: a process, a browser's requests, a real MCP client."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from tests.docsite.folders import BIRDS, write_folder
from tests.e2e.processes import ServerProcess, environment, run_citewell, running_server

pytestmark = pytest.mark.anyio

DOCS = [sys.executable, "-m", "citewell", "docs"]
_STARTED = re.compile(rb"docs of \d+ pages at (http://\S+)/")


@contextmanager
def docs_server(
    folder: Path, *arguments: str, **settings: str
) -> Iterator[tuple[str, ServerProcess]]:
    """Run `citewell docs` on a free port; gives its URL and the process."""
    env = environment(folder, CITEWELL_EMBEDDER="none", **settings)
    command = [*DOCS, *arguments, "--port", "0"]
    with running_server(command, folder=folder, env=env, started=_STARTED) as server:
        found = _STARTED.search(server.log)
        assert found is not None, server.log.decode()
        yield found[1].decode(), server


async def test_one_process_serves_people_and_models(tmp_path: Path) -> None:
    write_folder(tmp_path / "docs", BIRDS)

    with docs_server(tmp_path, "docs", "--cache", "cache") as (url, server):
        page = httpx2.get(f"{url}/guide/herons.html", timeout=60)
        async with Client(f"{url}/mcp", mode="legacy") as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            found = await client.call_tool("search_docs", {"query": "what do herons eat"})
        code = server.stop()

    assert "The grey heron eats fish" in page.text
    # Without a key a docs server offers its documents and nothing else.
    assert set(tools) == {"search_docs", "get_doc_page", "list_doc_pages"}
    assert found.structured_content is not None
    assert found.structured_content["results"][0]["url"] == f"{url}/guide/herons.html#food"
    assert (tmp_path / "cache/mcp/search-index.json").is_file()
    assert code == 0


async def test_the_website_alone_is_served_when_mcp_is_off(tmp_path: Path) -> None:
    write_folder(tmp_path / "docs", BIRDS)

    with docs_server(tmp_path, "docs", CITEWELL_MCP_ENABLED="false") as (url, _):
        answer = httpx2.post(
            f"{url}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, timeout=60
        )
        page = httpx2.get(f"{url}/", timeout=60)

    assert answer.status_code == 404
    assert page.status_code == 200


def test_the_site_is_written_as_static_files(tmp_path: Path) -> None:
    write_folder(tmp_path / "docs", BIRDS)

    done = run_citewell(tmp_path, "docs", "build", "out")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4 pages, ")
    assert "The grey heron eats fish" in (tmp_path / "out/guide/herons.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["missing"], "there is no docs folder missing"),
        (["docs", "out"], "only `docs build OUT` takes a second folder"),
        (["build"], "name the folder to write to"),
    ],
    ids=["missing", "two", "no out"],
)
def test_wrong_usage_is_told_in_a_line(tmp_path: Path, arguments: list[str], told: str) -> None:
    write_folder(tmp_path / "docs", BIRDS)

    done = run_citewell(tmp_path, "docs", *arguments)

    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
