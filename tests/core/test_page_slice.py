"""What a slice of a page lacks: the header of its table, the end of its code."""

from __future__ import annotations

import pytest

from citewell.core.page_slice import (
    after_blank_rows,
    column_names,
    starts_inside,
    stops_in_sentence,
    stops_inside,
)

PAGE = """# Relay

All options:

| Option | Default |
|--------|---------|
| a      | 1       |
| b      | 2       |

```python
first()
second()
```

The end.
"""


@pytest.mark.parametrize(
    ("words", "columns"),
    [("| b ", "Option | Default"), ("2  ", "Option | Default"), ("| Option", ""), ("All", "")],
    ids=["row", "cell", "header", "prose"],
)
def test_rows_below_a_header_have_its_columns(words: str, columns: str) -> None:
    assert column_names(PAGE, PAGE.index(words)) == columns


@pytest.mark.parametrize(
    ("last_words", "is_inside"),
    [
        ("| 1       |", True),
        ("| 2       |", False),
        ("first()", True),
        ("second()\n```", False),
        ("All options:", False),
        ("The end.", False),
    ],
)
def test_a_slice_that_ends_before_a_further_row_or_line_of_code_is_cut(
    last_words: str, is_inside: bool
) -> None:
    end = PAGE.index(last_words) + len(last_words)

    assert stops_inside(PAGE, end) is is_inside


@pytest.mark.parametrize(
    ("page", "quote", "is_cut"),
    [
        ("Herons eat fish, frogs and mice.", "Herons eat fish", True),
        ("Herons eat fish. They wade.", "Herons eat fish.", False),
        ("Herons eat **fish.** They wade.", "Herons eat **fish.**", False),
        ("- Herons\n- Cranes", "- Herons", False),
        ("Herons eat fish", "Herons eat fish", False),
        ("鷺は魚を食べる。蛙も食べる。", "鷺は魚を食べる。", False),
    ],
)
def test_a_quote_that_stops_in_a_sentence_is_noticed(page: str, quote: str, is_cut: bool) -> None:
    assert stops_in_sentence(page, page.index(quote) + len(quote)) is is_cut


@pytest.mark.parametrize(
    ("page", "quote", "is_cut"),
    [
        ("Herons eat fish, frogs and mice.", "frogs and mice.", True),
        ("Herons eat fish. They wade.", "They wade.", False),
        ("**Heron**: a bird that wades.", "a bird that wades.", False),
        ("- Herons wade.", "Herons wade.", False),
        ("> Herons wade.", "Herons wade.", False),
        ("Rain fell\nHerons wade.", "Herons wade.", False),
        ("| heron | It wades. It eats fish. |", "It eats fish. |", True),
        ("| heron | wades |", "| heron | wades |", False),
        ("鷺は魚を食べる。蛙も食べる。", "蛙も食べる。", False),
    ],
)
def test_a_quote_that_begins_inside_a_sentence_is_noticed(
    page: str, quote: str, is_cut: bool
) -> None:
    assert starts_inside(page, page.index(quote)) is is_cut


@pytest.mark.parametrize(
    ("slice_", "quoted"),
    [
        ("|    |    |\n|----|----|\n| -v | more |", "| -v | more |"),
        ("|----|----|\n| -v | more |", "| -v | more |"),
        ("| option | does |\n|----|----|\n| -v | more |", None),
        ("|    |    |\n|----|----|", None),
        ("Text.", None),
    ],
)
def test_a_slice_begins_after_the_blank_header_of_a_table(slice_: str, quoted: str | None) -> None:
    start = after_blank_rows(f"x\n{slice_}", 2, 2 + len(slice_))

    assert slice_[start - 2 :] == (slice_ if quoted is None else quoted)
