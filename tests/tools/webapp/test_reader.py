"""What the reader shows of a stored page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.drafts import FETCHED_AT, draft
from tests.tools.library import EGRETS, HERONS, ME, open_library

from citewell.core.errors import NotFound
from citewell.core.ids import citation_id, content_hash
from citewell.core.library import ChangeReport, PageChange, SectionChange
from citewell.core.records import Link, SearchFilter, Section
from citewell.tools.tool import Call
from citewell.tools.webapp.page_parts import PART_CHARACTERS, split_page
from citewell.tools.webapp.reader import view_page

pytestmark = pytest.mark.anyio


def link_to(url: str) -> Link:
    return Link(url=url, text="see", context="see there", section=0, start=0)


def citation_of(quote: str, text: str, *, source_id: int = 1) -> str:
    start = text.index(quote)
    return citation_id(source_id, content_hash(text), start, start + len(quote))


async def test_a_quote_is_marked_and_the_original_opens_at_its_section() -> None:
    quote_id = citation_of("It stands still for hours.", HERONS.extracted.text)
    async with open_library(HERONS) as library:
        view = await view_page(1, Call(parts=library.parts, caller=ME), quote_id=quote_id)

    assert view.quote_state == "marked"
    assert f'<mark id="{quote_id}">It stands still for hours.</mark>' in view.html
    assert view.original == f"{HERONS.url}#grey%20heron:~:text=It%20stands%20still%20for%20hours"


async def test_a_quote_of_another_version_or_page_is_said_to_be_so() -> None:
    text = HERONS.extracted.text
    old = citation_id(1, content_hash("older text"), 0, 5)
    beyond = citation_id(1, content_hash(text), 0, 100_000)
    other = citation_of("heron", text, source_id=2)
    async with open_library(HERONS) as library:
        call = Call(parts=library.parts, caller=ME)
        states = [
            (await view_page(1, call, quote_id=quote)).quote_state
            for quote in (old, beyond, other, "nonsense", None)
        ]

    assert states == ["outdated", "outdated", "elsewhere", None, None]


@pytest.mark.parametrize(
    ("now", "state", "marked"),
    [
        ("Herons eat fish. They wait.", "kept", "Herons eat fish."),
        ("New. Herons eat fish. They stand still for hours.", "moved", "Herons eat fish."),
        ("Herons eat mice and fish. They stand still.", "changed", "Herons eat mice and fish."),
        ("Owls hunt at night and sleep by day.", "gone", ""),
    ],
)
async def test_a_quote_whose_page_changed_is_shown_where_the_page_says_it_now(
    now: str, state: str, marked: str
) -> None:
    older, newer = (
        draft("https://birds.example/", "# Food", text, fetched_at=FETCHED_AT + timedelta(days=day))
        for day, text in enumerate(("Herons eat fish. They stand still for hours.", now))
    )
    quote_id = citation_of("Herons eat fish.", older.extracted.text)
    async with open_library(older) as library:
        await library.parts.store.put_page(newer)
        view = await view_page(1, Call(parts=library.parts, caller=ME), quote_id=quote_id)

    assert view.quote_state == state
    assert view.newer is not None
    assert view.newer.quote == "Herons eat fish."
    assert (f'<mark id="{quote_id}">{marked}</mark>' in view.html) is bool(marked)
    assert ("{+mice and +}" in view.newer.difference) is (state == "changed")


async def test_a_long_page_comes_in_parts_and_a_quote_opens_its_own() -> None:
    text = "\n\n".join(f"Paragraph {n} " + "about herons. " * 20 for n in range(200))
    page = draft("https://long.example/", text, title="Long")
    quote_id = citation_of("Paragraph 150 ", text)
    async with open_library(page) as library:
        call = Call(parts=library.parts, caller=ME)
        first = await view_page(1, call)
        quoted = await view_page(1, call, quote_id=quote_id)
        beyond = await view_page(1, call, part=99)

    assert first.parts > 2
    assert ("Paragraph 0 " in first.html, "Paragraph 150 " in first.html) == (True, False)
    assert 0 < quoted.part < quoted.parts
    assert f'<mark id="{quote_id}">' in quoted.html
    assert beyond.part == first.parts - 1
    assert len(quoted.html) < 2 * PART_CHARACTERS


async def test_neighbours_are_the_pages_it_links_to_and_those_that_link_to_it() -> None:
    hub = draft(
        "https://hub.example/",
        "A hub.",
        title="Hub",
        links=(link_to(EGRETS.url), link_to("https://gone.example/")),
    )
    linking = [
        draft(f"https://in.example/{n}", "See the hub.", title=f"In {n}", links=(link_to(hub.url),))
        for n in range(14)
    ]
    async with open_library(hub, EGRETS, *linking) as library:
        view = await view_page(1, Call(parts=library.parts, caller=ME))

    sides = [(neighbour.title, neighbour.links_here) for neighbour in view.neighbours]
    assert sides[0] == ("Egrets", False)
    assert len([title for title, links_here in sides if links_here]) == 12
    assert (view.more_neighbours, view.links_elsewhere) == (2, 1)


async def test_what_the_last_refresh_found_is_shown() -> None:
    now = datetime.now(UTC)
    section = SectionChange(kind="edited", heading_path=("Food",), before="frogs", after="fish")
    async with open_library(HERONS) as library:
        store = library.parts.store
        change = PageChange(url=HERONS.url, source_id=1, kind="changed", sections=(section,))
        await library.parts.library.keep_pages(
            await store.list_pages(SearchFilter(project="default"), limit=1)
        )
        report = ChangeReport(checked_at=now, changed=1, pages=(change,))
        await store.library.finish_website(1, "completed", now=now, change=report)
        view = await view_page(1, Call(parts=library.parts, caller=ME))

    assert [found.change for found in view.changes] == [change]


async def test_a_page_of_another_project_does_not_exist() -> None:
    secret = draft("https://secret.example/", "Hidden.", title="Secret", project="other")
    async with open_library(HERONS, secret) as library:
        with pytest.raises(NotFound):
            await view_page(2, Call(parts=library.parts, caller=ME))


@given(
    st.lists(st.sampled_from(["word ", "\n", "\n\n", "```\n", "x" * 5_000]), max_size=60), st.data()
)
def test_parts_lie_end_to_end_whatever_the_page(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    starts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=5)) | {0})
    ends = [*starts[1:], len(text)]
    sections = [
        Section(ordinal=n, parent=None, level=1, heading="h", anchor=None, start=a, end=b)
        for n, (a, b) in enumerate(zip(starts, ends, strict=True))
    ]

    parts = split_page(text, sections)

    assert "".join(text[part.start : part.end] for part in parts) == text
    assert all(part.start <= part.end for part in parts)
    assert all(part.end - part.start <= 2 * PART_CHARACTERS for part in parts)
