"""Querying the library: scores, citations, filters, fields, languages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.tools.websites.jobs_site import Websites, open_websites

pytestmark = pytest.mark.anyio


async def process_all(websites: Websites) -> dict[str, int]:
    """Process every page of the site; return their ids by path."""
    ids: dict[str, int] = {}
    for path, content_type in (
        ("/backend", "job_posting"),
        ("/frontend", "job_posting"),
        ("/ja", "job_posting"),
        ("/article", "blog_article"),
        ("/mixed", "company_page"),
    ):
        ids[path] = (await websites.process(path, content_type=content_type))["source_id"]
    return ids


def paths(found: dict[str, Any]) -> list[str]:
    return ["/" + result["source_url"].rpartition("/")[2] for result in found["results"]]


async def test_results_carry_scores_header_path_and_citation() -> None:
    async with open_websites() as websites:
        await process_all(websites)
        found = await websites.ask("How many years of Python do you want?")

    best = found["results"][0]
    assert best["source_url"] == websites.site.url("/backend")
    assert "Five years of Python" in best["content"]
    assert best["metadata"] == {
        "Header 1": "Backend Engineer at Acme",
        "Header 2": "Requirements",
        "Header 3": "Technical Skills",
    }
    assert best["citation"] == (
        f"Source: {websites.site.url('/backend')} "
        "(Section: 'Backend Engineer at Acme > Requirements > Technical Skills')"
    )
    scores = [result["combined_score"] for result in found["results"]]
    assert scores == sorted(scores)
    assert all(0 <= score <= 1 for score in scores)
    assert found["total_results"] >= len(found["results"])
    assert found["confidence_level"] in ("high", "medium", "low")


async def test_content_types_and_source_ids_narrow_a_query() -> None:
    async with open_websites() as websites:
        ids = await process_all(websites)
        articles = await websites.ask("companies in Japan", content_type_filter="blog_article")
        one = await websites.ask("years of experience", source_ids=[ids["/frontend"]])

    assert set(paths(articles)) == {"/article"}
    assert set(paths(one)) == {"/frontend"}


async def test_fields_narrow_a_query() -> None:
    async with open_websites() as websites:
        await process_all(websites)
        tokyo = await websites.ask("engineer", fields={"location": "tokyo"})
        osaka = await websites.ask("engineer", fields={"location": "Osaka", "company": "heron"})
        nowhere = await websites.ask("engineer", fields={"location": "Kyoto"})
        unknown = await websites.result(
            "rag_query_websites", query="engineer", fields={"colour": "red"}
        )

    assert set(paths(tokyo)) == {"/backend"}
    assert set(paths(osaka)) == {"/frontend"}
    assert nowhere["results"] == []
    assert unknown.is_error
    assert "no field 'colour'" in unknown.structured["error"]["message"]


async def test_a_page_whose_field_the_query_names_comes_first() -> None:
    async with open_websites() as websites:
        await process_all(websites)
        acme = await websites.ask("technical skills for the engineer at Acme")
        heron = await websites.ask("technical skills for the engineer at Heron")

    assert paths(acme)[0] == "/backend"
    assert paths(heron)[0] == "/frontend"


async def test_what_a_field_holds_is_found_by_the_name_of_the_field() -> None:
    async with open_websites() as websites:
        await process_all(websites)
        found = await websites.ask("What perks does the backend engineer get?")

    assert any("Health insurance" in result["content"] for result in found["results"])


async def test_a_query_finds_its_own_language() -> None:
    async with open_websites() as websites:
        await process_all(websites)
        japanese = await websites.ask("必須スキルは何ですか")
        english = await websites.ask("What technical skills are required?")

    assert paths(japanese)[0] == "/ja"
    assert "/ja" not in paths(english)


async def test_a_mixed_page_is_found_in_both_languages() -> None:
    async with open_websites() as websites:
        ids = await process_all(websites)
        status = await websites.call("rag_get_website_status", source_id=ids["/mixed"])
        japanese = await websites.ask("水鳥の数を数える")
        english = await websites.ask("software that counts water birds")

    assert status["language"] == "mixed"
    assert paths(japanese)[0] == paths(english)[0] == "/mixed"


async def test_page_text_is_fenced_in_the_readable_form() -> None:
    async with open_websites() as websites:
        await process_all(websites)
        result = await websites.result("rag_query_websites", query="Five years of Python")

    head, _, rest = result.text.partition("\n")
    nonce = head.partition("⟦")[2].partition(" ")[0]
    assert nonce
    assert f"⟦{nonce}\n### Technical Skills" in rest
    assert str(result.structured["results"][0]["chunk_id"]) in rest


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": ""},
        {"query": "  "},
        {"query": "heron", "max_results": 0},
        {"query": "heron", "max_results": 21},
        {"query": "heron", "content_type_filter": "poem"},
        {"query": "heron", "source_ids": []},
    ],
    ids=["empty", "blank", "too few", "too many", "no such type", "no ids"],
)
async def test_arguments_out_of_range_are_refused(arguments: dict[str, Any]) -> None:
    async with open_websites() as websites:
        error = (await websites.call("rag_query_websites", **arguments))["error"]

    assert error["type"] == "DataValidationError"


async def test_at_most_max_results_are_returned() -> None:
    async with open_websites() as websites:
        await process_all(websites)
        found = await websites.ask("engineer Japan skills", max_results=2)

    assert len(found["results"]) == 2
    assert found["total_results"] > 2


async def test_a_query_emits_its_start_and_its_end(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    async with open_websites(events=(str(log),)) as websites:
        await websites.ask("heron", content_type_filter="job_posting")

    start, end = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert start["event"] == "SemanticQueryStart"
    assert start["source_app"] == "citewell"
    assert start["filters"]["content_type"] == "job_posting"
    assert end["event"] == "SemanticQueryComplete"
    assert end["results_count"] == 0
    assert isinstance(end["processing_time_ms"], int)
