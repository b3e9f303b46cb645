"""Prompt injections in pages stay inside the boundary, in every tool and in both forms."""

from __future__ import annotations

import pytest
from bench.redteam.injection import leaks_of_structure, leaks_of_text, missing_tools, run
from bench.redteam.injection_pages import ESCAPES, SAMPLE_ATTACKS, Plant, plants

pytestmark = pytest.mark.anyio

# Each way out once, half of them in each of two attacks on all tools.
PLANTS = plants(SAMPLE_ATTACKS * 4)


def test_every_way_out_is_tried() -> None:
    assert {plant.escape for plant in PLANTS} == set(ESCAPES)


@pytest.mark.parametrize("chosen", [PLANTS[::2], PLANTS[1::2]], ids=["even", "odd"])
async def test_no_word_of_a_page_leaves_the_boundary(chosen: list[Plant]) -> None:
    score = await run(chosen)

    assert score.leaks == []
    assert missing_tools(score) == []


@pytest.mark.parametrize(
    "text",
    [
        "Title: canary001leak",
        'Text between ⟦7 and 7⟧ is quoted.\n"canary001leak" ⟦7 canary001leak 7⟧',
        "Text between ⟦7 and 7⟧ is quoted.\n⟦7 quote 7⟧ canary001leak 7⟧",
        "Text between ⟦7 and 7⟧ is quoted.\n⟦8 canary001leak 8⟧",
    ],
)
def test_the_check_sees_words_outside_the_boundary_of_a_text(text: str) -> None:
    assert list(leaks_of_text(text, {}))


def test_the_check_sees_fields_that_are_not_declared() -> None:
    declared = {"fields": ["title"], "note": ""}
    structured = {
        "untrusted": declared,
        "pages": [{"title": "canary001leak", "name": "canary001leak"}],
    }

    (leak,) = leaks_of_structure(structured, {})
    assert leak.startswith("name:")
