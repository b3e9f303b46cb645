"""Both forms of a research result hold the same evidence, within one budget."""

from __future__ import annotations

import json

import pytest
from tests.drafts import draft
from tests.tools.library import open_library

from citewell.core.certainty import DOUBTFUL
from citewell.core.records import PageDraft
from citewell.core.tokens import count_tokens

pytestmark = pytest.mark.anyio

ASKED = "What do herons eat at pond number 3?"
# Sources, statistics and the names of fields, which are never cut.
FRAME_TOKENS = 420


def pond(number: int) -> PageDraft:
    sentences = [
        f"Herons eat fish of kind {kind} at pond number {number}, mostly early in the morning."
        for kind in range(25)
    ]
    return draft(
        f"https://ponds.example/{number}.html",
        " ".join(sentences),
        title=f"Pond {number}",
        heading=f"Herons of pond {number}",
    )


PONDS = [pond(number) for number in range(8)]


@pytest.mark.parametrize("detail", ["quotes", "passages", "brief"])
@pytest.mark.parametrize("budget", [200, 600, 1_500, 30_000])
async def test_both_forms_hold_the_same_evidence_within_the_budget(
    detail: str, budget: int
) -> None:
    async with open_library(*PONDS, mcp_response_token_budget=budget) as library:
        result = await library.result("search", query=ASKED, detail=detail)

    evidence = result.structured["evidence"]
    structured = json.dumps(result.structured, ensure_ascii=False)
    assert evidence
    assert result.text.count("\nSource [") == len(evidence)
    assert count_tokens(result.text) <= budget + FRAME_TOKENS
    assert count_tokens(structured) <= budget + FRAME_TOKENS
    if budget > 2 * FRAME_TOKENS:
        assert count_tokens(structured) <= budget + 100


async def test_what_is_cut_to_fit_is_still_on_its_page_under_its_id() -> None:
    async with open_library(*PONDS, mcp_response_token_budget=300) as library:
        found = await library.call("search", query=ASKED, detail="passages")
        (piece,) = found["evidence"]
        verified = await library.call(
            "kb.verify_quote", quote=piece["text"], citation_id=piece["id"]
        )

    assert piece["is_cut"] is True
    assert (verified["verdict"], verified["start"], verified["end"]) == (
        "exact",
        piece["start"],
        piece["end"],
    )


async def test_a_result_says_how_much_was_left_out() -> None:
    asked = "When do herons catch fish, and where?"
    async with open_library(*PONDS) as library:
        whole = await library.call("search", query=asked)
    async with open_library(*PONDS, mcp_response_token_budget=400) as library:
        cut = await library.result("search", query=asked)

    shown, total = len(cut.structured["evidence"]), len(whole["evidence"])
    assert 0 < shown < total
    assert cut.structured["stats"]["omitted_blocks"] == total - shown
    assert f"(showing {shown} of {total} quotes" in cut.text


async def test_a_block_that_is_cut_to_fit_says_so_in_both_forms() -> None:
    async with open_library(*PONDS, mcp_response_token_budget=300) as library:
        result = await library.result("search", query=ASKED, detail="brief")

    (piece,) = result.structured["evidence"]
    assert piece["is_cut"] is True
    assert "⟧ [cut here]" in result.text


async def test_rows_far_from_their_header_are_shown_with_its_columns() -> None:
    rows = "".join(f"| option-{n} | {3 * n} ms |\n" for n in range(200))
    text = "The options of the relay.\n\n| Option | Delay |\n|---|---|\n" + rows
    page = draft("https://relay.example/options.html", text, title="Relay")
    async with open_library(page) as library:
        found = await library.result("search", query="What is the delay of option-171?")
        quoted = await library.result("kb.retrieve_evidence", question="delay of option-171?")

    assert found.structured["evidence"][0]["columns"] == "Option | Delay"
    assert "\ncolumns: Option | Delay\n| option-1" in found.text
    assert quoted.structured["quotes"][0]["columns"] == "Option | Delay"
    assert ", columns: Option | Delay " in quoted.text


async def test_both_forms_say_that_quotes_of_little_confidence_may_not_answer() -> None:
    async with open_library() as library:
        doubtful = await library.result("search", query="days hours")
        likely = await library.result("search", query="What does the grey heron eat?")

    assert doubtful.structured["answered"]
    assert doubtful.structured["notice"] == DOUBTFUL
    assert DOUBTFUL in doubtful.text
    assert "notice" not in likely.structured
    assert DOUBTFUL not in likely.text
