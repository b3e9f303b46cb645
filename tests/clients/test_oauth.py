"""Signing in with OAuth: what the server publishes, and clients that find their way by it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl
from tests.clients.authority import (
    CONSOLE_CLIENT,
    METADATA_DOCUMENT,
    Authority,
    running_authority,
    sign_in,
)
from tests.clients.node import environment, script
from tests.clients.signing_in import sign_in_through, sign_in_with_mcp_remote

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Authority]:
    with running_authority(tmp_path_factory.mktemp("authority")) as running:
        yield running


class Memory:
    """What a client remembers of its registration and its tokens."""

    def __init__(self, registered: OAuthClientInformationFull | None = None) -> None:
        self.client = registered
        self.tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def registered_client(authority: Authority) -> OAuthClientInformationFull:
    """Return the client that the provider knows beforehand."""
    client_id, client_secret = CONSOLE_CLIENT
    return OAuthClientInformationFull(
        client_id=client_id,
        client_secret=client_secret,
        redirect_uris=[AnyUrl(authority.redirect_uri)],
        token_endpoint_auth_method="client_secret_basic",
    )


@asynccontextmanager
async def connected(
    authority: Authority, memory: Memory, *, by_document: bool = False
) -> AsyncIterator[Client]:
    """Connect as the SDK's OAuth client does, with a person who signs in."""
    redirect_uri = authority.redirect_uri
    answers: list[dict[str, str]] = []

    async def redirect(address: str) -> None:
        answers.append(
            await anyio.to_thread.run_sync(lambda: sign_in(address, stop_at=redirect_uri))
        )

    async def callback() -> AuthorizationCodeResult:
        answer = answers.pop()
        return AuthorizationCodeResult(
            code=answer["code"], state=answer.get("state"), iss=answer.get("iss")
        )

    provider = OAuthClientProvider(
        authority.mcp,
        OAuthClientMetadata(
            redirect_uris=[AnyUrl(redirect_uri)], scope="openid read write", client_name="tests"
        ),
        memory,
        redirect,
        callback,
        client_metadata_url=METADATA_DOCUMENT if by_document else None,
    )
    async with (
        httpx2.AsyncClient(auth=provider, timeout=120) as http,
        Client(streamable_http_client(authority.mcp, http_client=http)) as client,
    ):
        yield client


async def list_tools(
    authority: Authority, memory: Memory, *, by_document: bool = False
) -> list[str]:
    async with connected(authority, memory, by_document=by_document) as client:
        return [tool.name for tool in (await client.list_tools()).tools]


async def test_a_client_registers_itself_and_signs_in(authority: Authority) -> None:
    memory = Memory()

    with anyio.fail_after(120):
        tools = await list_tools(authority, memory)

    assert "search" in tools
    assert memory.client is not None
    assert memory.tokens is not None


async def test_a_client_is_known_by_its_metadata_document(authority: Authority) -> None:
    memory = Memory()

    with anyio.fail_after(120):
        tools = await list_tools(authority, memory, by_document=True)

    assert "search" in tools
    assert memory.client is not None
    assert memory.client.client_id == METADATA_DOCUMENT


async def test_a_registered_client_signs_in(authority: Authority) -> None:
    with anyio.fail_after(120):
        tools = await list_tools(authority, Memory(registered_client(authority)))

    assert "search" in tools


async def test_opaque_tokens_are_introspected(tmp_path: Path) -> None:
    with running_authority(tmp_path, token_format="opaque") as authority, anyio.fail_after(120):
        memory = Memory()
        tools = await list_tools(authority, memory)

    assert memory.tokens is not None
    assert memory.tokens.access_token.count(".") != 2
    assert "search" in tools


def test_a_request_without_a_token_learns_where_to_sign_in(authority: Authority) -> None:
    refused = httpx2.post(authority.mcp, json={}, timeout=120)
    challenge = refused.headers["www-authenticate"]
    address = re.search(r'resource_metadata="([^"]+)"', challenge)
    assert address is not None, challenge
    published = httpx2.get(address[1], timeout=120).json()
    at_root = httpx2.get(
        f"{authority.server}/.well-known/oauth-protected-resource", timeout=120
    ).json()

    assert refused.status_code == 401
    assert "citewell keys create" in refused.json()["how_to_get_access"]
    assert published == at_root
    assert published["resource"] == authority.mcp
    assert published["authorization_servers"] == [authority.issuer]


def test_keys_keep_working_beside_oauth(authority: Authority) -> None:
    headers = {"Authorization": f"Bearer {authority.key}"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

    answered = httpx2.post(authority.mcp, json=message, headers=headers, timeout=120)

    assert answered.status_code == 200


def narrow_token(authority: Authority) -> str:
    """Return a token with the scope `read` alone."""
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode()).digest()
    query = {
        "response_type": "code",
        "client_id": CONSOLE_CLIENT[0],
        "redirect_uri": authority.redirect_uri,
        "scope": "openid read",
        "resource": authority.mcp,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    address = str(httpx2.URL(f"{authority.issuer}/auth", params=query))
    answer = sign_in(address, stop_at=authority.redirect_uri)
    form = {
        "grant_type": "authorization_code",
        "code": answer["code"],
        "redirect_uri": authority.redirect_uri,
        "code_verifier": verifier,
        "resource": authority.mcp,
    }
    client = httpx2.BasicAuth(CONSOLE_CLIENT[0], quote(CONSOLE_CLIENT[1], safe=""))
    answered = httpx2.post(f"{authority.issuer}/token", data=form, auth=client, timeout=120)
    return str(answered.json()["access_token"])


async def test_a_missing_scope_is_named_and_a_client_asks_for_it(tmp_path: Path) -> None:
    with running_authority(tmp_path, CITEWELL_OAUTH_REQUIRED_SCOPES="admin") as authority:
        headers = {"Authorization": f"Bearer {narrow_token(authority)}"}
        refused = httpx2.post(authority.mcp, json={}, headers=headers, timeout=120)
        memory = Memory()
        with anyio.fail_after(120):
            tools = await list_tools(authority, memory)

    assert refused.status_code == 403
    assert 'error="insufficient_scope"' in refused.headers["www-authenticate"]
    assert 'scope="admin"' in refused.headers["www-authenticate"]
    assert memory.tokens is not None
    assert "admin" in (memory.tokens.scope or "")
    assert "search" in tools


async def test_a_client_asks_for_the_scope_that_a_tool_needs(tmp_path: Path) -> None:
    settings = {"CITEWELL_OAUTH_ACCESS_VALUES": "write=admin", "CITEWELL_OAUTH_AUDIENCE": "an-id"}
    with running_authority(tmp_path, **settings) as authority:
        memory = Memory(registered_client(authority))
        memory.tokens = OAuthToken(access_token=narrow_token(authority), scope="openid read")
        with anyio.fail_after(120):
            async with connected(authority, memory) as client:
                result = await client.call_tool("ingest", {"url": "http://127.0.0.1:1/"})

    # The page cannot be read, but the call was let in.
    assert result.structured_content is not None
    assert memory.tokens.scope is not None
    assert "write" in memory.tokens.scope.split()


def test_a_token_for_reading_may_not_write(authority: Authority) -> None:
    headers = {"Authorization": f"Bearer {narrow_token(authority)}"}
    params = {"name": "ingest", "arguments": {"urls": ["https://example.org/"]}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    refused = httpx2.post(authority.mcp, json=message, headers=headers, timeout=120)

    assert refused.status_code == 403
    assert 'error="insufficient_scope"' in refused.headers["www-authenticate"]


@pytest.mark.parametrize("speaker", ["sdk1.cjs", "client2.cjs"])
def test_the_clients_in_typescript_sign_in(
    speaker: str, authority: Authority, tmp_path: Path
) -> None:
    server = {"url": authority.mcp, "redirectUri": authority.redirect_uri}
    task = {"topic": "list", "server": server, "negotiation": "auto"}

    seen = sign_in_through([*script(speaker), json.dumps(task)], env=environment(tmp_path))

    assert "search" in seen["tools"]


def test_mcp_remote_signs_in(authority: Authority, tmp_path: Path) -> None:
    log = sign_in_with_mcp_remote(authority, tmp_path)

    assert "Connected successfully" in log, log


def test_a_person_signs_in_to_the_consoles_and_out(authority: Authority) -> None:
    with httpx2.Client(base_url=authority.server, timeout=120) as browser:
        locked = browser.get("/mcp/tools/ask_user", headers={"Accept": "text/html"})
        started = browser.get("/auth/login", params={"return_to": "/mcp/tools/ask_user"})
        answer = sign_in(started.headers["location"], stop_at=authority.redirect_uri)
        forged = httpx2.get(authority.redirect_uri, params=answer, timeout=120)
        finished = browser.get("/auth/callback", params=answer)
        shown = browser.get(finished.headers["location"])
        token = re.search(r'name="form_token" value="(\w+)"', shown.text)
        assert token is not None
        unmeant = browser.post("/auth/logout", data={"form_token": "guessed"})
        left = browser.post("/auth/logout", data={"form_token": token[1]})
        after = browser.get("/mcp/tools/ask_user", headers={"Accept": "text/html"})

    assert "Sign in" in locked.text
    assert "set-cookie" not in forged.headers
    assert finished.headers["location"] == "/mcp/tools/ask_user"
    assert "HttpOnly" in finished.headers["set-cookie"]
    assert "ann" in shown.text
    assert "Sign out" in shown.text
    assert unmeant.status_code == 403
    assert left.status_code == 303
    assert "Sign out" not in after.text
