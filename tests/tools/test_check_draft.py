"""`check_draft` and `check_citations` as a model calls them."""

from __future__ import annotations

from dataclasses import dataclass

from tests.tools.library import HERONS, open_library

from citewell.app.client_port import PersonReply
from citewell.core.records import Caller
from citewell.core.settings import Settings
from citewell.tools.catalog import open_registry
from citewell.tools.results import ToolResult

DRAFT = "The grey heron eats fish. The grey heron does not eat fish at all. Whales sing at night in June."


@dataclass
class SamplingClient:
    """A client whose model writes one reply to everything."""

    elicits: None = None
    reply: PersonReply | None = None
    prompt: str = ""
    writes: str = "1: supported\n**2. Contradicted**\nnonsense"

    async def elicit(self, question: str, *, key: str) -> PersonReply | None:
        return None

    async def sample(self, prompt: str, *, max_tokens: int) -> str | None:
        self.prompt = prompt
        return self.writes


async def check_with(client: SamplingClient) -> ToolResult:
    async with open_library() as library:
        registry = open_registry(Settings(mcp_toolsets=("all",)))
        return await registry.call(
            "check_draft",
            {"draft": DRAFT},
            app=library.app,
            caller=Caller(session="s"),
            client=client,
        )


async def test_each_sentence_has_a_verdict_and_its_quote() -> None:
    async with open_library() as library:
        result = await library.result("check_draft", draft=DRAFT)

    claims = result.structured["claims"]
    assert [claim["verdict"] for claim in claims] == ["quoted", "contradicted", "unsupported"]
    assert claims[0]["quotes_for"][0]["quote"].startswith("The grey heron eats fish")
    assert claims[0]["quotes_for"][0]["link"].startswith(f"{HERONS.url}#")
    assert "quotes_for" not in claims[1]
    assert claims[1]["quotes_against"][0]["differing"] == ["1 negation / no negations"]
    assert "no model was asked" in result.text
    assert "model_verdict" not in claims[0] or claims[0]["model_verdict"] is None


async def test_the_model_of_the_client_is_shown_beside_and_called_so() -> None:
    client = SamplingClient()
    result = await check_with(client)

    claims = result.structured["claims"]
    assert [claim.get("model_verdict") for claim in claims] == ["supported", "contradicted", None]
    assert "(the client's model: contradicted)" in result.text
    assert "Whales" not in client.prompt
    assert "no model was asked" not in result.text


async def test_a_reply_without_a_verdict_is_not_called_no_model() -> None:
    result = await check_with(SamplingClient(writes="I cannot say."))

    assert "was asked, too, and gave no verdict that can be read" in result.text


async def test_a_draft_of_a_megabyte_is_refused_and_a_long_one_cut() -> None:
    async with open_library() as library:
        huge = await library.call("check_draft", draft="The heron eats. " * 70_000)
        long = await library.call("check_draft", draft="The grey heron eats fish daily. " * 60)

    assert huge["error"]["code"] in ("INVALID_ARGUMENT", "BUDGET_EXCEEDED")
    assert (len(long["claims"]), long["is_complete"]) == (40, False)


async def test_the_quotes_of_a_text_are_checked_by_the_library() -> None:
    text = f"“The grey heron eats fish.” {HERONS.url}\n\n“The grey heron eats mice.” ({HERONS.url})"
    async with open_library() as library:
        checked = await library.call("check_citations", text=text, against="library")

    assert [row["verdict"] for row in checked["references"]] == ["exact", "changed"]
