"""A Markdown file as a page: title, sections and their lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.docsite.pages import DocPage, parse_page


def page(content: str, path: str = "a/page.md") -> DocPage:
    return parse_page(path, content, mtime=1.0, size=len(content))


def outline(content: str) -> list[tuple[str, int, int, int]]:
    sections = page(content).sections
    return [(part.heading, part.level, part.line_start, part.line_end) for part in sections]


def test_a_section_goes_from_its_heading_to_the_next_of_any_level() -> None:
    content = "intro\n\n# One\ntext\n## Two\n\ntext\n# Three\n"

    assert outline(content) == [("One", 1, 3, 4), ("Two", 2, 5, 7), ("Three", 1, 8, 8)]


def test_what_stands_in_code_is_no_heading() -> None:
    content = "# One\n```sh\n# comment\n~~~\n```\n~~~\n# more\n~~~\n## Two\n    # indented\n"

    assert outline(content) == [("One", 1, 1, 8), ("Two", 2, 9, 10)]


def test_underlined_lines_are_headings_and_rules_and_tables_are_not() -> None:
    content = "One\n===\n\nTwo\n---\n\n---\n\n- item\n---\n| a |\n---\n"

    assert outline(content) == [("One", 1, 1, 3), ("Two", 2, 4, 12)]


def test_front_matter_is_no_text_and_gives_title_and_description() -> None:
    found = page("---\ntitle: 'Herons'\ndescription: Waders\n---\n# Other\n\none two\n")

    assert (found.title, found.description, found.word_count) == ("Herons", "Waders", 4)
    assert found.sections[0].line_start == 5
    assert found.body == "# Other\n\none two\n"


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ('"A \\"quoted\\" title" # really', 'A "quoted" title'),
        ("'It''s here'", "It's here"),
        ("Deploy: the easy way # a comment", "Deploy: the easy way"),
        ("**Bold** and `code` in C#", "Bold and code in C#"),
        (">\n  Folded, and\n  it goes on", "Folded, and it goes on"),
        ('"Never closed', "Never closed"),
        ("[never, closed", "The heading"),
        ("", "The heading"),
    ],
)
def test_a_title_in_front_matter_is_shown_as_it_is_meant(written: str, title: str) -> None:
    assert page(f"---\ntitle: {written}\n---\n# The heading\n").title == title


def test_a_link_with_brackets_in_its_words_is_its_words() -> None:
    assert page("# By [@bot[x]](https://a.example/b) and [c](d)\n").title == "By @bot[x] and c"


def test_headings_lose_their_marks_and_keep_their_anchors() -> None:
    content = (
        "# The `x` of [a](b.md) and **c** { #the-x }\n## A_b <abbr>d</abbr> ##\n## Same\n## Same\n"
    )

    found = [(part.heading, part.anchor) for part in page(content).sections]

    assert found == [
        ("The x of a and c", "the-x"),
        ("A_b d", "a_b-d"),
        ("Same", "same"),
        ("Same", "same-1"),
    ]


def test_a_page_without_headings_is_named_after_its_file() -> None:
    assert page("text", "guide/first-steps.md").title == "First steps"
    assert page("text", "guide/index.md").title == "Guide"
    assert page("", "README.md").title == "Readme"


def test_a_title_is_one_line_without_letters_nobody_sees() -> None:
    assert page("# A\u200bB\u202ec\n").title == "ABc"


@given(st.text(alphabet="#=-`~ \n\tab[](){}*_<>|", max_size=200))
def test_sections_follow_one_another_to_the_end_of_the_page(content: str) -> None:
    sections = page(content).sections

    lines = content.count("\n") + (not content.endswith("\n"))
    ends = [part.line_start - 1 for part in sections[1:]] + [lines] * bool(sections)
    assert [part.line_end for part in sections] == ends
    assert all(part.line_start <= part.line_end for part in sections)
