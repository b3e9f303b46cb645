"""A library of several products: the one that a question names is where to look."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.drafts import draft

from citewell.core.records import SearchFilter
from citewell.inference.calibrated_reranker import CalibratedReranker
from citewell.retrieve.pipeline import Models, Options, retrieve
from citewell.store.open import open_store
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

KITTY = "http://127.0.0.1:8001/"
KERBEROS = "http://127.0.0.1:8002/"
CLICK = "pypi:click@8.1/"


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    opened = await open_store("sqlite://", model=None)
    pages = (
        draft(KITTY, "kitty is a fast terminal.", title="kitty"),
        draft(KITTY + "faq.html", "It is free software, and kitty costs nothing.", title="FAQ"),
        draft(
            KITTY + "mouse.html", "Bind a click of the mouse with mouse_map.", title="Mouse actions"
        ),
        draft(KERBEROS + "index.html", "Kerberos authenticates.", title="MIT Kerberos"),
        draft(
            KERBEROS + "copyright.html",
            "The license under which Kerberos is released: redistribution is permitted.",
            title="License",
        ),
        draft(
            KERBEROS + "terminals.html", "Released tickets show in kitty and xterm.", title="Terms"
        ),
        draft(CLICK + "options", "An option of click can prompt.", title="click.options"),
        draft(CLICK + "mouse", "A click on the mouse is nothing to it.", title="click.events"),
    )
    for page in pages:
        await opened.put_page(page)
    yield opened
    await opened.aclose()


async def urls_found(
    question: str, store: Store, *, where: SearchFilter | None = None
) -> list[str]:
    found = await retrieve(
        question,
        store=store,
        models=Models(embedder=None, reranker=CalibratedReranker()),
        where=where or SearchFilter(project="default"),
        options=Options(limit=10),
    )
    return [each.chunk.url for each in found.chunks]


async def test_pages_of_another_product_do_not_answer_for_the_one_named(store: Store) -> None:
    found = await urls_found("What license is kitty released under?", store)

    assert found
    assert KERBEROS + "copyright.html" not in found
    assert KITTY + "faq.html" in found


async def test_pages_of_another_product_that_name_it_stay(store: Store) -> None:
    found = await urls_found("Which tickets are released in kitty?", store)

    assert KERBEROS + "terminals.html" in found


async def test_a_question_that_names_no_product_searches_all(store: Store) -> None:
    found = await urls_found("Under which license is it released?", store)

    assert found[0] == KERBEROS + "copyright.html"


async def test_two_products_that_are_named_are_both_searched(store: Store) -> None:
    found = await urls_found("Does kitty have the license of Kerberos?", store)

    assert {KITTY + "faq.html", KERBEROS + "copyright.html"} <= set(found)


async def test_an_ordinary_word_chooses_no_product(store: Store) -> None:
    found = await urls_found("How do I bind the click of a mouse?", store)

    assert found[0] == KITTY + "mouse.html"


async def test_a_package_is_chosen_where_its_name_is_written_as_one(store: Store) -> None:
    found = await urls_found("How do I bind a mouse option in click?", store)

    assert set(found) <= {CLICK + "options", CLICK + "mouse", KITTY + "mouse.html"}
    assert found[0].startswith(CLICK)


async def test_what_a_caller_restricts_to_an_address_stays(store: Store) -> None:
    where = SearchFilter(project="default", url_prefix=KERBEROS)

    found = await urls_found("What license is kitty released under?", store, where=where)

    assert found[0] == KERBEROS + "copyright.html"
