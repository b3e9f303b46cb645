"""status: counts, a screen of pages at a time, and which of them are stale."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.drafts import draft
from tests.tools.library import open_library

from citewell.app.corpus_status import MAX_LISTED_PAGES
from citewell.core.tokens import count_tokens


async def test_a_large_library_is_listed_a_screen_at_a_time() -> None:
    count = 2 * MAX_LISTED_PAGES + 3
    pages = [draft(f"https://ponds.example/{n}", f"Pond {n}.", title="Pond") for n in range(count)]
    seen: list[str] = []
    async with open_library(*pages) as library:
        cursor = None
        while True:
            listed = await library.result("status", cursor=cursor)
            seen += [page["url"] for page in listed.structured["pages"]]
            assert listed.structured["documents"] == count
            assert count_tokens(listed.text) < 2_500
            cursor = listed.structured.get("next_cursor")
            if cursor is None:
                break
            assert f"ask with cursor {cursor}" in listed.text

    assert seen == sorted(page.url for page in pages)


async def test_a_cursor_beyond_the_last_page_lists_nothing() -> None:
    async with open_library(draft("https://a.example/", "Herons.")) as library:
        beyond = await library.call("status", cursor=10**9)
        before = await library.call("status", cursor=-3)

    assert beyond["pages"] == []
    assert [page["url"] for page in before["pages"]] == ["https://a.example/"]


async def test_a_page_that_would_be_fetched_again_is_marked() -> None:
    fresh = draft("https://a.example/new", "Herons.", fetched_at=datetime.now(UTC))
    old = draft("https://a.example/old", "Owls.", fetched_at=datetime.now(UTC) - timedelta(days=90))
    async with open_library(fresh, old) as library:
        listed = await library.result("status")

    assert [page.get("is_stale") for page in listed.structured["pages"]] == [None, True]
    assert listed.text.count("stale") == 1


async def test_without_urls_only_the_counts_are_given() -> None:
    async with open_library() as library:
        listed = await library.call("status", include_urls=False)

    assert listed.keys() == {"documents", "chunks", "tokens", "embedded_chunks"}
