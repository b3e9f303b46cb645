"""Post JSON to a model endpoint, with time limits, retries and errors that never show the key."""

from __future__ import annotations

import email.utils
import logging
import time
from typing import TYPE_CHECKING, Any

import anyio
import httpx2

from citewell.core.errors import InferenceError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

logger = logging.getLogger(__name__)

_ATTEMPTS = 4
_LONGEST_WAIT_SECONDS = 30.0
_RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})


class ModelEndpoint:
    """An endpoint that takes and returns JSON.

    Raises:
        SettingsError: `url` is not an http or https URL.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = 60.0,
        first_wait_seconds: float = 0.5,
    ) -> None:
        bearer = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._headers = {**bearer, **(headers or {})}
        self._timeout_seconds = timeout_seconds
        self._url = url
        self._host = _host_of(url)
        self._first_wait_seconds = first_wait_seconds
        self._opened: httpx2.AsyncClient | None = None

    async def post(self, body: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON; the caller checks its shape
        """Return the endpoint's answer to `body`; busy or failing endpoints are tried again.

        Raises:
            InferenceError: the endpoint cannot be reached, refuses, or does not answer with JSON.
        """
        for attempt in range(_ATTEMPTS):
            is_last = attempt == _ATTEMPTS - 1
            wait_seconds = self._first_wait_seconds * 2**attempt
            try:
                response = await self._client().post(self._url, json=body)
            except httpx2.TransportError as error:
                if is_last:
                    raise InferenceError(
                        f"the model endpoint {self._host} cannot be reached"
                    ) from error
            else:
                if is_last or response.status_code not in _RETRIED_STATUSES:
                    return self._parse(response)
                wait_seconds = _stated_wait(response) or wait_seconds
            logger.info("model endpoint %s: trying again in %.1f s", self._host, wait_seconds)
            await anyio.sleep(min(wait_seconds, _LONGEST_WAIT_SECONDS))
        raise AssertionError("the last attempt returns or raises")

    def unexpected_answer(self, what: str) -> InferenceError:
        """Return the error for an answer of the wrong shape."""
        return InferenceError(
            f"the model endpoint {self._host} answered with {what}",
            suggestion="Check that the endpoint speaks the API that the setting names.",
        )

    async def aclose(self) -> None:
        """Close the connections."""
        if self._opened is not None:
            await self._opened.aclose()
            self._opened = None

    def _client(self) -> httpx2.AsyncClient:
        # Created on first use: loading the system's certificates takes a while.
        if self._opened is None:
            self._opened = httpx2.AsyncClient(headers=self._headers, timeout=self._timeout_seconds)
        return self._opened

    def _parse(self, response: httpx2.Response) -> Any:  # noqa: ANN401 - JSON; the caller checks its shape
        status = response.status_code
        if status != 200:
            # The body is left out: some endpoints repeat the key in it.
            raise InferenceError(
                f"the model endpoint {self._host} answered with status {status}",
                suggestion=_advice(status),
                status=status,
            )
        try:
            return response.json()
        except ValueError as error:
            raise self.unexpected_answer("something that is not JSON") from error


def _advice(status: int) -> str:
    if status in (401, 403):
        return "Check the endpoint's API key."
    if status == 404:
        return "Check the endpoint's URL and the model's name."
    if status == 429:
        return "The endpoint's rate limit or quota is used up; try later."
    if status >= 500:
        return "The endpoint is failing; try later."
    return "Check the model's name and the length of the texts."


def _stated_wait(response: httpx2.Response) -> float | None:
    """Return the seconds of Retry-After, which is a number or a date."""
    value = response.headers.get("Retry-After", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _host_of(url: str) -> str:
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise SettingsError("the URL of the model endpoint cannot be read") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise SettingsError("the URL of the model endpoint must start with http:// or https://")
    return parsed.host
