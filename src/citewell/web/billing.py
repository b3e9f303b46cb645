"""Asking a billing service of the OneAPI kind whether a token is good, and charging it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2

from citewell.core.errors import BillingDown, BillingRefused, SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

_BALANCE = "/api/token/balance"
_CONSUME = "/api/token/consume"
_LONGEST_REASON = 200


class BillingService:
    """One billing service, asked with the caller's own token.

    Raises:
        SettingsError: `url` is not an http or https URL.
    """

    def __init__(self, url: str, *, timeout_seconds: float) -> None:
        if not url.startswith(("http://", "https://")):
            raise SettingsError("BILLING_URL must start with http:// or https://")
        self._url = url.rstrip("/")
        self._timeout_seconds = timeout_seconds
        self._opened: httpx2.AsyncClient | None = None

    async def accepts(self, token: str) -> bool:
        """Tell whether the service knows the token; nothing is charged.

        Raises:
            BillingDown: the service cannot be asked.
        """
        try:
            await self._ask("GET", _BALANCE, token=token)
        except BillingDown:
            raise
        except BillingRefused:
            return False
        return True

    async def charge(self, token: str, *, units: int, reason: str) -> None:
        """Have the service charge the token, in one step and before the work.

        Raises:
            BillingRefused: the token may not spend so much.
            BillingDown: the service cannot be asked.
        """
        body = {"add_used_quota": units, "add_reason": reason}
        await self._ask("POST", _CONSUME, token=token, body=body)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._opened is not None:
            await self._opened.aclose()
            self._opened = None

    async def _ask(
        self, method: str, path: str, *, token: str, body: Mapping[str, object] | None = None
    ) -> None:
        # A token may hold any letter, but httpx2 puts only ASCII into a header by itself.
        headers = {b"Authorization": f"Bearer {token}".encode()}
        try:
            response = await self._client().request(
                method, self._url + path, headers=headers, json=body
            )
            answer = _read(response)
        except httpx2.TimeoutException as error:
            raise BillingDown("billing check failed: the service did not answer in time") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise BillingDown("billing check failed: the service cannot be reached") from error
        if response.status_code != 200 or answer.get("success") is not True:
            reason = _stated_reason(answer, token) or f"status {response.status_code}"
            raise BillingRefused(f"billing check failed: {reason}")

    def _client(self) -> httpx2.AsyncClient:
        # Not made before it is needed: reading the system's certificates takes a while.
        if self._opened is None:
            self._opened = httpx2.AsyncClient(timeout=self._timeout_seconds)
        return self._opened


def _read(response: httpx2.Response) -> Mapping[str, Any]:
    """Return the answer's JSON object; a refusal may have none."""
    if response.status_code == 429 or response.status_code >= 500:
        status = response.status_code
        raise BillingDown(f"billing check failed: the service answered with status {status}")
    try:
        answer = response.json()
    except ValueError as error:
        if response.status_code != 200:
            return {}
        raise BillingDown("billing check failed: the service did not answer with JSON") from error
    return answer if isinstance(answer, dict) else {}


def _stated_reason(answer: Mapping[str, Any], token: str) -> str:
    stated = answer.get("message")
    if not isinstance(stated, str):
        return ""
    # Some services repeat the key in what they say about it.
    return " ".join(stated.replace(token, "…").split())[:_LONGEST_REASON]
