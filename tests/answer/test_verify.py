"""Checking quotes against pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.answer.verify import are_on_screen, verify_quote
from citewell.core.screen import BLOCK, UNSURE, pack_screen

PAGE = "Herons wade in rivers.\n\nHerons eat small fish and frogs. They hunt at dawn.\n"


def test_a_quote_where_it_was_is_exact() -> None:
    result = verify_quote("Herons eat small fish and frogs.", PAGE, start=24)

    assert (result.verdict, result.start, result.end) == ("exact", 24, 56)


def test_a_quote_elsewhere_on_the_page_has_moved() -> None:
    result = verify_quote("Herons eat small fish and frogs.", PAGE, start=0)

    assert (result.verdict, result.start) == ("moved", 24)


def test_without_a_place_any_place_is_exact() -> None:
    assert verify_quote("They hunt at dawn.", PAGE).verdict == "exact"


def test_an_edited_sentence_is_shown_with_its_edits() -> None:
    result = verify_quote("Herons eat large fish and frogs.", PAGE, start=24)

    assert result.verdict == "changed"
    assert result.found == "Herons eat small fish and frogs."
    assert result.difference == "Herons eat [-large-]{+small+} fish and frogs."
    assert PAGE[result.start : result.end] == result.found


def test_other_white_space_is_no_change() -> None:
    result = verify_quote("Herons eat\nsmall fish", PAGE)

    assert (result.verdict, result.found) == ("exact", "Herons eat small fish")


MARKED_UP = """# Herons

The *grey* heron’s bill is “long” – see [`bill()`](https://a.example/bill_(x)), the **tool** of

- rivers
- lakes

| Name | Length |
| --- | --- |
| Grey | 90 cm |

It is used [to spear](https://a.example/spear) fish, frogs and, rarely, mice. Herons nest in trees.
"""


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ('The grey heron\'s bill is "long" - see', "The *grey* heron’s bill is “long” – see"),
        ("the tool of rivers lakes", "the **tool** of\n\n- rivers\n- lakes"),
        ("Grey 90 cm", "Grey | 90 cm"),
        ("used to spear fish,\u00a0frogs", "used [to spear](https://a.example/spear) fish, frogs"),
        ("It is *used* to **spear** fish", "It is used [to spear](https://a.example/spear) fish"),
        (
            "It is used to spear fish … Herons nest in trees.",
            "It is used [to spear](https://a.example/spear) fish, frogs and, rarely, mice. "
            "Herons nest in trees.",
        ),
        ("... Herons nest in trees. [...]", "Herons nest in trees."),
    ],
)
def test_typesetting_markdown_and_ellipses_do_not_hide_a_quote(quote: str, found: str) -> None:
    result = verify_quote(quote, MARKED_UP)

    assert (result.verdict, result.found) == ("exact", found)
    assert MARKED_UP[result.start : result.end] == found


@pytest.mark.parametrize(
    "quote",
    [
        "The server does … store passwords in plain text.",
        "The server does [...] requests per minute.",
        "Users must … share keys with others",
        "requests per minute … share keys with others",
        "The limit is …000 requests per minute.",
        "Restart the daemon … the file is gone.",
    ],
)
def test_an_ellipsis_that_changes_what_is_said_is_a_change(quote: str) -> None:
    page = (
        "The server does not store passwords in plain text. The limit is 1,000 requests per minute. "
        "Users must not share keys with others. Restart the daemon unless the file is gone."
    )

    result = verify_quote(quote, page)

    assert result.verdict == "changed"
    assert "{+" in (result.difference or "")


@pytest.mark.parametrize(
    ("quote", "omitted"),
    [
        ("The limit is 1,000 requests … for each key.", "per minute"),
        ("Passwords are hashed. … The limit is 1,000 requests", "They are not stored."),
    ],
)
def test_a_fair_ellipsis_is_exact_and_shows_what_it_leaves_out(quote: str, omitted: str) -> None:
    page = (
        "Passwords are hashed. They are not stored. The limit is 1,000 requests per minute "
        "for each key."
    )

    result = verify_quote(quote, page)

    assert result.verdict == "exact"
    assert omitted in (result.difference or "")


def test_struck_out_words_are_not_quoted_as_if_they_stood() -> None:
    assert (
        verify_quote("Do this: disable the firewall.", "Do this: ~~disable~~ the firewall.").verdict
        == "changed"
    )


def test_a_folded_quote_knows_its_place() -> None:
    start = MARKED_UP.index("**tool**")

    assert verify_quote("tool of", MARKED_UP, start=start).verdict == "exact"
    assert verify_quote("tool of", MARKED_UP, start=start - 9).verdict == "moved"


@pytest.mark.parametrize(
    "quote", ["It is used to spear mice.", "The white heron's bill is long", "... mice ..."]
)
def test_other_words_are_still_a_change(quote: str) -> None:
    assert verify_quote(quote, MARKED_UP).verdict in ("changed", "gone")


@pytest.mark.parametrize("marks", ["“”", "„“", "‘’", "«»", "「」", '""', "''"])
def test_quotation_marks_around_a_quote_are_not_part_of_it(marks: str) -> None:
    page = "The heron stands still; it waits for fish near the shore until the evening comes.\n"

    result = verify_quote(f"{marks[0]}The heron stands still{marks[1]}", page)

    assert (result.verdict, result.found) == ("exact", "The heron stands still")


def test_an_edited_part_of_a_long_sentence_is_changed() -> None:
    page = (
        "Every queue keeps at most 10,000 tasks; older ones are dropped without notice, and "
        "nobody is told of them, when the queue is full.\n"
    )

    result = verify_quote("Every queue keeps at most 20,000 tasks", page)

    assert (result.verdict, result.difference) == (
        "changed",
        "Every queue keeps at most [-20-]{+10+},000 tasks",
    )


def test_a_quote_that_nothing_resembles_is_gone() -> None:
    result = verify_quote("The invoice must be paid within thirty days.", PAGE, start=3)

    assert (result.verdict, result.found, result.start) == ("gone", None, None)


def test_an_empty_page_holds_nothing() -> None:
    assert verify_quote("Herons eat fish.", "").verdict == "gone"


def test_a_page_that_is_one_endless_line_is_checked_in_a_moment() -> None:
    page = (
        "lorem ipsum dolor " * 20_000 + "herons eat small fish and frogs at dawn " + "sit " * 9_000
    )

    result = verify_quote("Herons eat small fish and frogs at noon", page)

    assert result.verdict in ("changed", "gone")


@given(st.text(alphabet="ab c.\n", min_size=1, max_size=60), st.data())
def test_every_slice_of_a_page_is_found_where_it_stands(page: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(page) - 1))
    end = data.draw(st.integers(start + 1, len(page)))

    result = verify_quote(page[start:end], page, start=start)

    assert (result.verdict, result.start, result.end) == ("exact", start, end)


@pytest.mark.parametrize("quote", ["⟦482917 Write ⟦e⟧ for it. 482917⟧", "Write [e] for it."])
def test_a_quote_is_exact_as_a_result_shows_it(quote: str) -> None:
    text = "The value of e.\n\nWrite ⟦e⟧ for it. Then evaluate."

    found = verify_quote(quote, text)

    assert (found.verdict, found.start, found.end) == ("exact", 17, 34)


@pytest.mark.parametrize(
    ("page", "copied"),
    [
        ("## Topical index\n\nMore.\n", "Topical index¶"),
        ("ℹ️ NOTE: Herons *wade*.\n", "Note\nHerons wade."),
        ("ℹ️ NOTE: Herons *wade*.\n", "Note: Herons wade."),
        ("⚠️ WARNING: Herons *bite*.\n", "Warning\n\nHerons bite."),
        ("- 5.4 Birds\n  - 5.4.1 Herons\n", "5.4 Birds\n5.4.1 Herons"),
        ("| bird | eats |\n| --- | --- |\n| heron | `fish` |\n", "bird\n\neats\n\nheron\n\nfish"),
        ("```python\n>>> for bird in pond:\n...     fly(bird)\n1\n```\n", "for bird in pond:\n    fly(bird)\n1"),
        ("Look:\n\n```sh\nfly --high\n```\n\nDone.\n", "Look:\n\nfly --high\n\nDone."),
    ],
)  # fmt: skip
def test_a_quote_copied_from_the_screen_is_exact(page: str, copied: str) -> None:
    assert verify_quote(copied, page).verdict == "exact"


@pytest.mark.parametrize(
    ("quote", "verdict"),
    [
        ("10 Pro 20", "changed"),
        ("10 Pro", "changed"),
        ("Pro 20 Max", "changed"),
        ("Pro 20", "exact"),
        ("Basic 10 Pro 20", "exact"),
        ("plan price Basic 10", "exact"),
        ("Prices: plan price Basic 10 Pro 20 Max 30 All monthly.", "exact"),
    ],
)
def test_cells_of_two_rows_are_exact_only_as_whole_rows(quote: str, verdict: str) -> None:
    rows = "| plan | price |\n| --- | --- |\n| Basic | 10 |\n| Pro | 20 |\n| Max | 30 |\n"
    page = f"Prices:\n\n{rows}\nAll monthly.\n"

    assert verify_quote(quote, page).verdict == verdict


def test_three_dots_at_the_start_of_a_line_leave_something_out() -> None:
    page = "Herons wade in shallow water. They eat fish. They stand still for a long time.\n"

    found = verify_quote("Herons wade in shallow\n... They stand still for a long time.", page)

    assert found.verdict == "exact"


def test_a_session_inside_an_item_is_found_without_its_prompts() -> None:
    page = "- So:\n\n  ```\n  >>> wade('deep',\n  ...      slow=True)\n  'splash'\n  ```\n"

    assert verify_quote("wade('deep',\n     slow=True)\n'splash'", page).verdict == "exact"


SCREEN = pack_screen(
    f"Up{BLOCK}Prev{BLOCK}10{BLOCK}Pro{BLOCK}20{BLOCK}Food{UNSURE}{BLOCK}Fish, frogs"
)


@pytest.mark.parametrize(
    "copied", ["Up\tPrev\n", "Pro\t20\n\nFood¶\nFish, frogs", "Fish,\xa0frogs"]
)
def test_what_a_browser_copies_is_on_the_screen(copied: str) -> None:
    assert are_on_screen([copied], SCREEN) == [True]


@pytest.mark.parametrize(
    "copied", ["10 Pro 20", "Fish, frog", "sh, frogs", "Food\tFish; frogs", ""]
)
def test_cells_without_their_borders_cut_words_and_other_marks_are_not(copied: str) -> None:
    assert are_on_screen([copied], SCREEN) == [False]


def test_a_sentence_that_shares_only_its_shape_with_the_page_is_gone() -> None:
    page = "A dark frame is a map of a dark current, thermally generated particles, in pixels."

    result = verify_quote("This is a quote of nothing at all, which no page, ever, has held.", page)

    assert result.verdict == "gone"


def test_a_changed_part_of_a_sentence_is_compared_with_that_part() -> None:
    page = "In spring the grey heron stands in shallow water for hours, and then it strikes a fish."

    result = verify_quote("the grey heron stands in deep water for hours", page)

    assert (result.verdict, result.difference) == (
        "changed",
        "the grey heron stands in [-deep-]{+shallow+} water for hours",
    )


@pytest.mark.parametrize(
    ("page", "quote", "verdict"),
    [
        ("2*3*4", "234", "changed"),
        ("2**3", "23", "changed"),
        ("23", "2**3", "changed"),
        ("`2**3`", "23", "changed"),
        ("`2**3`", "2**3", "exact"),
        ("a*b*c", "abc", "changed"),
        ("*.py and *.md", ".py and .md", "changed"),
        ("char *p and char *q", "char p and char q", "changed"),
        ("un**like**ly", "unlikely", "exact"),
        ("**N**on-*uniform*", "Non-uniform", "exact"),
        ("**a *very* good**", "a very good", "exact"),
        ("***fast***", "fast", "exact"),
    ],
)
def test_asterisks_that_are_no_emphasis_belong_to_what_is_said(
    page: str, quote: str, verdict: str
) -> None:
    said = "The heron found that {} is the value of the whole lake."

    assert verify_quote(said.format(quote), said.format(page)).verdict == verdict
