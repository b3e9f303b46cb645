"""The quote of a definition ends with its first sentence."""

from __future__ import annotations

import pytest

from citewell.answer.definition_quote import quote_definition
from citewell.answer.quote import QuoteLimits

SIGNATURE = "## `birds.wade` {#wade}\n\n```python\ndef wade(depth)\n```\n\n"


@pytest.mark.parametrize(
    ("body", "last"),
    [
        ("Wade into a pond. It is cold there.", "pond."),
        ("Wade into ponds (e.g. as in Env. Rules, part) and lakes. It is cold there.", "lakes."),
        ("Wade into ponds (as in Env. Rules. It is cold there. And wet.", "Rules."),
    ],
)
def test_a_sentence_does_not_end_within_brackets(body: str, last: str) -> None:
    text = SIGNATURE + body

    quoted = quote_definition(text, offset=0, passage=0, limits=QuoteLimits())

    assert text[quoted.start : quoted.end].endswith(last)


@pytest.mark.parametrize(
    ("code", "quoted"),
    [
        ("class Bird\ndef wade(depth)\ndef nest()", "def wade(depth)"),
        ("interface Bird {\n  wade(\n    depth: 1\n  ): void\n  nest(): 1\n}", None),
    ],
)
def test_what_code_lists_is_quoted_by_itself(code: str, quoted: str | None) -> None:
    text = f"## `birds.Bird` {{#Bird}}\n\n```python\n{code}\n```\n\nBirds wade.\n"
    offset = text.index("\n", text.index("ird", text.index("```"))) + 1

    span = quote_definition(text, offset=offset, passage=0, limits=QuoteLimits())

    assert text[span.start : span.end] == (quoted or "  wade(\n    depth: 1\n  ): void")


@pytest.mark.parametrize(
    ("below", "expected"),
    [
        ("Wade into a pond. It is cold.", "Wade into a pond."),
        ("- far\n- deep\n", "```python\ndef wade("),
    ],
)
def test_a_signature_that_no_quote_has_room_for_gives_way_to_the_sentence(
    below: str, expected: str
) -> None:
    many = ", ".join(f"option_{number}: dict[str, int] | None = None" for number in range(60))
    text = f"## `birds.wade` {{#wade}}\n\n```python\ndef wade({many})\n```\n\n{below}"

    span = quote_definition(text, offset=0, passage=0, limits=QuoteLimits())

    assert text[span.start : span.end].startswith(expected)
    assert (text[span.start : span.end] == expected) is not span.is_cut
