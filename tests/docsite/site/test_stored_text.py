"""Stored pages as HTML: quotes are marked where they stand, and nothing of the page runs."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser
from tests.docsite.site.attacks import ATTACKS

from citewell.core.words import content_words
from citewell.docsite.site.code_blocks import guess_language
from citewell.docsite.site.stored_text import MarkedSpan, StoredText, render_stored_texts

PAGE = """\
# Herons

The grey **heron** eats `fish`. It [stands](https://birds.example/still) still.
It [wades](file:///srv/birds.html#wading) too.

- In the reeds. For hours.
- In the water

| place | hours |
|-------|------:|
| reeds | reeds |

```python
wait(1)
catch(2)
```

Speed is $v^2$, and _slow_ is fine.

## Food
"""


def marked(
    quote: str, text: str = PAGE, *, question_words: frozenset[str] = frozenset()
) -> LexborHTMLParser:
    start = text.index(quote)
    span = MarkedSpan(start=start, end=start + len(quote), id="q")
    stored = StoredText(text=text, marks=(span,), question_words=question_words)
    return LexborHTMLParser(render_stored_texts([stored])[0])


def marked_text(tree: LexborHTMLParser) -> str:
    return "".join(node.text() for node in tree.css("mark"))


@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        ("The grey **heron** eats `fish`.", "The grey heron eats fish."),
        ("**heron** eats", "heron eats"),
        ("It [stands](https://birds.example/still) still.", "It stands still."),
        ("It [wades](file:///srv/birds.html#wading) too.", "It wades too."),
        ("- In the reeds. For hours.", "In the reeds. For hours."),
        ("In the reeds.", "In the reeds."),
        ("| reeds | reeds |", "reedsreeds"),
        ("_slow_ is fine", "slow is fine"),
        ("Food", "Food"),
    ],
)
def test_a_quote_is_marked_as_its_reader_sees_it(quote: str, shown: str) -> None:
    tree = marked(quote)

    assert marked_text(tree) == shown
    assert len(tree.css("#q")) == 1


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**create_task(coro, *, name)**", "<strong>create_task(coro, *, name)</strong>"),
        ("**run(args, *, a, **others)**", "<strong>run(args, *, a, **others)</strong>"),
        ("**__init__(self, *args)**", "<strong>__init__(self, *args)</strong>"),
        ("*class* **Task(_loop, *, _x)**", "<em>class</em> <strong>Task(_loop, *, _x)</strong>"),
        ("call _run_(x) of __all__", "call _run_(x) of __all__"),
        ("**1) One** or **2) two**", "<strong>1) One</strong> or <strong>2) two</strong>"),
        ("**a *b* c** ***d***", "<strong>a <em>b</em> c</strong> <em><strong>d</strong></em>"),
        ("***a* b** **c *d***", "<strong><em>a</em> b</strong> <strong>c <em>d</em></strong>"),
        ("*a _b* c_", "<em>a _b</em> c_"),
    ],
)
def test_signs_that_a_page_did_not_mean_as_emphasis_stay(text: str, html: str) -> None:
    assert render_stored_texts([StoredText(text=text)]) == [f"<p>{html}</p>\n"]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (r"C:\_temp, \\server\share, \d and 2 \* 3", r"C:\_temp, \\server\share, \d and 2 \* 3"),
        (r"**f(\*args, `x`)** and \*args", r"<strong>f(*args, <code>x</code>)</strong> and \*args"),
        (r"a \[note] of `\d`", r"a \[note] of <code>\d</code>"),
    ],
)
def test_backslashes_of_a_page_stay(text: str, html: str) -> None:
    assert render_stored_texts([StoredText(text=text)]) == [f"<p>{html}</p>\n"]


def test_backslashes_of_markdown_escape() -> None:
    assert render_stored_texts([StoredText(text=r"\_a\_ \\", escapes=True)]) == ["<p>_a_ \\</p>\n"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Press the [button](https://evil.example/)?", "Press the button (https://evil.example/)?"),
        ("[**a** `b`](https://a.example/)", "a b (https://a.example/)"),
        ("[run](javascript:alert(1))", "run (javascript:alert(1))"),
        ("See <https://a.example/>.", "See https://a.example/."),
        ("[https://a.example](https://b.example)", "https://a.example (https://b.example)"),
        ("![logo](https://a.example/x.png)", "logo (https://a.example/x.png)"),
    ],
)
def test_links_that_may_mislead_show_where_they_lead(text: str, shown: str) -> None:
    html = render_stored_texts([StoredText(text=text, shows_addresses=True)])[0]
    plain = render_stored_texts([StoredText(text=text)])[0]

    assert LexborHTMLParser(html).text().strip() == shown
    assert "(" not in LexborHTMLParser(plain).text()


def test_a_marked_signature_keeps_its_star() -> None:
    tree = marked("**f(a, *, b)**", "**f(a, *, b)**\n\nText.")

    assert marked_text(tree) == "f(a, *, b)"


def test_a_quote_over_several_items_marks_each_and_nothing_between() -> None:
    tree = marked("For hours.\n- In the water")

    assert [node.text() for node in tree.css("mark")] == ["For hours.", "In the water"]
    assert [item.text() for item in tree.css("li")] == ["In the reeds. For hours.", "In the water"]


def test_quoted_lines_of_a_program_are_marked() -> None:
    tree = marked("wait(1)\n")

    assert [line.text().strip() for line in tree.css("#q .hll")] == ["wait(1)"]


def test_words_of_the_question_are_bold_in_the_quote_alone() -> None:
    words = frozenset(content_words("do herons eat fish?"))
    tree = marked("The grey **heron** eats `fish`.", question_words=words)

    assert [node.text() for node in tree.css("mark b")] == ["heron", "eats"]
    japanese = marked("鷺は魚を食べる", "鷺は魚を食べる。", question_words=frozenset({"食べ"}))
    assert [node.text() for node in japanese.css("mark b")] == ["食べ"]


def test_headings_get_our_ids_and_links_to_the_page_itself_lead_to_them() -> None:
    text = "# Title\n\nSee [food](https://a.example/p#food) and [it](https://a.example/p#x).\n\n## Food"
    stored = StoredText(
        text=text,
        section_ids={text.index("## Food"): "section-1"},
        own_url="https://a.example/p",
        anchors={"food": "section-1"},
        left_out_heading="Title",
    )
    tree = LexborHTMLParser(render_stored_texts([stored])[0])

    assert [node.attributes["href"] for node in tree.css("a")] == [
        "#section-1",
        "https://a.example/p#x",
    ]
    assert [(node.tag, node.id) for node in tree.css("h1, h2, h3")] == [("h3", "section-1")]


def test_a_section_that_begins_without_a_heading_can_be_linked_to() -> None:
    text = "# Tasks\n\n**create(x)**\n\nMakes one.\n\n- **a**\n- **b**\n\n| name |\n|--|\n| row |\n"
    text += "\n> New.\n>\n> **when()**\n"
    begun = ("**create", "- **a", "- **b", "| row", "**when")
    begin = {text.index(words): words for words in begun}
    tree = LexborHTMLParser(render_stored_texts([StoredText(text=text, section_ids=begin)])[0])

    named = {str(node.id): (node.tag, node.text().strip()) for node in tree.css("[id]")}
    assert named["**create"] == ("p", "create(x)")
    assert named["- **b"] == ("li", "b")
    assert named["| row"] == ("tbody", "row")
    assert named["**when"] == ("p", "when()")
    assert set(named) == set(begun)


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_of_a_hostile_page_runs_or_loads(attack: str) -> None:
    html = render_stored_texts([StoredText(text=attack)])[0]

    assert_harmless(html)


@given(st.text(alphabet="*_`[](){}<>|$#- \n\\!a.:/\u2e20\u2e21\"'&", max_size=200), st.data())
def test_any_text_with_any_mark_is_harmless(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    mark = MarkedSpan(start=start, end=end, id="q")
    html = render_stored_texts([StoredText(text=text, marks=(mark,))])[0]

    assert_harmless(html)
    assert not {"\u2e20", "\u2e21"} & set(html)


def assert_harmless(html: str) -> None:
    tree = LexborHTMLParser(html)
    forbidden = {"script", "style", "img", "iframe", "form", "object", "svg", "base", "input"}
    for node in tree.css("*"):
        assert node.tag not in forbidden, html
        assert not any(name.startswith("on") or name == "style" for name in node.attributes), html
        address = node.attributes.get("href")
        assert address is None or re.match(r"https?://|mailto:|#", address, re.IGNORECASE), html


@pytest.mark.parametrize(
    ("code", "language"),
    [
        (">>> 1 + 1\n2", "pycon"),
        ("$ pip install citewell", "console"),
        ('{\n  "port": 80\n}', "json"),
        ("x = 1\nimport os", "python"),
        ("<p>Text</p>", "xml"),
        ("{\n  return 1;\n}", ""),
        ("Usage: heron [-h]", ""),
        ("", ""),
    ],
)
def test_the_language_of_code_is_guessed_by_clear_signs_only(code: str, language: str) -> None:
    assert guess_language(code) == language


def test_code_without_a_language_is_highlighted_in_the_reader() -> None:
    (html,) = render_stored_texts([StoredText(text="```\nfrom heron import wade\n```")])

    assert '<span class="kn">from</span>' in html
