"""Querying the library: scores, citations, filters, fields, languages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.tools.websites.jobs_site import PAGES, Websites, open_websites

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


INDEX = (
    "<html><head><title>Jobs</title></head><body><main><h1>Jobs</h1><p>All that we offer, on pages "
    'of their own: <a href="/backend">backend</a> and <a href="/article">an article</a>.</p>'
    "</main></body></html>"
)
SITE = {**PAGES, "/": INDEX}


async def test_every_id_of_a_result_is_listed_and_deleting_it_deletes() -> None:
    async with open_websites(SITE) as websites:
        processed = await websites.process("/", mode="crawl")
        await websites.finished(processed["source_id"])
        # Read for an answer, but in nobody's library.
        await websites.call("answer", url=websites.site.url("/mixed"), query="Who counts birds?")
        found = await websites.ask("years of Python and tips for interviews")
        other = await websites.ask("software that counts water birds")
        listed = await websites.call("rag_list_websites")
        page_ids = {result["page_id"] for result in found["results"]} - {processed["source_id"]}
        refused = await websites.call("rag_delete_website", source_id=min(page_ids))
        deleted = await websites.call("rag_delete_website", source_id=processed["source_id"])
        after = await websites.ask("years of Python and tips for interviews")

    ids = {website["id"] for website in listed["websites"]}
    assert {result["source_id"] for result in (*found["results"], *other["results"])} <= ids
    assert {"/backend", "/article"} <= set(paths(found))
    assert "/mixed" not in paths(other)
    assert refused["error"]["code"] == "INVALID_ARGUMENT"
    assert f"website {processed['source_id']}" in refused["error"]["message"]
    assert deleted["chunks_deleted"] > 0
    assert after["results"] == []


async def test_another_source_of_the_same_page_does_not_change_its_type() -> None:
    async with open_websites(SITE) as websites:
        await websites.process("/backend", content_type="job_posting")
        site = await websites.process("/", mode="crawl", content_type="company_page")
        await websites.finished(site["source_id"])
        jobs = await websites.ask("years of Python", content_type_filter="job_posting")
        companies = await websites.ask("years of Python", content_type_filter="company_page")

    assert set(paths(jobs)) == {"/backend"}
    assert "/backend" in paths(companies)


async def test_the_general_type_is_one_that_can_be_asked_for() -> None:
    async with open_websites() as websites:
        await websites.process("/backend")
        await websites.process("/article", content_type="blog_article")
        made = await websites.call(
            "data_create_website_source", url="https://birds.example/a", content_type="general"
        )
        found = await websites.ask("tips and years of Python", content_type_filter="general")
        listed = await websites.call("rag_list_websites", content_type="general")
        sources = await websites.call(
            "data_list_website_sources", filters={"content_type": "general"}
        )

    assert made["content_type"] == "general"
    assert set(paths(found)) == {"/backend"}
    assert listed["total_count"] == sources["total_count"] == 2
