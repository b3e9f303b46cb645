"""Post events to a URL; a module of its own because its HTTP client is slow to import."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2

from citewell.core.errors import CitewellError, SettingsError

if TYPE_CHECKING:
    from citewell.events.records import Event

_TIMEOUT_SECONDS = 5.0
# Responses are read this far, unused: a connection is reused only after its response ended.
_MAX_ANSWER_BYTES = 65_536


class WebhookSink:
    """Posts each event; redirects are not followed, so the token goes nowhere else.

    Raises:
        SettingsError: the URL is not an http or https URL.
    """

    def __init__(self, url: str, *, token: str | None) -> None:
        self.name = "the webhook"
        self._url = _checked(url)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._client = httpx2.AsyncClient(headers=headers, timeout=_TIMEOUT_SECONDS)

    async def write(self, event: Event) -> None:
        """Post the event; an answer other than 2xx raises."""
        posting = self._client.stream("POST", self._url, json=event.as_json())
        async with posting as response:
            if not response.is_success:
                # httpx2's own error names the URL, whose path can be the receiver's secret.
                raise CitewellError(f"it answered with status {response.status_code}")
            received = 0
            async for data in response.aiter_raw():
                received += len(data)
                if received > _MAX_ANSWER_BYTES:
                    return

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _checked(url: str) -> str:
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise SettingsError("a URL in CITEWELL_EVENTS cannot be read") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise SettingsError("a webhook in CITEWELL_EVENTS must start with http:// or https://")
    return url
