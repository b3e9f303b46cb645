"""Language models behind HTTP: OpenAI-compatible chat completions, and Anthropic messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.core.frozen import frozen
from citewell.inference.model_endpoint import ModelEndpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# A tool call waits for it; quotes alone are better than an answer after minutes.
_TIMEOUT_SECONDS = 40.0


@frozen
class ChatApi:
    """The request of a vendor's API, and where the text is in its response."""

    vendor: str
    endpoint: str
    """The vendor's own."""
    path: str
    headers: Callable[[str | None], Mapping[str, str]]
    """Makes them from the API key."""
    find_text: Callable[[Any], object]
    """Raises KeyError, IndexError or TypeError for an answer of another form."""


def _openai_headers(api_key: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {api_key}"} if api_key else {}


def _completion_text(answer: Any) -> object:  # noqa: ANN401 - JSON of the endpoint
    return answer["choices"][0]["message"]["content"]


def _anthropic_headers(api_key: str | None) -> dict[str, str]:
    return {"x-api-key": api_key or "", "anthropic-version": "2023-06-01"}


def _message_text(answer: Any) -> str:  # noqa: ANN401 - JSON of the endpoint
    return "\n".join(str(block["text"]) for block in answer["content"] if block["type"] == "text")


_OPENAI = ChatApi(
    vendor="openai",
    endpoint="https://api.openai.com/v1",
    path="/chat/completions",
    headers=_openai_headers,
    find_text=_completion_text,
)
_ANTHROPIC = ChatApi(
    vendor="anthropic",
    endpoint="https://api.anthropic.com/v1",
    path="/messages",
    headers=_anthropic_headers,
    find_text=_message_text,
)
CHAT_APIS = {api.vendor: api for api in (_OPENAI, _ANTHROPIC)}


class RemoteSynthesizer:
    """A model behind `{endpoint}{path}` of a chat API; without an endpoint, the vendor's own."""

    def __init__(self, api: ChatApi, model: str, *, endpoint: str, api_key: str | None) -> None:
        self._api = api
        self._model = model
        self._endpoint = ModelEndpoint(
            (endpoint or api.endpoint).rstrip("/") + api.path,
            api_key=None,
            headers=api.headers(api_key),
            timeout_seconds=_TIMEOUT_SECONDS,
        )

    @property
    def name(self) -> str:
        """Vendor and model."""
        return f"{self._api.vendor}:{self._model}"

    async def write(self, prompt: str, *, max_tokens: int) -> str:
        """Return what the model writes.

        Raises:
            InferenceError: the endpoint cannot be reached, refuses or answers without text.
        """
        messages = [{"role": "user", "content": prompt}]
        answer = await self._endpoint.post(
            {"model": self._model, "messages": messages, "max_tokens": max_tokens}
        )
        try:
            text = self._api.find_text(answer)
        except (KeyError, IndexError, TypeError) as error:
            raise self._endpoint.unexpected_answer("something of another form") from error
        if not isinstance(text, str) or not text.strip():
            raise self._endpoint.unexpected_answer("no text")
        return text.strip()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._endpoint.aclose()
