"""Markdown of strangers cannot run scripts, restyle the page or send readers elsewhere unseen."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.docsite.site.attacks import ATTACKS
from tests.hostile.little_cpu import little_cpu
from typing_extensions import override

from citewell.docsite.site.links import PageAddresses
from citewell.docsite.site.render import render_markdown

HARMLESS_SCHEMES = re.compile(r"(?:https?:|mailto:|tel:|[^a-z]|[\w./%?=&#-]*$)", re.IGNORECASE)
FORBIDDEN_TAGS = frozenset(
    "script style iframe object embed form textarea select button link meta base svg frame "
    "frameset applet audio noscript template title xmp plaintext".split()
)


class Elements(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(page)
        self.close()

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


def html(text: str) -> str:
    return render_markdown(text, PageAddresses(path="a.md", pages=("a.md",))).html


def assert_harmless(page: str) -> None:
    for tag, attributes in Elements(page).found:
        assert tag not in FORBIDDEN_TAGS, page
        assert not [name for name in attributes if name.startswith("on")], page
        assert not {"style", "srcdoc", "action", "formaction", "xlink:href"} & set(attributes), page
        for name in ("href", "src", "poster", "srcset"):
            assert HARMLESS_SCHEMES.match(attributes.get(name, "").strip()), page
            assert "script:" not in re.sub(r"\s", "", attributes.get(name, "").lower()), page
        assert not {"header", "search-results", "sidebar"} & set(
            attributes.get("class", "").split()
        ), page


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_an_attack_leaves_nothing_that_can_do_harm(attack: str) -> None:
    assert_harmless(html(attack))
    assert_harmless(html(f"- {attack}"))
    assert_harmless(html(f"text {attack} text"))


@given(
    st.lists(st.sampled_from([*ATTACKS, "\n\n", "\n", " ", "`", "```\n", "$", "    "]), max_size=6)
)
def test_attacks_put_together_leave_nothing_either(parts: list[str]) -> None:
    assert_harmless(html("".join(parts)))


@given(st.text(max_size=200))
def test_any_text_can_be_rendered(text: str) -> None:
    assert_harmless(html(text))


def test_a_page_cannot_name_a_fragment_that_was_set_aside() -> None:
    page = html('<img alt="&#xFDD0;0&#xFDD1;">\n\n```\nkept once\n```')

    assert page.count("kept once") == 1


def test_a_page_cannot_hold_anything_to_type_into() -> None:
    page = html('<input type="password" name="q" value="x" autofocus><textarea>y</textarea>')

    assert [tag for tag, _ in Elements(page).found if tag != "p"] == []


def test_deep_nesting_and_long_lines_are_rendered_in_time() -> None:
    for text in ("> " * 500 + "x", "- " * 500 + "x", "[" * 5_000, "$" * 5_000, "*a " * 5_000):
        assert html(text)
    for text in ('<a "' * 20_000, "<div " + "a='" * 20_000, "<p href=" * 20_000):
        assert_harmless(html(text))
    assert html("".join("    " * i + "!!! note\n" for i in range(60)))


def test_html_is_left_alone_where_it_is_trusted() -> None:
    addresses = PageAddresses(path="a.md", pages=("a.md",))

    page = render_markdown('<div style="color: red">x</div>', addresses, allow_html=True)

    assert page.html == '<div style="color: red">x</div>'


def test_many_headings_with_the_same_id_take_linear_time() -> None:
    with little_cpu():
        page = html("# Heron {#heron}\n" * 4_000)

    assert 'id="heron-3999"' in page
