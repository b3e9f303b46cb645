"""Text that a caller supplied is marked in every result that returns its words, in both forms."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from bench.redteam.injection import WITHOUT_PAGE_WORDS
from tests.drafts import draft
from tests.tools.library import ME, Library, open_library

from citewell.app.call import Call
from citewell.core.boundary import SUPPLIED
from citewell.core.records import PageDraft
from citewell.tools.catalog import ALL_TOOLS
from citewell.tools.resources import ResourceText, list_resources, read_resource

pytestmark = pytest.mark.anyio

URL = "https://supplied.example/quokkas"
QUOTE = "The quokka eats leaves on Rottnest Island every evening."
WORD = "Rottnest"

# These return nothing that is in the library, or fetch the page or need its response, so that
# supplied text is replaced or refused; `data_create_website_source` comes before there is any.
WITHOUT_SUPPLIED_WORDS = WITHOUT_PAGE_WORDS | {
    "answer", "data_create_website_source", "data_delete_website_source", "extract_key_info",
    "get_doc_page", "graph.entities_for_sections", "graph.sections_for_entities", "ingest", "list_doc_pages",
    "make_receipt", "rag_delete_website", "rag_process_website", "rag_refresh_website",
    "search_docs", "web_fetch", "web_search",
}  # fmt: skip


class Marks:
    """Calls tools, and notes those that return supplied words without saying so."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.shown: set[str] = set()
        self.unmarked: list[str] = []

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self._library.result(tool, **arguments)
        assert "error" not in result.structured, result.text
        written = json.dumps(result.structured)
        if WORD in written:
            self.shown.add(tool)
            if '"supplied": true' not in written and '"supplied_at":' not in written:
                self.unmarked.append(f"{tool}, JSON: {written}")
        if WORD in result.text and "supplied by a caller" not in result.text:
            self.unmarked.append(f"{tool}, text: {result.text}")
        return result.structured


async def supply(library: Library) -> int:
    made = await library.call("data_create_website_source", url=URL, content_type="job_posting")
    chunks = [
        {"content": QUOTE, "metadata": {"Header 1": f"{WORD} food"}},
        {
            "content": f"On {WORD} Island `QuokkaBed.sleep()` is called.",
            "metadata": {"Header 1": "QuokkaBed.sleep()"},
        },
    ]
    source = {"source_id": made["source_id"]}
    await library.call("data_create_website_chunks", **source, chunks=chunks)
    await library.call("data_update_website_status", **source, status="completed")
    return int(made["source_id"])


def supplied_release(version: str) -> PageDraft:
    text = f"The feeder of version {version} fills itself on {WORD} Island."
    page = draft(f"pypi:quokkas@{version}/quokkas", text, title="quokkas", heading="Feeder")
    return replace(page, fetched=replace(page.fetched, origin="supplied"))


async def search_and_read(marks: Marks, source_id: int) -> None:
    await marks.call("search", query="What does the quokka eat?")
    await marks.call("status", source_url=URL)
    found = await marks.call("kb.search", query="quokka", options={"max_per_doc": 5})
    await marks.call("search_sections", query="quokka")
    await marks.call("kb.retrieve_evidence", question="What does the quokka eat?")
    await marks.call("search_documentation", query="What does the quokka eat?")
    ids = [result["passage_id"] for result in found["results"]]
    sections = [result["section_id"] for result in found["results"]]
    await marks.call("kb.read_excerpt", passage_id=ids[0])
    await marks.call("kb.expand_excerpt", passage_id=ids[0])
    await marks.call("kb.extract_evidence", question="What does the quokka eat?", passage_ids=ids)
    await marks.call("get_section_text", section_ids=sections)
    await marks.call("expand_neighbors", node_ids=sections[:1], include_snippet=True)
    await marks.call("kb.verify_quote", quote=QUOTE, url=URL)
    await marks.call("fetch", id=str(source_id))
    nodes: dict[str, Any] = {"node_ids": sections[:1], "include_snippet": True}
    await marks.call("graph.describe", **nodes)
    await marks.call("graph.expand", **nodes)
    await marks.call("graph.parents", **nodes)
    await marks.call("graph.children", node_ids=[URL], include_snippet=True)
    entities = await marks.call("graph.entities_for_sections", section_ids=sections)
    assert entities["nodes"] == [], "no entities are read from supplied text"
    await marks.call("graph.paths", from_ids=sections[:1], to_ids=[URL])


async def check_and_list(marks: Marks, source_id: int) -> None:
    await marks.call("compare_versions", subject="pypi:quokkas@2.0.0/quokkas")
    await marks.call("check_draft", draft=QUOTE)
    await marks.call("check_citations", text=f"> {QUOTE}\n\n[it]({URL})", against="library")
    await marks.call("rag_query_websites", query="quokka", include_synthesis=True)
    await marks.call("rag_list_websites")
    await marks.call("rag_get_website_status", source_id=source_id)
    await marks.call("data_list_website_sources")
    await marks.call("data_query_chunks_hybrid", query_text="quokka")
    await marks.call("data_read_website_source", source_id=source_id)
    await marks.call("data_read_website_chunks", source_id=source_id)


async def test_every_result_with_supplied_words_says_so() -> None:
    async with open_library() as library:
        marks = Marks(library)
        source_id = await supply(library)
        await library.put(*(supplied_release(version) for version in ("1.0.0", "2.0.0")))
        await search_and_read(marks, source_id)
        await check_and_list(marks, source_id)

    assert marks.unmarked == []
    names = {tool.name for tool in ALL_TOOLS}
    assert sorted(names - WITHOUT_SUPPLIED_WORDS - marks.shown) == []


async def test_a_resource_of_supplied_text_says_so() -> None:
    async with open_library() as library:
        source_id = await supply(library)
        call = Call(parts=library.parts, caller=ME)
        listed = {resource.uri: resource for resource in await list_resources(call)}
        page = await read_resource(f"citewell://page/{source_id}", call)
        website = await read_resource(f"citewell://website/{source_id}", call)

    assert isinstance(page, ResourceText)
    assert isinstance(website, ResourceText)
    assert SUPPLIED in page.text
    assert SUPPLIED in website.text
    assert SUPPLIED in listed[f"citewell://page/{source_id}"].description


async def test_a_verdict_that_rests_on_supplied_text_says_so() -> None:
    async with open_library() as library:
        await supply(library)
        draft = await library.result("check_draft", draft=QUOTE)
        cited = await library.result(
            "check_citations", text=f"> {QUOTE}\n\n[it]({URL})", against="library"
        )

    assert f"line 1: QUOTED by text {SUPPLIED}: " in draft.text
    assert f"not_indexed, {SUPPLIED}: " in cited.text
    assert {row["verdict"] for row in cited.structured["references"]} == {"not_indexed"}


async def test_supplied_text_is_no_earlier_version_of_a_page() -> None:
    async with open_library() as library:
        await supply(library)
        await library.put(draft(URL, "The quokka eats grass.", title="Quokkas"))
        compared = await library.result("compare_versions", subject=URL)

    assert WORD not in compared.text
