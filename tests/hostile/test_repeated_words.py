"""Texts that repeat their words or paragraphs are compared in bounded time."""

from __future__ import annotations

import pytest
from tests.hostile.little_cpu import little_cpu, short_steps
from tests.site import running_site
from tests.tools.library import open_library

from citewell.answer.verify import verify_quote, verify_quotes
from citewell.core.difference import find_changes, mark_difference
from citewell.core.sequence_match import find_opcodes


def test_a_quote_of_few_words_is_looked_for_in_a_page_of_the_same() -> None:
    with little_cpu():
        result = verify_quote("heron fish " * 150 + "owl", "heron " * 20_000)

    assert result.verdict in ("changed", "gone")


def test_a_long_quote_is_not_looked_for_at_every_sentence() -> None:
    page = "".join(f"The heron eats fish {number}. " for number in range(20_000))
    quote = "".join(f"The heron eats fish {number}. " for number in range(9_003, 9_203))

    with little_cpu():
        result = verify_quote(quote.replace("9100", "none"), page)

    assert result.verdict == "changed"
    assert result.found is not None
    assert result.found.startswith("The heron eats fish 9003.")
    assert result.difference is not None
    assert "[-none-]{+9100+}" in result.difference


def test_twenty_absent_quotes_are_looked_for_in_a_large_page_at_the_cost_of_few() -> None:
    page = "".join(
        f"The **heron** of lake {number} eats [fish](lake-{number}.html) when `wind` is low. "
        for number in range(10_000)
    )
    quotes = [(f"An owl of wood {number} hunts mice at night.", None) for number in range(20)]

    with little_cpu():
        results = verify_quotes([*quotes, ("lake 9999 eats fish", None)], page)

    assert [result["verdict"] for result in results] == ["gone"] * 20 + ["exact"]


def test_paragraphs_and_words_that_repeat_are_compared() -> None:
    old, new = ["heron", "fish"] * 700, ["fish", "heron", "owl"] * 460

    with little_cpu():
        changes = find_changes(
            text := "\n\n".join(old), (0, len(text)), other := "\n\n".join(new), (0, len(other))
        )
        marked = mark_difference(" ".join(old), " ".join(new))

    assert changes
    assert "{+" in marked


def test_what_both_begin_and_end_with_is_equal_however_long() -> None:
    same = ["heron"] * 50_000

    steps = find_opcodes([*same, "fish", *same], [*same, "owl", "crow", *same])

    assert steps == [
        ("equal", 0, 50_000, 0, 50_000),
        ("replace", 50_000, 50_001, 50_000, 50_002),
        ("equal", 50_001, 100_001, 50_002, 100_002),
    ]


@pytest.mark.anyio
async def test_quotes_are_looked_for_beside_the_event_loop() -> None:
    page = "".join(f"<p>The heron eats fish {number}.</p>" for number in range(12_000))
    page += f"<!--{' id=ab&amp;' * 300_000}-->"

    with running_site({"/herons": f"<html><title>H</title><main>{page}"}) as site:
        url = site.url("/herons")
        async with open_library(web_allowed_private_hosts=(site.host,)) as library:
            await library.parts.ingester.ingest(url, project="default")
            # What is loaded at the first call is not counted.
            await library.result("kb.verify_quote", quote="fish 1.", url=url)
            await library.result("check_citations", text=f"[a]({url}#:~:text=heron,1.)")
            async with short_steps():
                await library.result("kb.verify_quote", quote="The owl " * 600, url=url)
                links = f"[a]({url}#:~:text=heron,owl) [b]({url}#b) "
                await library.result("check_citations", text=links * 5, against="library")


def test_quotes_that_are_left_when_the_time_is_over_are_not_begun() -> None:
    quotes = [("The heron eats fish.", None), ("The egret eats fish.", None)]

    results = verify_quotes(quotes, "The heron eats fish. It nests in trees.", 0.0)

    assert [result["verdict"] for result in results] == ["exact"]
