"""The eight data operations of seed B: rows in and out, validated."""

from __future__ import annotations

from typing import Any

import pytest
from tests.hashing_embedder import HashingEmbedder
from tests.tools.library import Library
from tests.tools.websites.jobs_site import open_websites

from citewell.app.open import already_open

pytestmark = pytest.mark.anyio

URL = "https://jobs.example/1"
CHUNKS: list[dict[str, Any]] = [
    {"content": "We build a payments platform.", "metadata": {"Header 1": "Engineer"}},
    {
        "content": "Five years of Python.",
        "metadata": {"Header 1": "Engineer", "Header 2": "Requirements"},
    },
    {"content": "Free lunch.", "metadata": {"Header 1": "Engineer", "Header 2": "Benefits"}},
]


async def create(library: Library, url: str = URL) -> int:
    source = await library.call("data_create_website_source", url=url, content_type="job_posting")
    return int(source["source_id"])


async def test_a_source_is_made_filled_read_and_deleted() -> None:
    async with open_websites({}) as library:
        source_id = await create(library)
        made = await library.call("data_create_website_chunks", source_id=source_id, chunks=CHUNKS)
        updated = await library.call(
            "data_update_website_status", source_id=source_id, status="completed"
        )
        source = await library.call("data_read_website_source", source_id=source_id)
        read = await library.call("data_read_website_chunks", source_id=source_id)
        deleted = await library.call("data_delete_website_source", source_id=source_id)
        gone = await library.call("data_read_website_source", source_id=source_id)

    assert made == {"source_id": source_id, "chunks_created": 3, "chunks_count": 3}
    assert updated == {"source_id": source_id, "processing_status": "completed"}
    assert source["processing_status"] == "completed"
    assert source["chunks_count"] == 3
    assert [chunk["content"] for chunk in read["chunks"]] == [each["content"] for each in CHUNKS]
    assert [chunk["heading_path"] for chunk in read["chunks"]] == [
        ["Engineer"],
        ["Engineer", "Requirements"],
        ["Engineer", "Benefits"],
    ]
    assert deleted.pop("untrusted")["fields"] == ["url"]
    assert deleted == {"source_id": source_id, "url": URL, "chunks_deleted": 3}
    assert gone["error"]["type"] == "NotFoundError"


async def test_chunks_are_slices_of_the_page_they_make() -> None:
    async with open_websites({}) as library:
        source_id = await create(library)
        await library.call("data_create_website_chunks", source_id=source_id, chunks=CHUNKS)
        page = await library.parts.store.get_page(source_id)
        read = await library.call("data_read_website_chunks", source_id=source_id)

    assert page is not None
    assert all(
        page.text[chunk["start"] : chunk["end"]] == chunk["content"] for chunk in read["chunks"]
    )
    assert page.text.startswith("# Engineer\n\nWe build a payments platform.\n\n## Requirements")


async def test_more_chunks_go_after_those_that_are_there() -> None:
    async with open_websites({}) as library:
        source_id = await create(library)
        await library.call("data_create_website_chunks", source_id=source_id, chunks=CHUNKS[:2])
        first = await library.call("data_read_website_chunks", source_id=source_id)
        more = await library.call(
            "data_create_website_chunks", source_id=source_id, chunks=CHUNKS[2:]
        )
        page = await library.call(
            "data_read_website_chunks", source_id=source_id, limit=1, offset=2
        )
        all_of_them = await library.call("data_read_website_chunks", source_id=source_id)

    assert more["chunks_count"] == 3
    assert [chunk["content"] for chunk in page["chunks"]] == ["Free lunch."]
    assert page["has_more"] is False
    ids = [chunk["chunk_id"] for chunk in all_of_them["chunks"]]
    assert ids[:2] == [chunk["chunk_id"] for chunk in first["chunks"]]


async def test_a_source_is_found_among_the_websites() -> None:
    async with open_websites({}) as library:
        source_id = await create(library)
        await library.call("data_create_website_chunks", source_id=source_id, chunks=CHUNKS)
        found = await library.ask("years of Python")
        listed = await library.call(
            "data_list_website_sources", filters={"content_type": "job_posting"}
        )
        none = await library.call(
            "data_list_website_sources", filters={"content_type": "blog_article"}
        )

    assert found["results"][0]["source_id"] == source_id
    assert found["results"][0]["metadata"]["Header 2"] == "Requirements"
    assert [source["source_id"] for source in listed["sources"]] == [source_id]
    assert none == {"sources": [], "total_count": 0}


async def test_chunks_are_queried_by_an_embedding_and_by_words() -> None:
    embedder = HashingEmbedder()
    python = [float(each) for each in await embedder.embed_query("Engineer › Five Python")]
    async with open_websites({}, replaced={"embedder": already_open(embedder)}) as library:
        source_id = await create(library)
        given = [
            {**each, "embedding": [float(x) for x in await embedder.embed_query(each["content"])]}
            for each in CHUNKS
        ]
        await library.call("data_create_website_chunks", source_id=source_id, chunks=given)
        by_both = await library.call(
            "data_query_chunks_hybrid", query_embedding=python, query_text="python"
        )
        wrong = await library.call(
            "data_query_chunks_hybrid", query_embedding=[1.0, 2.0], query_text="python"
        )

    best = by_both["results"][0]
    assert best["content"] == "Five years of Python."
    assert best["source_url"] == URL
    assert 0 <= best["vector_score"] < 1
    assert best["combined_score"] <= by_both["results"][-1]["combined_score"]
    assert wrong["error"]["type"] == "DataValidationError"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("data_create_website_source", {"url": "nowhere", "content_type": "job_posting"}),
        ("data_create_website_source", {"url": URL, "content_type": "poem"}),
        ("data_create_website_chunks", {"source_id": 1, "chunks": []}),
        ("data_create_website_chunks", {"source_id": 1, "chunks": [{"content": " "}]}),
        ("data_create_website_chunks", {"source_id": 1, "chunks": [{"text": "heron"}]}),
        ("data_update_website_status", {"source_id": 1, "status": "lost"}),
        (
            "data_update_website_status",
            {"source_id": 1, "status": "completed", "error_message": "but"},
        ),
        ("data_list_website_sources", {"limit": 101}),
        ("data_query_chunks_hybrid", {"query_text": ""}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_arguments_are_validated(tool: str, arguments: dict[str, Any]) -> None:
    async with open_websites({}) as library:
        await create(library)
        error = (await library.call(tool, **arguments))["error"]

    assert error["type"] == "DataValidationError"
