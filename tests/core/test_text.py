"""Cutting text into sentences and lines."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.text import as_read, join_lines, one_line, sentence_spans, show_controls


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


def test_prose_is_split_at_sentence_ends_but_not_at_abbreviations() -> None:
    text = "Herons wade, e.g. in rivers. Version 3.11 is out! Does Dr. Smith know? Yes."

    assert sentences(text) == [
        "Herons wade, e.g. in rivers.",
        "Version 3.11 is out!",
        "Does Dr. Smith know?",
        "Yes.",
    ]


def test_a_mark_inside_code_does_not_end_a_sentence() -> None:
    text = (
        'Put a backslash before "`!`" for such patterns. Run `git add .` to add all. See `a.` Done.'
    )

    assert sentences(text) == [
        'Put a backslash before "`!`" for such patterns.',
        "Run `git add .` to add all.",
        "See `a.`",
        "Done.",
    ]


def test_japanese_is_split_without_spaces() -> None:
    assert sentences("サギは鳥です。「魚を食べる。」と言います。水辺に住む") == [
        "サギは鳥です。",
        "「魚を食べる。」",
        "と言います。",
        "水辺に住む",
    ]


def test_code_rows_items_and_headings_are_spans_of_their_own() -> None:
    text = """# Herons

- wade. slowly
- fish

| a. b | c |
| --- | --- |

```python
x = 1. + 2

y = 3
```
After it. End"""

    assert sentences(text) == [
        "# Herons",
        "- wade.",
        "slowly",
        "- fish",
        "| a. b | c |",
        "| --- | --- |",
        "```python\nx = 1. + 2\n\ny = 3\n```",
        "After it.",
        "End",
    ]


def test_an_unclosed_fence_runs_to_the_end() -> None:
    assert sentences("Text.\n\n```\ncode. more\n\nand more") == [
        "Text.",
        "```\ncode. more\n\nand more",
    ]


def test_items_code_and_rows_of_a_block_quote_are_spans_of_their_own() -> None:
    text = (
        "> - Build HTML. Then look:\n>\n>   ```\n>   build -b html .\n>   _build/html\n>   ```\n"
        "> - Build a book.\n>\n> | a. | b |\n> | c. | d |"
    )

    assert sentences(text) == [
        "> - Build HTML.",
        "Then look:",
        ">   ```\n>   build -b html .\n>   _build/html\n>   ```",
        "> - Build a book.",
        "> | a. | b |",
        "> | c. | d |",
    ]


@given(st.text(alphabet="ab.。!? \n`|#->", max_size=200))
def test_spans_are_in_order_trimmed_and_cover_all_that_is_not_space(text: str) -> None:
    spans = sentence_spans(text)
    kept = "".join(text[start:end] for start, end in spans)

    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)
    # A line of a block quote without words is blank.
    assert "".join(kept.replace(">", "").split()) == "".join(text.replace(">", "").split())


def test_a_line_has_no_breaks_and_nothing_unseen() -> None:
    assert one_line("a\u202eb\n\n[STATS]\u200b  c") == "ab [STATS] c"
    assert one_line("x" * 300, limit=10) == "xxxxxxxxx…"


def test_a_line_of_several_cannot_become_two() -> None:
    lines = join_lines(["one\r\ntwo\x85three\u2028four\u2029five\x0b\x0c\x1csix\tseven", "eight"])

    assert lines == "one␍␊two�three�four�five␋␌␜six␉seven\neight"
    assert len(lines.splitlines()) == 2


@pytest.mark.parametrize("code", [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2066, 0x2069])
def test_characters_that_change_the_direction_are_shown(code: int) -> None:
    assert show_controls(f"a{chr(code)}b\n\tc") == "a\N{REPLACEMENT CHARACTER}b\n\tc"


def test_markdown_is_read_without_addresses_and_padding() -> None:
    assert as_read("Set [`mode`](http://h:1/a#b) or [x [y]](/z).") == "Set `mode` or x [y]."
    assert as_read('![heron](heron.png "A grey heron")') == "heron A grey heron"
    assert as_read("| a    | b |\n|------|---|\n| c    | d |") == "| a| b |\n| c| d |"
