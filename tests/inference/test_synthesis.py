"""Language models behind HTTP, against endpoints that speak their APIs."""

from __future__ import annotations

import pytest
from tests.inference.model_server import Answer, Call, running_model_server

from citewell.core.errors import InferenceError, SettingsError
from citewell.inference.open import open_synthesizer

pytestmark = pytest.mark.anyio


def completion(call: Call) -> Answer:
    return Answer(body={"choices": [{"message": {"role": "assistant", "content": "Fish [1]."}}]})


def message(call: Call) -> Answer:
    return Answer(body={"content": [{"type": "text", "text": "Fish [1]."}, {"type": "thinking"}]})


async def written_by(name: str, endpoint: str) -> str:
    model = open_synthesizer(name, endpoint=endpoint, api_key="key")
    assert model is not None
    try:
        return await model.write("What do herons eat?", max_tokens=50)
    finally:
        await model.aclose()


async def test_an_openai_endpoint_is_asked_for_a_completion() -> None:
    with running_model_server(completion) as server:
        text = await written_by("openai:m", f"{server.url}/v1")

    assert text == "Fish [1]."
    call = server.calls[0]
    assert call.path == "/v1/chat/completions"
    assert call.headers["Authorization"] == "Bearer key"
    assert call.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "What do herons eat?"}],
        "max_tokens": 50,
    }


async def test_an_anthropic_endpoint_is_asked_for_a_message() -> None:
    with running_model_server(message) as server:
        text = await written_by("anthropic:m", f"{server.url}/v1")

    assert text == "Fish [1]."
    call = server.calls[0]
    assert call.path == "/v1/messages"
    assert call.headers["x-api-key"] == "key"
    assert call.headers["anthropic-version"]
    assert "Authorization" not in call.headers
    assert call.body["max_tokens"] == 50


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize(
    "body", [{}, {"choices": [], "content": []}, [], {"choices": [{"message": {"content": " "}}]}]
)
async def test_an_answer_without_text_is_an_error(kind: str, body: object) -> None:
    with running_model_server(lambda call: Answer(body=body)) as server:
        model = open_synthesizer(f"{kind}:m", endpoint=server.url, api_key=None)
        assert model is not None
        with pytest.raises(InferenceError):
            await model.write("Hello", max_tokens=50)
        await model.aclose()


async def test_none_is_no_model_and_others_are_refused() -> None:
    assert open_synthesizer("none", endpoint="", api_key=None) is None
    with pytest.raises(SettingsError, match="anthropic:MODEL"):
        open_synthesizer("openai", endpoint="", api_key=None)
