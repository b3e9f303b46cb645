"""Who writes the synthesis, and that every sentence of it cites a result."""

from __future__ import annotations

import pytest
from tests.inference.model_server import Answer, Call, running_model_server
from tests.tools.websites.jobs_site import Websites, open_websites

from citewell.app.client_port import ClientMustAnswer, PersonReply

pytestmark = pytest.mark.anyio

QUESTION = "How many years of Python?"


class Speechless:
    """A client that cannot ask its person anything."""

    elicits = None
    reply = None

    async def elicit(self, question: str, *, key: str) -> PersonReply | None:
        return None


class Writer(Speechless):
    """A client whose model writes `text`, or which has none."""

    def __init__(self, text: str | None) -> None:
        self.text = text
        self.prompts: list[str] = []

    async def sample(self, prompt: str, *, max_tokens: int) -> str | None:
        self.prompts.append(prompt)
        return self.text


class Asking(Speechless):
    """A client that has to be asked by ending the call."""

    async def sample(self, prompt: str, *, max_tokens: int) -> str | None:
        raise ClientMustAnswer


async def prepared(websites: Websites) -> Websites:
    await websites.process("/backend")
    return websites


async def test_the_clients_own_model_writes_first() -> None:
    client = Writer("Five years [1]. The rest is made up. And more [9].")
    async with open_websites() as websites:
        await prepared(websites)
        result = await websites.asked_by(client, QUESTION, include_synthesis=True)

    assert result.structured["synthesis"] == "Five years [1]."
    assert result.structured["synthesis_by"] == "client"
    assert f"User query: {QUESTION}" in client.prompts[0]
    assert "Synthesis by client" in result.text


async def test_a_client_that_must_be_asked_ends_the_call() -> None:
    async with open_websites() as websites:
        await prepared(websites)
        with pytest.raises(ClientMustAnswer):
            await websites.asked_by(Asking(), QUESTION, include_synthesis=True)


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_a_configured_model_writes_where_the_client_has_none(kind: str) -> None:
    def answer(call: Call) -> Answer:
        message = {"content": "Five years [1]."}
        return Answer(
            body={
                "choices": [{"message": message}],
                "content": [{"type": "text", "text": "Five years [1]."}],
            }
        )

    with running_model_server(answer) as server:
        async with open_websites(
            synthesis=f"{kind}:m", synthesis_endpoint=server.url, synthesis_api_key="key"
        ) as websites:
            await prepared(websites)
            result = await websites.asked_by(Writer(None), QUESTION, include_synthesis=True)

    assert result.structured["synthesis"] == "Five years [1]."
    assert result.structured["synthesis_by"] == f"{kind}:m"


async def test_without_any_model_quotes_are_joined() -> None:
    async with open_websites() as websites:
        await prepared(websites)
        found = await websites.ask(QUESTION, include_synthesis=True)

    assert found["synthesis_by"] == "extractive"
    assert "Five years of Python" in found["synthesis"]
    assert "[1]" in found["synthesis"]


async def test_a_model_that_fails_or_cites_nothing_leaves_it_to_the_quotes() -> None:
    with running_model_server(lambda call: Answer(body={}, status=401)) as server:
        async with open_websites(synthesis="openai:m", synthesis_endpoint=server.url) as websites:
            await prepared(websites)
            result = await websites.asked_by(
                Writer("I know it by heart."), QUESTION, include_synthesis=True
            )

    assert result.structured["synthesis_by"] == "extractive"
    assert "status 401" in result.structured["notes"][0]


async def test_there_is_no_synthesis_unless_it_is_asked_for() -> None:
    async with open_websites() as websites:
        await prepared(websites)
        found = await websites.ask(QUESTION)

    assert found["synthesis"] is None
