"""Stored text without the marks of Markdown."""

from __future__ import annotations

import pytest

from citewell.tools.webapp.plain_lines import plain_lines


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("## The **grey** `heron`", "The grey heron"),
        ("It eats [frogs](https://a.example/x) and *mice*.", "It eats frogs and mice."),
        ("- In *spring*\n  - frogs", "• In spring\n  • frogs"),
        ("{+- one\n- two+}\n[-- three-] [-x-]", "{+• one\n• two+}\n[-• three-] [-x-]"),
        ("| a | b |\n|---|:-:|\n| `x` | 2 \\| 3 |", "a · b\nx · 2 | 3"),
        ("> Said [here](b)", "Said here"),
        ("```python\na = **b\n# not a heading\n```\nEnd", "a = **b\n# not a heading\nEnd"),
        (r"C:\_temp and 2 * 3", r"C:\_temp and 2 * 3"),
        ("", ""),
    ],
)
def test_marks_are_left_out_and_words_stay(text: str, plain: str) -> None:
    assert plain_lines(text) == plain
