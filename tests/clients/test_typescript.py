"""The TypeScript SDK 1.x and client 2.x, over stdio and HTTP, in each era that they speak."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.clients.conftest import SETTINGS, Company
from tests.clients.node import environment, script
from tests.e2e.processes import http_server, make_key, run_citewell, stdio_parameters
from tests.site import Site, wait_until

pytestmark = pytest.mark.slow

QUOTE = "The grey heron eats fish, frogs and small mammals."


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """A client and the way in which it finds out what a server speaks."""

    script: str
    negotiation: str = "legacy"
    era: str = "legacy"


SPEAKERS = {
    "sdk-1": Speaker(script="sdk1.cjs"),
    "client-2-legacy": Speaker(script="client2.cjs"),
    "client-2-auto": Speaker(script="client2.cjs", negotiation="auto", era="modern"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What a client saw of a server, and under which name the server knows it."""

    speaker: Speaker
    seen: dict[str, Any]
    folder: Path
    user: str | None

    def outcomes(self) -> set[tuple[str, str]]:
        """Return how the calls of the client ended, by what the server has on record."""
        used = json.loads(run_citewell(self.folder, "usage", "--json").stdout)
        return {(row["tool"], row["outcome"]) for row in used if row["name"] == self.user}


@pytest.fixture(
    scope="module",
    params=[(name, transport) for name in SPEAKERS for transport in ("stdio", "http")],
    ids=lambda param: "-".join(param),
)
def conversation(
    request: pytest.FixtureRequest,
    site: Site,
    company: Company,
    tmp_path_factory: pytest.TempPathFactory,
) -> Conversation:
    name, transport = request.param
    speaker = SPEAKERS[name]
    home = tmp_path_factory.mktemp(name)
    if transport == "http":
        folder, user = company.folder, home.name
        server = over_http(company.url, make_key(folder, user))
    else:
        folder, user = home, None
        server = stdio_parameters(folder, **SETTINGS).model_dump(mode="json")
    pages = {
        "page": site.url("/heron"),
        "slowPage": site.url("/slow"),
        "changingPage": site.url("/changing"),
    }
    run = subprocess.run(
        command(speaker, topic="everything", server=server, **pages),
        env=environment(home),
        stdout=subprocess.PIPE,
        timeout=120,
        check=True,
    )
    return Conversation(speaker=speaker, seen=json.loads(run.stdout), folder=folder, user=user)


def over_http(url: str, key: str) -> dict[str, Any]:
    return {"url": url, "headers": {"Authorization": f"Bearer {key}"}}


def command(speaker: Speaker, **task: object) -> list[str]:
    return [*script(speaker.script), json.dumps({**task, "negotiation": speaker.negotiation})]


def test_the_server_introduces_itself_in_the_era_of_the_client(conversation: Conversation) -> None:
    seen = conversation.seen

    assert (seen["era"], seen["server"]) == (conversation.speaker.era, "citewell")
    assert "sources to cite" in seen["instructions"]


def test_tools_are_listed(conversation: Conversation) -> None:
    assert {"answer", "ask_user", "kb_verify_quote"} <= set(conversation.seen["tools"])


def test_a_page_that_changes_is_announced(conversation: Conversation) -> None:
    changes = conversation.seen["changes"]

    assert changes["announced"] == changes["uri"]


def test_an_answer_has_its_quote_in_both_forms(conversation: Conversation) -> None:
    answer = conversation.seen["answer"]

    assert QUOTE in answer["content"][0]["text"]
    assert answer["structuredContent"]["evidence"][0]["text"].startswith(QUOTE)


def test_progress_arrives_while_the_tool_works_and_only_goes_up(conversation: Conversation) -> None:
    sign = conversation.seen["abandoned"]["sign"]
    # These clients drop the progress that they read together with the result.
    steps = [told["progress"] for told in conversation.seen["progress"]]

    assert (sign["progress"], "/slow" in sign["message"]) == (1, True)
    assert steps == list(range(1, len(steps) + 1))


def test_a_failed_tool_is_an_error_result(conversation: Conversation) -> None:
    failed = conversation.seen["failed"]

    assert failed["isError"]
    assert failed["structuredContent"]["error"]["code"] == "BACKEND_UNAVAILABLE"


def test_an_unknown_tool_is_refused_with_those_there_are(conversation: Conversation) -> None:
    unknown = conversation.seen["unknown"]

    assert unknown["code"] == -32602
    assert "Unknown tool: sing. The tools are: answer, search" in unknown["message"]


def test_a_call_that_the_client_gives_up_ends_on_the_server(conversation: Conversation) -> None:
    assert "enough" in conversation.seen["abandoned"]["refused"]["message"]
    wait_until(lambda: ("ingest", "UNFINISHED") in conversation.outcomes(), seconds=60)


def test_the_person_at_the_client_answers(conversation: Conversation) -> None:
    assert conversation.seen["asked"] == ["What to eat?"]
    assert conversation.seen["afterwards"]["structuredContent"]["answer"] == "Soup."


def test_resources_and_prompts_are_read(conversation: Conversation, site: Site) -> None:
    shelves = conversation.seen["shelves"]

    assert "page 1" in shelves["resources"]
    assert shelves["templates"] == ["page", "website", "passage", "receipt"]
    assert QUOTE in shelves["text"]
    assert (shelves["prompts"], shelves["completed"]) == (5, [site.url("/heron")])
    assert site.url("/heron") in shelves["prompt"]


def test_what_is_not_there_is_recognised_by_the_client(conversation: Conversation) -> None:
    # The second client turns the code of the older era into its own where the error names the URI.
    missing = -32002 if conversation.speaker.script == "sdk1.cjs" else -32602

    assert conversation.seen["shelves"]["missing"]["code"] == missing


def test_clients_outlive_a_restart_of_the_server(tmp_path: Path) -> None:
    settings = {**SETTINGS, "CITEWELL_MCP_AUTH_TOKEN": "wren-7"}
    with ExitStack() as stack:
        with http_server(tmp_path, **settings) as first:
            server = over_http(f"{first.url}/mcp", "wren-7")
            clients = {
                name: stack.enter_context(waiting_client(speaker, server, home=tmp_path))
                for name, speaker in SPEAKERS.items()
            }
            port = first.url.rpartition(":")[2]
        with http_server(tmp_path, **settings, CITEWELL_MCP_PORT=port):
            seen = {name: go_on(client) for name, client in clients.items()}

    assert not any(each["after"]["isError"] for each in seen.values())
    # Who has a session is told that it is gone, and opens another; the era of 2026 has none.
    assert "Session not found" in seen["sdk-1"]["refused"]["message"]
    assert "Session not found" in seen["client-2-legacy"]["refused"]["message"]
    assert seen["client-2-auto"]["refused"] is None


@contextmanager
def waiting_client(
    speaker: Speaker, server: dict[str, Any], *, home: Path
) -> Iterator[subprocess.Popen[str]]:
    """Start a client that has called the server once and waits to be told to go on."""
    with subprocess.Popen(
        command(speaker, topic="restart", server=server),
        env=environment(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def go_on(client: subprocess.Popen[str]) -> dict[str, Any]:
    report, _ = client.communicate("go on\n", timeout=120)
    seen: dict[str, Any] = json.loads(report)
    return seen
