"""`make_receipt`: the file is offered only for pages that the caller may see."""

from __future__ import annotations

import pytest
from tests.tools.library import ME, open_library
from tests.tools.provable_page import QUOTE, URL, cite, provable

from citewell.app.call import Call
from citewell.core.errors import NotFound
from citewell.tools.resources import read_resource


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


async def test_a_resource_is_of_no_more_citations_than_the_tool_takes() -> None:
    async with open_library(provable()) as library:
        uri = "citewell://receipt/" + ",".join([await cite(library)] * 11)

        with pytest.raises(NotFound):
            await read_resource(uri, Call(parts=library.parts, caller=ME))
