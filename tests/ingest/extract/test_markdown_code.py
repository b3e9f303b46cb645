"""Code, escapes and open comments of Markdown stay; comments leave."""

from __future__ import annotations

import time

import pytest
from tests.ingest.fetched import extracted

_AROUND = "# Herons\n\nBefore.\n\n{}\n\nAfter `all`.\n"


@pytest.mark.parametrize(
    "shown",
    [
        "A comment opens with `<!--`.",
        "A comment opens with ``<!--`` and `` `<!--` ``.",
        "Use the `<!-- truncate -->` marker.",
        "From `<!--` on\n\nto `-->` here.",
        "| Mark | Does |\n| --- | --- |\n| `<!--` | opens |\n| `-->` | closes |",
        "An escaped \\<!-- and \\`<!-- x",
        "It begins with <!-- and goes on\nin the next line.",
        "- `<!-- x -->`\n- `<p hidden>x</p>`",
        "Write ``{/* a comment */}`` and ``%% another %%`` and \\{/* this */}.",
        "Write `<p hidden>x</p>`, ``<script>x</script>`` and `<style>x`.",
        "Code:\n\n    <!-- x -->\n    <p hidden>x</p>\n\n    {/* y */}\n    %% z %%",
        "Code:\n\n\t<script>x</script>\n\t[a](b) <b>c</b> <!-- y",
        "# Code\n    <!-- x -->",
        "- item\n\n      <!-- x -->\n      <p hidden>x</p>",
        "1. item\n\n   more\n\n       <!-- x -->",
        "> quoted\n>\n>     <!-- x -->",
        "- ```\n  <!-- x -->\n  ```",
    ],
)
def test_marks_of_comments_in_code_and_open_ones_in_prose_stay(shown: str) -> None:
    assert shown in extracted(_AROUND.format(shown), "markdown").text
    assert extracted(_AROUND.format(shown), "markdown").text.endswith("\n\nAfter `all`.\n")


@pytest.mark.parametrize(
    "source",
    [
        "<!-- HIDDEN `-->",
        "<!-- HIDDEN\n\nHIDDEN\n\n```\nHIDDEN\n```\n\n    HIDDEN\n-->",
        "- <!-- HIDDEN\n  HIDDEN -->",
        "> <!-- HIDDEN -->",
        "<!-- HIDDEN --> <!-- HIDDEN\n\nHIDDEN -->",
        "<p><!-- HIDDEN\n\nHIDDEN --></p>",
        "<p>`<!-- HIDDEN -->`</p>",
        "<details>\n<summary>`<!-- HIDDEN -->`</summary>\n</details>",
        "- item\n\n    <!-- HIDDEN -->\n\n    <p hidden>HIDDEN</p>",
        '!!! note\n\n    <!-- HIDDEN -->\n\n    <p hidden>HIDDEN</p>\n\n=== "Tab"\n\n    <!-- HIDDEN -->',
        "[^1]: A note.\n\n    <!-- HIDDEN -->",
        "A paragraph\n    <!-- HIDDEN --> goes on.",
        "Before <!-- HIDDEN ` --> and ` after.",
        "Before <!-- HIDDEN\nHIDDEN --> after.",
        "<div hidden>\n\n    <p>HIDDEN</p>\n\n</div>",
        "<Tabs>\n\n    {/* HIDDEN */}\n\n    <p hidden>HIDDEN</p>\n\n</Tabs>",
        "\\\\`x`<!-- HIDDEN -->",
        "<!--> <!-- HIDDEN -->",
    ],
)
def test_comments_leave_wherever_a_browser_hides_them(source: str) -> None:
    text = extracted(_AROUND.format(source), "markdown").text

    assert "HIDDEN" not in text
    assert "After `all`." in text


@pytest.mark.parametrize("opening", ["<!-- HIDDEN", "- <!-- HIDDEN", "<p>x <!-- HIDDEN"])
def test_an_open_comment_of_a_block_hides_the_rest_as_in_browsers(opening: str) -> None:
    text = extracted(_AROUND.format(f"{opening}\n\nHIDDEN"), "markdown").text

    assert "Before." in text
    assert "HIDDEN" not in text
    assert "After" not in text


def test_indented_rows_of_a_table_are_rows() -> None:
    source = "<table>\n\n    <tr><td>mode</td><td>read</td></tr>\n\n    </table>\n\nAfter.\n"

    text = extracted(source, "markdown").text

    assert "<t" not in text
    assert "mode" in text
    assert text.endswith("After.\n")


def test_marks_of_comments_in_literals_of_other_formats_stay() -> None:
    asciidoc = "= T\n\nWrite `<!-- x -->`, `{/* y */}` or `%% z %%`.\n\nText <!-- and on.\n\nEnd.\n"
    rst = "T\n=\n\nWrite ``<!-- x -->``, ``{/* y */}`` or ``%% z %%``.\n\n::\n\n  <!-- a -->\n\nEnd.\n"

    assert (
        "Write `<!-- x -->`, `{/* y */}` or `%% z %%`.\n\nText <!-- and on.\n\nEnd."
        in extracted(asciidoc, "asciidoc").text
    )
    text = extracted(rst, "rst").text
    assert "Write `<!-- x -->`, `{/* y */}` or `%% z %%`." in text
    assert "<!-- a -->" in text
    assert text.endswith("End.\n")


@pytest.mark.parametrize(
    "part",
    ["`<!-- ", "``<!--` ", "<!-- `\n", "    <!--\n\n", "- ", "- a\n\n      <!-- x\n\n", "<p>`\n\n"],
)
def test_marks_by_the_thousand_are_read_in_linear_time(part: str) -> None:
    def seconds(times: int) -> float:
        source = f"# A\n\nx{part * times}\n"
        before = time.process_time()
        extracted(source, "markdown")
        return time.process_time() - before

    seconds(100)
    assert seconds(16_000) < 0.2 + 20 * seconds(2_000)
