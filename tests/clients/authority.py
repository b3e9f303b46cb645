"""A real OpenID provider and a server that trusts it, and a person who signs in."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2
from tests.clients.node import environment, script
from tests.e2e.processes import http_server, make_key

METADATA_DOCUMENT = "https://client.example/citewell-tests.json"
CLAUDE_CODE = "https://claude.ai/oauth/claude-code-client-metadata"
CONSOLE_CLIENT = ("citewell-console", "a secret of the console")
_FORM = re.compile(r'<form[^>]* action="([^"]+)"')
_PROMPT = re.compile(r'name="prompt" value="(\w+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """Where the provider and the server are; `redirect_uri` is that of registered clients."""

    issuer: str
    server: str
    redirect_uri: str
    key: str

    @property
    def mcp(self) -> str:
        return f"{self.server}/mcp"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def running_authority(
    folder: Path, *, token_format: str = "jwt", **settings: str
) -> Iterator[Authority]:
    """Run the provider, and a server whose consoles are registered with it."""
    issuer_port, port = free_port(), free_port()
    issuer, server = f"http://127.0.0.1:{issuer_port}", f"http://127.0.0.1:{port}"
    key = make_key(folder, "operator")
    variables = {
        "PORT": str(issuer_port),
        "RESOURCE": f"{server}/mcp",
        "REDIRECT_URI": f"{server}/auth/callback",
        "METADATA_DOCUMENTS": json.dumps(
            {
                METADATA_DOCUMENT: {"redirect_uris": [f"{server}/auth/callback"]},
                CLAUDE_CODE: {
                    "application_type": "native",
                    "redirect_uris": ["http://localhost/callback", "http://127.0.0.1/callback"],
                },
            }
        ),
        "TOKEN_FORMAT": token_format,
    }
    provider = subprocess.Popen(
        script("issuer.mjs"),
        env=environment(folder, **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with provider:
        try:
            assert provider.stdout is not None
            assert provider.stdout.readline() == b"listening\n"
            client_id, client_secret = CONSOLE_CLIENT
            with http_server(
                folder,
                CITEWELL_MCP_PORT=str(port),
                CITEWELL_EMBEDDER="none",
                CITEWELL_OAUTH_ISSUER=issuer,
                CITEWELL_OAUTH_CLIENT_ID=client_id,
                CITEWELL_OAUTH_CLIENT_SECRET=client_secret,
                CITEWELL_PUBLIC_URL=server,
                **settings,
            ):
                yield Authority(
                    issuer=issuer, server=server, redirect_uri=f"{server}/auth/callback", key=key
                )
        finally:
            provider.terminate()


def sign_in(address: str, *, name: str = "ann", stop_at: str) -> dict[str, str]:
    """Go through the provider's pages as a person; return the query of the redirect to `stop_at`."""
    with httpx2.Client(timeout=120, follow_redirects=False) as browser:
        response = browser.get(address)
        for _ in range(20):
            if response.is_redirect:
                target = urljoin(str(response.url), response.headers["location"])
                if target.startswith(stop_at):
                    return {
                        key: values[0] for key, values in parse_qs(urlsplit(target).query).items()
                    }
                response = browser.get(target)
                continue
            form, prompt = _FORM.search(response.text), _PROMPT.search(response.text)
            assert form is not None, response.text[:2000]
            assert prompt is not None, response.text[:2000]
            fields = {"prompt": prompt[1], "login": name, "password": "any"}
            response = browser.post(urljoin(str(response.url), form[1]), data=fields)
    raise AssertionError("the sign-in does not end")
