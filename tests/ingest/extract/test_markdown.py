from __future__ import annotations

import pytest
from inline_snapshot import snapshot
from tests.ingest.fetched import extracted

from citewell.core.errors import EmptyPage


def markdown(source: str) -> str:
    return extracted(source, "markdown", url="https://example.org/docs/a/page.md").text


def test_the_authors_text_is_kept() -> None:
    source = (
        "# Fen\n\nSome *text* with `code`.\n\n* one\n* two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )

    assert markdown(source) == source


def test_front_matter_gives_the_title_and_is_left_out() -> None:
    page = extracted('---\ntitle: "Fens"\ndescription: Wet land\n---\n\nText.\n', "markdown")

    assert (page.title, page.description, page.text) == ("Fens", "Wet land", "Text.\n")


def test_links_and_images_are_made_absolute_and_references_resolved() -> None:
    page = extracted(
        'See [one](../b.md#x), [two][ref], [ref] and ![pic](img/p.png "Cap"), not `[x](y)`.\n\n'
        "[ref]: https://example.com/two 'Title'\n",
        "markdown",
        url="https://example.org/docs/a/page.md",
    )

    assert page.text == (
        "See [one](https://example.org/docs/b.md#x), [two](https://example.com/two), "
        "[ref](https://example.com/two) and "
        '![pic](https://example.org/docs/a/img/p.png "Cap"), not `[x](y)`.\n'
    )
    assert [link.url for link in page.links] == [
        "https://example.org/docs/b.md",
        "https://example.com/two",
        "https://example.com/two",
    ]
    assert [(image.alt, image.caption) for image in page.images] == [("pic", "Cap")]


def test_headings_have_the_anchors_that_sites_give_them() -> None:
    page = extracted(
        "# A `b`: C!\n\n## Same\n\n## Same\n\n## Own {#mine}\n\nUnder\n-----\n\n```\n# code\n```\n",
        "markdown",
    )

    assert [(s.level, s.heading, s.anchor) for s in page.sections] == [
        (1, "A b: C!", "a-b-c"),
        (2, "Same", "same"),
        (2, "Same", "same-1"),
        (2, "Own", "mine"),
        (2, "Under", "under"),
    ]


def test_call_outs_of_every_dialect_are_labelled() -> None:
    source = """\
!!! warning "Mind"
    Inside.

    - item

      More of it.

    Later.

After.

:::tip
Docusaurus.

Later.
:::

> [!NOTE]
> GitHub
> goes on.
>
> Later.

:::note
Never closed.

# Heading

Plain.

/// info

Blocks.

///
"""

    assert markdown(source) == snapshot(
        """\
⚠️ WARNING: Mind

⚠️ Inside.

- item

  More of it.

⚠️ Later.

After.

ℹ️ TIP: Docusaurus.

ℹ️ Later.

ℹ️ NOTE: GitHub
goes on.

ℹ️ Later.

ℹ️ NOTE: Never closed.

# Heading

Plain.

ℹ️ INFO: Blocks.
"""
    )


def test_html_inside_is_rendered_or_taken_out_and_hidden_text_removed() -> None:
    source = """\
<!-- secret -->
Line<br>with <b>tags</b> and <a href="/x">a link</a>.

<div style="display:none">

secret

</div>

<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>

<script>secret</script>
End\u200b.

```html
<!-- shown -->
```
"""

    assert markdown(source) == snapshot(
        """\
Line with tags and [a link](https://example.org/x).


| a   | b   |
|-----|-----|
| 1   | 2   |


End.

```html
<!-- shown -->
```
"""
    )


def test_an_unclosed_fence_runs_to_the_end() -> None:
    page = extracted("# A\n\n```\n# not a heading\n", "markdown")

    assert [section.heading for section in page.sections] == ["A"]


def test_a_file_of_settings_alone_is_empty() -> None:
    with pytest.raises(EmptyPage):
        extracted("---\ntitle: x\n---\n<!-- nothing -->\n", "markdown")


@pytest.mark.parametrize(
    "hidden",
    [
        "{/* HIDDEN */}",
        "{ /* HIDDEN\n\nHIDDEN */ }",
        "%% HIDDEN at 100% %%",
        "%%\nHIDDEN\n\nHIDDEN\n%%",
        "%% HIDDEN\nHIDDEN %%",
        "<div hidden>HIDDEN [a](b)</div>",
    ],
)
def test_comments_of_every_dialect_are_left_out(hidden: str) -> None:
    text = extracted(f"# Herons\n\nBefore.\n\n{hidden}\n\nAfter.\n", "markdown").text

    assert text.split() == ["#", "Herons", "Before.", "After."]


@pytest.mark.parametrize(
    "shown",
    [
        "Write `{/* a comment */}` and `%% another %%`.",
        "```\n{/* code */}\n%% code %%\n```",
        "Paths as a{/*,/b} and 100%% sure, 5%%.",
        "%%timeit runs it",
    ],
)
def test_marks_of_comments_in_code_and_prose_stay(shown: str) -> None:
    assert shown in extracted(f"# Herons\n\n{shown}\n", "markdown").text


def test_a_table_in_a_cell_belongs_to_its_table() -> None:
    source = """\
<table>
<tr><th>Option</th><th>Values</th></tr>
<tr><td>mode</td><td>
<table>

<tr><td>r</td><td>read</td></tr>
<tr><td>w</td><td>write</td></tr>
</table>
</td></tr>

<tr><td>size</td><td><ul><li>small</li><li>large</li></ul></td></tr>
</table>

After.
"""

    assert markdown(source) == snapshot(
        """\
| Option | Values           |
|--------|------------------|
| mode   | r read • w write |
| size   | • small • large  |

After.
"""
    )


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            '<img src="logo.svg" align="right"\n     alt="A heron"\n     width="180">\n\nWades.\n',
            "![A heron](https://example.org/docs/a/logo.svg)\n\nWades.\n",
        ),
        (
            'See <a\n  href="b.md">it</a> now.\n',
            "See [it](https://example.org/docs/a/b.md) now.\n",
        ),
        ("Depth <a\nis less.\n\nThen > so.\n", "Depth <a\nis less.\n\nThen > so.\n"),
    ],
    ids=["image", "link", "no tag"],
)
def test_a_tag_of_several_lines_is_read_as_one(source: str, text: str) -> None:
    assert markdown(source) == text


def test_badges_beside_a_title_are_no_part_of_it() -> None:
    badge = "[![Build](https://ci.example/b.svg)](https://ci.example/)"

    assert extracted(f"# Fens {badge} {badge}\n\nText.\n", "markdown").title == "Fens"
    assert extracted(f"# {badge}\n\nText.\n", "markdown").title == "Build"
