"""A small site of linked pages, read as ingestion reads it."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.drafts import draft_of

from citewell.core.records import FetchedPage, PageDraft

SITE = "https://birds.example/"

HERONS = """# Herons

The [grey heron](https://birds.example/grey.html) is one of the **heron family**.

## Nests

A heronry is a colony. See [egrets](https://birds.example/egrets.html) and `birds.nest()`.

### Eggs

Three to five eggs, counted by `birds.count_eggs()`.

## Food

Fish and frogs. The Water Vole is rare; a Water Vole swims.
"""
EGRETS = """# Egrets

White herons. See [herons](https://birds.example/herons.html).

## birds.nest

Builds a nest. It calls `birds.count_eggs()`.

## Plumes

Hats were made of them, and the Water Vole has none. No Water Vole wears hats.
"""
GREY = """# Grey heron

It stands still.
"""
INDEX = """# Index

[herons](https://birds.example/herons.html) [egrets](https://birds.example/egrets.html)
[grey](https://birds.example/grey.html)
"""


def page(name: str, markdown: str, *, tags: tuple[str, ...] = ()) -> PageDraft:
    """A Markdown page of the site, with its chunks and entities."""
    fetched = FetchedPage(
        url=SITE + name,
        final_url=SITE + name,
        status=200,
        kind="markdown",
        body=markdown.encode(),
        text=markdown,
        fetched_at=datetime(2026, 3, 14, tzinfo=UTC),
    )
    return draft_of(fetched, tags=tags)


PAGES = (
    page("herons.html", HERONS, tags=("water",)),
    page("egrets.html", EGRETS, tags=("water",)),
    page("grey.html", GREY),
    page("index.html", INDEX),
)
