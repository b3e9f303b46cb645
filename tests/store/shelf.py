"""Entries and pages of a library for the contract tests."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.drafts import draft

from citewell.core.library import (
    Website,
    WebsiteDraft,
)
from citewell.core.records import Language
from citewell.store.protocol import Store

NOW = datetime(2026, 5, 1, tzinfo=UTC)
HERONS, EGRETS = "https://birds.example/herons", "https://birds.example/egrets"
SITE = "https://birds.example/"


async def add(store: Store, url: str, **changes: object) -> Website:
    website, _ = await store.library.add_website(
        WebsiteDraft(url=url, **changes),  # type: ignore[arg-type]  # the tests' own keywords
        now=NOW,
    )
    return website


async def got(store: Store, source_id: int) -> Website:
    website = await store.library.get_website(source_id, project="default")
    assert website is not None
    return website


async def put(store: Store, url: str, *paragraphs: str, language: Language = "en") -> int:
    put = await store.put_page(draft(url, *paragraphs, title="Birds", language=language))
    return put.source_id
