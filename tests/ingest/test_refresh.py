"""What changed between two readings of a page."""

from __future__ import annotations

from dataclasses import replace

from tests.stored import page_info

from citewell.core.library import PageChange, SectionChange
from citewell.core.records import Page, Section
from citewell.ingest.refresh import compare_pages

INFO = page_info("https://a.example/", source_id=7, title="Birds")


def page(*sections: tuple[int, str, str]) -> Page:
    """A page of (level, heading, text)."""
    text = ""
    made: list[Section] = []
    open_at: dict[int, int] = {}
    for ordinal, (level, heading, body) in enumerate(sections):
        start = len(text)
        text += f"{'#' * level} {heading}\n\n{body}\n\n" if level else f"{body}\n\n"
        parent = next((open_at[up] for up in range(level - 1, 0, -1) if up in open_at), None)
        open_at = {up: at for up, at in open_at.items() if up < level} | {level: ordinal}
        made.append(
            Section(
                ordinal=ordinal,
                parent=parent,
                level=level,
                heading=heading,
                anchor=None,
                start=start,
                end=len(text),
            )
        )
    return Page(
        info=INFO,
        text=text,
        sections=tuple(made),
        links=(),
        images=(),
        canonical_url=None,
        description="",
        structured_data="",
    )


def changes(before: Page, after: Page) -> tuple[SectionChange, ...]:
    return compare_pages(before, after).sections


def test_a_page_that_says_the_same_has_no_changed_sections() -> None:
    same = page((1, "Birds", "All of them."), (2, "Herons", "They wade."))

    assert compare_pages(same, replace(same)) == PageChange(
        url="https://a.example/", source_id=7, kind="changed"
    )


def test_of_an_edited_section_only_the_lines_that_differ_are_told() -> None:
    before = page((1, "Birds", "First line.\nSecond line.\nThird line."))
    after = page((1, "Birds", "First line.\n2nd line.\nThird line."))

    assert changes(before, after) == (
        SectionChange(
            kind="edited", heading_path=("Birds",), before="Second line.", after="2nd line."
        ),
    )


def test_sections_of_the_same_name_are_told_apart_by_their_order() -> None:
    before = page((1, "API", "x"), (2, "Example", "one"), (2, "Example", "two"))
    after = page((1, "API", "x"), (2, "Example", "one"), (2, "Example", "three"))

    assert changes(before, after) == (
        SectionChange(kind="edited", heading_path=("API", "Example"), before="two", after="three"),
    )


def test_what_stands_before_the_first_heading_is_a_section_too() -> None:
    before = page((0, "", "Old opening."), (1, "Birds", "x"))
    after = page((0, "", "New opening."), (1, "Birds", "x"))

    assert changes(before, after) == (
        SectionChange(kind="edited", heading_path=(), before="Old opening.", after="New opening."),
    )


def test_long_texts_are_cut() -> None:
    after = page((1, "Birds", "x"), (2, "Long", "word " * 500))

    [added] = changes(page((1, "Birds", "x")), after)

    assert (added.kind, len(added.after)) == ("added", 300)
