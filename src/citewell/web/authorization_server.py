"""Talking to an OAuth 2.1 authorization server: its metadata, its keys, introspection, sign-in."""

from __future__ import annotations

import base64
import time
from dataclasses import field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit, urlunsplit

import anyio
import httpx2

from citewell.core.boundary import label
from citewell.core.errors import FetchError, IssuerDown, SettingsError
from citewell.core.frozen import frozen
from citewell.core.hosts import is_loopback
from citewell.web.api_answer import ask_api

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_ANSWER_BYTES = 500_000
_METADATA_SECONDS = 3600.0
_KEYS_SECONDS = 600.0
# A token signed with an unknown key makes us look again, but not for every such token.
REFETCH_SECONDS = 10.0


@frozen
class ServerMetadata:
    """What a server publishes about itself (RFC 8414, OpenID Connect Discovery)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    introspection_endpoint: str | None = None


@frozen
class ClientIdentity:
    """How Citewell itself is registered with the server; a public client has no secret."""

    client_id: str
    client_secret: str | None = field(default=None, repr=False)


class AuthorizationServer:
    """One issuer, asked over HTTPS; metadata and keys are cached.

    Raises:
        SettingsError: `issuer` is not an https URL (http is allowed on loopback).
    """

    def __init__(
        self,
        issuer: str,
        *,
        client: ClientIdentity | None = None,
        timeout_seconds: float = 5.0,
        refetch_seconds: float = REFETCH_SECONDS,
    ) -> None:
        if not is_secure_url(issuer):
            raise SettingsError(
                "CITEWELL_OAUTH_ISSUER must be an https URL (http only on loopback)",
                issuer=issuer,
            )
        self.issuer = issuer
        self._identity = client
        self._timeout_seconds = timeout_seconds
        self._refetch_seconds = refetch_seconds
        self._opened: httpx2.AsyncClient | None = None
        self._metadata: tuple[float, ServerMetadata] | None = None
        self._keys: tuple[float, dict[str, Any]] | None = None
        self._lock = anyio.Lock()

    @property
    def can_introspect(self) -> bool:
        """Whether Citewell has the credentials that introspection asks for."""
        return self._identity is not None and self._identity.client_secret is not None

    async def metadata(self) -> ServerMetadata:
        """Return the server's metadata.

        Raises:
            IssuerDown: it cannot be fetched or does not fit the issuer.
        """
        async with self._lock:
            if self._metadata is None or self._metadata[0] < time.monotonic():
                fetched = await self._discover()
                self._metadata = (time.monotonic() + _METADATA_SECONDS, fetched)
            return self._metadata[1]

    async def signing_keys(self, *, refetch: bool = False) -> dict[str, Any]:
        """Return the JWK set; `refetch` asks for keys added since it was cached.

        Raises:
            IssuerDown: it cannot be fetched.
        """
        address = (await self.metadata()).jwks_uri
        async with self._lock:
            now = time.monotonic()
            is_due = self._keys is None or self._keys[0] + _KEYS_SECONDS < now
            if self._keys is not None and refetch:
                is_due = self._keys[0] + self._refetch_seconds <= now
            if is_due or self._keys is None:
                self._keys = (now, await self._get_json(address))
            return self._keys[1]

    async def introspect(self, token: str) -> Mapping[str, Any]:
        """Return what the server says about an opaque token (RFC 7662).

        Raises:
            IssuerDown: it cannot be asked, or refuses Citewell's own credentials.
        """
        endpoint = (await self.metadata()).introspection_endpoint
        if endpoint is None:
            return {"active": False}
        return await self._post_form(endpoint, {"token": token, "token_type_hint": "access_token"})

    async def exchange_code(
        self, code: str, *, verifier: str, redirect_uri: str, resource: str
    ) -> Mapping[str, Any]:
        """Return the tokens for an authorization code (PKCE, RFC 8707).

        Raises:
            IssuerDown: the server cannot be asked or refuses the code.
        """
        endpoint = (await self.metadata()).token_endpoint
        return await self._post_form(
            endpoint,
            {
                "grant_type": "authorization_code",
                "code": code,
                "code_verifier": verifier,
                "redirect_uri": redirect_uri,
                "resource": resource,
            },
        )

    async def aclose(self) -> None:
        """Close the connections."""
        if self._opened is not None:
            await self._opened.aclose()
            self._opened = None

    async def _discover(self) -> ServerMetadata:
        refusal: IssuerDown | None = None
        for address in metadata_addresses(self.issuer):
            try:
                return _parse_metadata(await self._get_json(address), self.issuer)
            except IssuerDown as error:
                refusal = refusal or error
        assert refusal is not None, "there is at least one metadata address"
        raise refusal

    async def _get_json(self, address: str) -> dict[str, Any]:
        return await self._ask("GET", address, None)

    async def _post_form(self, address: str, form: dict[str, str]) -> dict[str, Any]:
        return await self._ask("POST", address, form)

    async def _ask(self, method: str, address: str, form: dict[str, str] | None) -> dict[str, Any]:
        auth: tuple[str, str] | None = None
        if form is not None and self._identity is not None:
            if self._identity.client_secret is None:
                form = {**form, "client_id": self._identity.client_id}
            else:
                auth = (self._identity.client_id, self._identity.client_secret)
        try:
            with anyio.fail_after(self._timeout_seconds):
                client = self._client()
                request = client.build_request(
                    method, address, data=form, headers={"Accept": "application/json"}
                )
                if auth is not None:
                    request.headers["Authorization"] = basic_credentials(*auth)
                answer = await ask_api(client, request, max_bytes=_MAX_ANSWER_BYTES)
        except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL, FetchError) as error:
            raise IssuerDown(f"{_host(address)} cannot be reached") from error
        if answer.status != 200:
            raise IssuerDown(f"{_host(address)} answered with status {answer.status}")
        try:
            body = answer.parse_json()
        except ValueError as error:
            raise IssuerDown(f"{_host(address)} did not answer with JSON") from error
        if not isinstance(body, dict):
            raise IssuerDown(f"{_host(address)} did not answer with a JSON object")
        return body

    def _client(self) -> httpx2.AsyncClient:
        # Made on first use: reading the system's certificates takes a while.
        if self._opened is None:
            self._opened = httpx2.AsyncClient(timeout=self._timeout_seconds, follow_redirects=False)
        return self._opened


def metadata_addresses(issuer: str) -> list[str]:
    """Return where an issuer's metadata may be, in the order of the MCP specification."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")

    def address(path: str) -> str:
        return urlunsplit((parts.scheme, parts.netloc, path, "", ""))

    addresses = [
        address(f"/.well-known/oauth-authorization-server{path}"),
        address(f"/.well-known/openid-configuration{path}"),
    ]
    if path:
        addresses.append(address(f"{path}/.well-known/openid-configuration"))
    return addresses


def is_secure_url(text: str) -> bool:
    """Return whether `text` is an https URL, or an http URL on loopback."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    if not parts.hostname:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))


def basic_credentials(client_id: str, client_secret: str) -> str:
    """Return the Authorization header of a confidential client (RFC 6749 §2.3.1)."""
    pair = f"{quote(client_id, safe='')}:{quote(client_secret, safe='')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _parse_metadata(document: Mapping[str, Any], issuer: str) -> ServerMetadata:
    if str(document.get("issuer", "")).rstrip("/") != issuer.rstrip("/"):
        named = label(str(document.get("issuer")))
        raise IssuerDown(
            f"the metadata of {issuer} names another issuer: '{named}'", named_issuer=named
        )
    return ServerMetadata(
        issuer=str(document["issuer"]),
        authorization_endpoint=_endpoint(document, "authorization_endpoint", issuer),
        token_endpoint=_endpoint(document, "token_endpoint", issuer),
        jwks_uri=_endpoint(document, "jwks_uri", issuer),
        introspection_endpoint=(
            _endpoint(document, "introspection_endpoint", issuer)
            if document.get("introspection_endpoint") is not None
            else None
        ),
    )


def _endpoint(document: Mapping[str, Any], name: str, issuer: str) -> str:
    address = document.get(name)
    if not isinstance(address, str) or not is_secure_url(address):
        raise IssuerDown(f"the metadata of {issuer} has no usable {name}")
    return address


def _host(address: str) -> str:
    return urlsplit(address).netloc
