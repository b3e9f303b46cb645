"""Asking a billing service of the OneAPI kind whether a token is good, and charging it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import anyio
import httpx2

from citewell.core.boundary import neutralise
from citewell.core.errors import BillingDown, BillingRefused, FetchError, SettingsError
from citewell.web.api_answer import ask_api

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.web.api_answer import ApiAnswer

_BALANCE = "/api/token/balance"
_CONSUME = "/api/token/consume"
_LONGEST_REASON = 200
_LONGEST_ID = 200
# It says yes or no, and why.
_MAX_ANSWER_BYTES = 100_000
# What a service says to a token; anything else says something of the service itself.
_TO_THE_TOKEN = frozenset({200, 400, 401, 402, 403})


class BillingService:
    """One billing service, asked with the caller's own token.

    Raises:
        SettingsError: `url` is not an http or https URL.
    """

    def __init__(self, url: str, *, timeout_seconds: float) -> None:
        if not url.startswith(("http://", "https://")):
            raise SettingsError("CITEWELL_BILLING_URL must start with http:// or https://")
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

    async def reserve(self, token: str, *, units: int, reason: str, seconds: float) -> str | None:
        """Have the service set units aside before the work; return the id of the reservation.

        None where the service knows no reservations: then it has charged them. One that is neither
        confirmed nor cancelled within `seconds` counts as confirmed.

        Raises:
            BillingRefused: the token may not spend so much.
            BillingDown: the service cannot be asked.
        """
        body = {
            "phase": "pre",
            "add_used_quota": units,
            "add_reason": reason,
            "timeout_seconds": math.ceil(seconds),
        }
        answer = await self._ask("POST", _CONSUME, token=token, body=body)
        return _reservation(answer.get("transaction"))

    async def confirm(self, token: str, reservation: str, *, units: int, reason: str) -> None:
        """Have the service charge what was set aside: the work has succeeded.

        Raises:
            BillingRefused, BillingDown: it does not, or cannot be asked.
        """
        body = {"phase": "post", "transaction_id": reservation, "final_used_quota": units}
        await self._ask("POST", _CONSUME, token=token, body={**body, "add_reason": reason})

    async def cancel(self, token: str, reservation: str, *, reason: str) -> None:
        """Have the service give back what was set aside: the work has failed.

        Raises:
            BillingRefused, BillingDown: it does not, or cannot be asked.
        """
        body = {"phase": "cancel", "transaction_id": reservation, "add_reason": reason}
        await self._ask("POST", _CONSUME, token=token, body=body)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._opened is not None:
            await self._opened.aclose()
            self._opened = None

    async def _ask(
        self, method: str, path: str, *, token: str, body: Mapping[str, object] | None = None
    ) -> Mapping[str, Any]:
        # A token may hold any letter, but httpx2 puts only ASCII into a header by itself.
        headers = {b"Authorization": f"Bearer {token}".encode()}
        try:
            # For the whole answer: the client's own limit is for each piece of it.
            with anyio.fail_after(self._timeout_seconds):
                client = self._client()
                request = client.build_request(method, self._url + path, headers=headers, json=body)
                answer = await ask_api(client, request, max_bytes=_MAX_ANSWER_BYTES)
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise BillingDown("billing check failed: the service did not answer in time") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise BillingDown("billing check failed: the service cannot be reached") from error
        except FetchError as error:
            raise BillingDown("billing check failed: the answer cannot be read") from error
        said = _parse(answer)
        if answer.status != 200 or said.get("success") is not True:
            reason = _stated_reason(said, token)
            if not reason:
                raise BillingRefused(f"billing check failed: status {answer.status}")
            raise BillingRefused(f"billing check failed: {reason}", reason=reason)
        return said

    def _client(self) -> httpx2.AsyncClient:
        # Not made before it is needed: reading the system's certificates takes a while.
        if self._opened is None:
            self._opened = httpx2.AsyncClient(timeout=self._timeout_seconds)
        return self._opened


def _parse(answer: ApiAnswer) -> Mapping[str, Any]:
    """Return the answer's JSON object; a refusal may have none."""
    if answer.status not in _TO_THE_TOKEN:
        raise BillingDown(f"billing check failed: the service answered with status {answer.status}")
    try:
        said = answer.parse_json()
    except ValueError as error:
        if answer.status != 200:
            return {}
        raise BillingDown("billing check failed: the service did not answer with JSON") from error
    return said if isinstance(said, dict) else {}


def _reservation(transaction: object) -> str | None:
    """Return the id of what is set aside; None where nothing is, as it was charged already.

    Raises:
        BillingDown: the answer leaves that open, so that nobody could give the units back.
    """
    if transaction is None:
        return None
    stated = transaction if isinstance(transaction, dict) else {}
    status, held = stated.get("status"), stated.get("transaction_id")
    if isinstance(status, str) and status != "pending":
        return None
    is_id = isinstance(held, str | int) and not isinstance(held, bool)
    if status != "pending" or not is_id or not 0 < len(str(held)) <= _LONGEST_ID:
        raise BillingDown("billing check failed: the answer names no reservation")
    return str(held)


def _stated_reason(said: Mapping[str, Any], token: str) -> str:
    stated = said.get("message")
    if not isinstance(stated, str):
        return ""
    # Some services repeat the key in what they say about it.
    return neutralise(" ".join(stated.replace(token, "…").split())[:_LONGEST_REASON])
