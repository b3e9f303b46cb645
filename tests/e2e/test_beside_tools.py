"""Resources, prompts and completion of the real server: both transports, both eras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.e2e.processes import http_server, stdio_parameters
from tests.site import Site, running_site

from citewell.core.boundary import without_brackets

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

HERON = """<html><head><title>Herons</title></head><body><main><h1>Herons</h1>
<h2>Food</h2><p>The grey heron eats fish, frogs and small mammals. It stands still at the water's
edge and waits until its prey comes near.</p></main></body></html>"""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with running_site({"/heron": HERON}) as running:
        yield running


async def check_what_a_host_does(client: Client, heron: str, *, not_found: int) -> None:
    """Do what a host does: list, ingest, complete, ask for a prompt, search, follow a link, read."""
    templates = (await client.list_resource_templates()).resource_templates
    prompts = (await client.list_prompts()).prompts
    await client.call_tool("ingest", {"url": heron})
    pages = (await client.list_resources()).resources
    completed = await client.complete(
        types.PromptReference(name="research"), {"name": "url", "value": "heron"}
    )
    prompt = await client.get_prompt("research", {"url": heron, "question": "What do they eat?"})
    found = await client.call_tool("kb_retrieve_evidence", {"question": "What do herons eat?"})
    links = [block for block in found.content if isinstance(block, types.ResourceLink)]
    (page,) = (await client.read_resource(pages[0].uri)).contents
    (passage,) = (await client.read_resource(links[0].uri)).contents
    with pytest.raises(MCPError) as caught:
        await client.read_resource("citewell://scratch/1/2")

    assert [each.name for each in templates] == ["page", "website", "passage", "receipt"]
    assert len(prompts) == 5
    assert [each.name for each in pages] == ["page 1"]
    assert completed.completion.values == [heron]
    assert isinstance(prompt.messages[0].content, types.TextContent)
    assert heron in prompt.messages[0].content.text
    assert isinstance(page, types.TextResourceContents)
    assert isinstance(passage, types.TextResourceContents)
    assert _without_boundary(passage.text) in page.text
    assert "fish, frogs and small mammals" in passage.text
    assert caught.value.error.code == not_found


def _without_boundary(text: str) -> str:
    """Return the page's words: what stands in the brackets below the note."""
    return without_brackets(text.partition("\n")[2])


in_both_eras = pytest.mark.parametrize(
    ("mode", "not_found"), [("legacy", -32002), ("2026-07-28", -32602)]
)


@in_both_eras
async def test_a_host_over_stdio(mode: str, not_found: int, site: Site, tmp_path: Path) -> None:
    server = stdio_parameters(
        tmp_path, CITEWELL_EMBEDDER="none", CITEWELL_MCP_TOOLSETS="default,kb"
    )

    async with Client(server, mode=mode) as client:
        await check_what_a_host_does(client, site.url("/heron"), not_found=not_found)


@in_both_eras
async def test_a_host_over_http(mode: str, not_found: int, site: Site, tmp_path: Path) -> None:
    with http_server(
        tmp_path, CITEWELL_EMBEDDER="none", CITEWELL_MCP_TOOLSETS="default,kb"
    ) as server:
        async with Client(f"{server.url}/mcp", mode=mode) as client:
            await check_what_a_host_does(client, site.url("/heron"), not_found=not_found)


async def test_a_host_that_asks_everything_at_once_is_answered_by_front_and_server(
    site: Site, tmp_path: Path
) -> None:
    server = stdio_parameters(
        tmp_path, CITEWELL_EMBEDDER="none", CITEWELL_MCP_TOOLSETS="default,kb"
    )

    async with Client(server, mode="auto") as client:
        capabilities = client.server_capabilities
        prompts = (await client.list_prompts()).prompts
        resources = (await client.list_resources()).resources

    assert sorted(capabilities.model_dump(exclude_none=True)) == [
        "completions",
        "logging",
        "prompts",
        "resources",
        "tools",
    ]
    assert len(prompts) == 5
    assert resources == []
