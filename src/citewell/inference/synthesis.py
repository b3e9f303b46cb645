"""Language models behind HTTP: OpenAI-compatible chat completions, and Anthropic messages."""

from __future__ import annotations

from typing import Any

from citewell.inference.model_endpoint import ModelEndpoint

OPENAI_ENDPOINT = "https://api.openai.com/v1"
ANTHROPIC_ENDPOINT = "https://api.anthropic.com/v1"
_ANTHROPIC_VERSION = "2023-06-01"
# A tool call is waiting for it: better the quotes alone than an answer after minutes.
_TIMEOUT_SECONDS = 40.0


class OpenAiSynthesizer:
    """A model that posts to `{endpoint}/chat/completions`."""

    def __init__(
        self,
        model: str,
        *,
        endpoint: str,
        api_key: str | None,
        first_wait_seconds: float = 0.5,
    ) -> None:
        self._model = model
        self._endpoint = ModelEndpoint(
            (endpoint or OPENAI_ENDPOINT).rstrip("/") + "/chat/completions",
            api_key=api_key,
            timeout_seconds=_TIMEOUT_SECONDS,
            first_wait_seconds=first_wait_seconds,
        )

    @property
    def name(self) -> str:
        """Who writes."""
        return f"openai:{self._model}"

    async def write(self, prompt: str, *, max_tokens: int) -> str:
        """Return what the model writes.

        Raises:
            InferenceError: the endpoint cannot be reached, refuses or answers without text.
        """
        messages = [{"role": "user", "content": prompt}]
        body: dict[str, Any] = {"model": self._model, "messages": messages}
        answer = await self._endpoint.post({**body, "max_tokens": max_tokens})
        try:
            text = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise self._endpoint.unexpected_answer("something that is no completion") from error
        if not isinstance(text, str) or not text.strip():
            raise self._endpoint.unexpected_answer("no text")
        return text.strip()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._endpoint.aclose()


class AnthropicSynthesizer:
    """A model that posts to `{endpoint}/messages`."""

    def __init__(
        self,
        model: str,
        *,
        endpoint: str,
        api_key: str | None,
        first_wait_seconds: float = 0.5,
    ) -> None:
        self._model = model
        self._endpoint = ModelEndpoint(
            (endpoint or ANTHROPIC_ENDPOINT).rstrip("/") + "/messages",
            api_key=None,
            headers={"x-api-key": api_key or "", "anthropic-version": _ANTHROPIC_VERSION},
            timeout_seconds=_TIMEOUT_SECONDS,
            first_wait_seconds=first_wait_seconds,
        )

    @property
    def name(self) -> str:
        """Who writes."""
        return f"anthropic:{self._model}"

    async def write(self, prompt: str, *, max_tokens: int) -> str:
        """Return what the model writes.

        Raises:
            InferenceError: the endpoint cannot be reached, refuses or answers without text.
        """
        messages = [{"role": "user", "content": prompt}]
        body: dict[str, Any] = {"model": self._model, "messages": messages}
        answer = await self._endpoint.post({**body, "max_tokens": max_tokens})
        try:
            blocks = [block["text"] for block in answer["content"] if block["type"] == "text"]
        except (KeyError, TypeError) as error:
            raise self._endpoint.unexpected_answer("something that is no message") from error
        text = "\n".join(map(str, blocks)).strip()
        if not text:
            raise self._endpoint.unexpected_answer("no text")
        return text

    async def aclose(self) -> None:
        """Close the connections."""
        await self._endpoint.aclose()
