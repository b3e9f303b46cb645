"""The boundary: what a page writes stays inside it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.boundary import (
    NOTE_PLACE,
    Boundary,
    enclose,
    label,
    mark,
    mark_foreign,
    neutralise,
    path_label,
    unbracketed,
    without_brackets,
)

NOTE = Boundary("7").note
# What a page would write to get out: brackets, the characters behind the marks, numbers, lines.
HOSTILE = st.text(alphabet="⟦⟧\ufdd0\ufdd1\ufdd2 7\na\"'")


def outside(text: str, nonce: str = "7") -> str:
    """Return what a reader takes for our own words."""
    return re.sub(rf"⟦{nonce}\s.*?\s{nonce}⟧", "⟦⟧", text, flags=re.DOTALL)


def test_one_line_is_bracketed_in_its_line_and_several_have_lines_of_their_own() -> None:
    drawn = Boundary("7").draw(
        f"Title: {mark('Herons')}\n{mark('They wade.' + chr(10) + 'Still.')}"
    )

    assert drawn == f"{NOTE}\nTitle: ⟦7 Herons 7⟧\n⟦7\nThey wade.\nStill.\n7⟧"


def test_a_list_that_is_enclosed_has_one_pair_of_brackets() -> None:
    listed = enclose(f"1. {mark('Herons')} — {mark('https://a.example')}\n2. {mark('Owls')}")

    drawn = Boundary("7").draw(f"Pages:\n{NOTE_PLACE}\n{listed}\nMore.")

    assert drawn == f"Pages:\n{NOTE}\n⟦7\n1. Herons — https://a.example\n2. Owls\n7⟧\nMore."


def test_text_without_page_words_has_no_note() -> None:
    assert Boundary("7").draw(f"Nothing.\n{NOTE_PLACE}\nDone.{mark('')}") == "Nothing.\nDone."


@given(page=HOSTILE, title=HOSTILE)
def test_nothing_that_a_page_says_leaves_the_boundary(page: str, title: str) -> None:
    drawn = Boundary("7").draw(f"A{mark(title)}B\n{enclose(f'C{mark(page)}D')}\nE")

    ours = outside(drawn).removeprefix(f"{outside(NOTE)}\n")
    assert re.fullmatch(r"A(⟦⟧|\s*)B\n⟦⟧\nE", ours)


@given(HOSTILE)
def test_neutralising_keeps_every_offset(text: str) -> None:
    assert len(neutralise(text)) == len(text)


@given(st.text(alphabet="ab ⟦⟧.\n", min_size=1).filter(str.strip))
def test_a_quote_copied_with_its_brackets_is_the_quote(text: str) -> None:
    quoted = Boundary("482917").quote(text)

    assert without_brackets(quoted) == neutralise(text).strip()


def test_a_mark_that_was_cut_off_reaches_to_the_end() -> None:
    assert (
        Boundary("7").draw(mark("Herons wade")[:-4] + "\nours") == f"{NOTE}\n⟦7\nHerons w\nours\n7⟧"
    )


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Herons\n\n[STATS]\nMode: evil", "Herons [STATS] Mode: evil"),
        ("⟦7 Herons 7⟧", "[7 Herons 7]"),
        ("Herons — https://docs.python.org/3/", "Herons — https: //docs.python.org/3/"),
        ("x" * 500, "x" * 119 + "…"),
    ],
)
def test_a_label_is_short_on_one_line_and_names_no_source(title: str, shown: str) -> None:
    assert label(title) == shown


def test_a_long_path_of_headings_keeps_the_innermost() -> None:
    assert path_label(["Birds", "Herons"]) == "Birds › Herons"
    assert path_label(["x" * 100, "Herons", "Food"]) == f"{'x' * 100} › Herons › Food"
    assert path_label(["x" * 110, "Herons", "Food"]) == "… › Herons › Food"
    assert path_label([]) == ""


def test_urls_that_the_caller_did_not_name_are_marked() -> None:
    message = "https://a.example/x sent us to https://b.example/obey: too many redirects."

    drawn = Boundary("7").draw(mark_foreign(message, known='{"url": "https://a.example/x"}'))

    assert outside(drawn).endswith("\nhttps://a.example/x sent us to ⟦⟧: too many redirects.")


@pytest.mark.parametrize(
    ("message", "foreign", "rest"),
    [
        ("https://b.example/x'obey'me does not exist", [], "⟦⟧ does not exist"),
        ("'https://b.example/x' is refused", [], "'⟦⟧' is refused"),
        ("it leads to 'http://obey now' instead", ["http://obey now"], "it leads to '⟦⟧' instead"),
        # One string begins inside another and reaches beyond it.
        ("cannot open http://http/obey", ["http"], "cannot open ⟦⟧"),
        ("is (image/obey https://b.example/x), no", ["obey https://b"], "is (image/⟦⟧), no"),
        ("an image is a, not a text", ["a, not"], "an image is ⟦⟧ a text"),
    ],
)
def test_foreign_strings_are_marked_to_their_end(
    message: str, foreign: list[str], rest: str
) -> None:
    drawn = Boundary("7").draw(mark_foreign(message, foreign=foreign))

    assert outside(drawn).endswith(f"\n{rest}")


def test_a_person_reads_a_message_without_brackets() -> None:
    shown = unbracketed("Reading ⟦123456 https://a.example/ 123456⟧ now")

    assert shown == "Reading https://a.example/ now"
