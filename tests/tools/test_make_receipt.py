"""`make_receipt`: the file is offered only for pages that the caller may see."""

from __future__ import annotations

from tests.tools.library import open_library
from tests.tools.provable_page import QUOTE, URL, cite, provable


async def test_a_receipt_names_its_resource_and_what_it_proves() -> None:
    async with open_library(provable()) as library:
        cited = await cite(library)

        receipt = await library.call("make_receipt", citation_ids=[cited])

    assert receipt["uri"] == f"citewell://receipt/{cited}"
    assert receipt["key"].startswith("SHA256:")
    assert [(quote["quote"], quote["url"]) for quote in receipt["quotes"]] == [(QUOTE, URL)]


async def test_pages_without_their_response_and_of_others_cannot_be_proved() -> None:
    pages = provable(is_kept=False), provable(project="other")
    async with open_library(*pages) as library:
        cited = await cite(library), await cite(library, project="other")
        unkept = await library.result("make_receipt", citation_ids=[cited[0]])
        hidden = await library.result("make_receipt", citation_ids=[cited[1]])

    assert "is not kept" in unkept.text
    assert "is not indexed" in hidden.text
