"""What changed in a page between two fetches."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.drafts import FETCHED_AT, draft
from tests.tools.library import ME, open_library

from citewell.core.errors import NotFound
from citewell.tools.tool import Call
from citewell.tools.webapp.fetches import TextChange, TextPart, compare_fetches

pytestmark = pytest.mark.anyio

URL = "https://birds.example/herons"
DAYS = [FETCHED_AT + timedelta(days=number) for number in range(3)]
TEXTS = (
    ("# Food", "Herons eat frogs.", "They wait."),
    ("# Food", "Herons eat fish.", "They wait."),
    ("# Food", "Herons eat fish.", "They wait.", "They strike fast."),
)


def part(text: str, *, is_changed: bool = False) -> TextPart:
    return TextPart(text=text, is_changed=is_changed)


async def test_any_two_fetches_are_compared() -> None:
    pages = [draft(URL, *text, fetched_at=day) for text, day in zip(TEXTS, DAYS, strict=True)]
    async with open_library(pages[0]) as library:
        call = Call(parts=library.parts, caller=ME)
        alone = await compare_fetches(1, call)
        for page in pages[1:]:
            await library.parts.store.put_page(page)
        newest = await compare_fetches(1, call)
        across = await compare_fetches(1, call, one=DAYS[2], other=DAYS[0])
        unknown = await compare_fetches(1, call, one=DAYS[0], other=DAYS[0] + timedelta(1, 1))

    added = TextChange(heading="Food", before=[], after=[part("They strike fast.")])
    edited = TextChange(
        heading="Food",
        before=[part("Herons eat "), part("frogs", is_changed=True), part(".")],
        after=[part("Herons eat "), part("fish", is_changed=True), part(".")],
    )
    assert (alone.older, alone.changes) == (None, [])
    assert newest.fetches == DAYS[::-1]
    assert (newest.older, newest.newer, newest.changes) == (DAYS[1], DAYS[2], [added])
    assert (across.older, across.newer, across.changes) == (DAYS[0], DAYS[2], [edited, added])
    assert unknown == newest


async def test_changes_are_shown_without_marks_unless_only_these_changed() -> None:
    texts = (
        ("# **Food**", "Herons eat `frogs`.", "See [the list](https://a.example/)."),
        ("# **Food**", "Herons eat *fish*.", "See [the list](https://b.example/)."),
    )
    first, second = (
        draft(URL, *text, fetched_at=day) for text, day in zip(texts, DAYS, strict=False)
    )
    async with open_library(first) as library:
        await library.parts.store.put_page(second)
        compared = await compare_fetches(1, Call(parts=library.parts, caller=ME))

    shown = ["".join(part.text for part in change.before) for change in compared.changes]
    assert compared.changes[0].heading == "Food"
    assert "".join(shown).count("`") == 0
    assert "Herons eat frogs." in shown[0]


async def test_pages_of_another_project_have_no_fetches() -> None:
    secret = draft(URL, "Hidden.", project="other")
    async with open_library(secret) as library:
        with pytest.raises(NotFound):
            await compare_fetches(1, Call(parts=library.parts, caller=ME))
