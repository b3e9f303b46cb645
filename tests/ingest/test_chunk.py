from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ingest.fetched import extracted

from citewell.core.records import Chunk, ExtractedPage, Image, Link
from citewell.core.tokens import count_tokens
from citewell.ingest.chunk import MAX_TOKENS, chunk_page

_SENTENCE = "The grey heron stands quite still in shallow water and waits for fish to pass. "
_FENCE_LINE = re.compile(r"^ *```", re.MULTILINE)


def markdown(source: str) -> ExtractedPage:
    return extracted(source, "markdown")


def assert_headings_alone(text: str, *, or_lead_in: bool = False) -> None:
    lines = [line.strip(" >\xa0") for line in text.split("\n")]
    lines = [line for line in lines if "[Source](" not in line]
    rest = [line for line in lines if line and not line.startswith(("#", "**"))]
    assert rest == [] or (or_lead_in and len(rest) == 1 and rest[0].rstrip("*")[-1] in ":：")


def assert_sound(page: ExtractedPage) -> tuple[Chunk, ...]:
    """Check every promise about sections, links and chunks; return the chunks."""
    assert page.text.endswith("\n")
    assert "\n\n\n\n" not in page.text
    assert "\x00" not in page.text
    page.text.encode("utf-8")
    at = 0
    for ordinal, section in enumerate(page.sections):
        assert (section.ordinal, section.start) == (ordinal, at)
        assert section.end > section.start
        assert section.parent is None or page.sections[section.parent].level < section.level
        assert section.parent is None or section.parent < ordinal
        at = section.end
    assert at == len(page.text)
    places: list[Link | Image] = [*page.links, *page.images]
    for place in places:
        section = page.sections[place.section]
        assert section.start <= place.start < section.end
    chunks = chunk_page(page)
    at = 0
    for ordinal, chunk in enumerate(chunks):
        section = page.sections[chunk.section]
        assert chunk.ordinal == ordinal
        assert chunk.text == page.text[chunk.start : chunk.end]
        assert chunk.start < chunk.end
        assert at <= chunk.start
        for other in page.sections:
            if other is not section and other.start < chunk.end and other.end > chunk.start:
                # Another section's part is its heading, and what announces this one.
                assert_headings_alone(page.text[other.start : other.end], or_lead_in=True)
        assert_headings_alone(page.text[at : chunk.start])
        at = chunk.end
    assert not page.text[at:].strip()
    return chunks


def test_a_short_section_is_one_chunk() -> None:
    (first, second) = chunk_page(markdown("# Birds\n\nHerons.\n\n## Egrets\n\nWhite.\n"))

    assert (first.text, second.text) == ("# Birds\n\nHerons.", "## Egrets\n\nWhite.")
    assert (second.heading_path, second.anchor) == (("Birds", "Egrets"), "egrets")


def test_the_embedded_text_has_the_headings_and_no_link_targets() -> None:
    page = markdown("# Birds\n\n## Egrets\n\nSee [the `list`](list.md) and ![a nest](n.png).\n")

    (chunk,) = chunk_page(page)
    assert chunk.embedded_text == ("Birds › Egrets\n## Egrets\n\nSee the `list` and a nest.")


def test_long_text_is_cut_between_sentences_near_the_size_aimed_at() -> None:
    chunks = assert_sound(markdown("# Herons\n\n" + _SENTENCE * 100))

    assert all(chunk.text.endswith("pass.") for chunk in chunks)
    assert all(120 <= chunk.tokens <= MAX_TOKENS for chunk in chunks)
    assert all(chunk.tokens == count_tokens(chunk.text) for chunk in chunks)


def test_japanese_is_cut_between_sentences() -> None:
    chunks = assert_sound(markdown("# 鳥\n\n" + "アオサギは浅い水の中に立って魚を待ちます。" * 80))

    assert len(chunks) > 3
    assert all(chunk.text.endswith("。") for chunk in chunks)


def test_a_code_block_is_never_cut_while_it_fits() -> None:
    block = "```python\n" + "value = compute(1)\n" * 30 + "```\n\n"
    chunks = assert_sound(markdown("# Code\n\n" + (_SENTENCE * 8 + "\n\n" + block) * 4))

    assert all(len(_FENCE_LINE.findall(chunk.text)) % 2 == 0 for chunk in chunks)
    assert [chunk.has_code for chunk in chunks].count(True) == 4


def test_a_code_block_too_long_for_a_chunk_is_cut_between_lines() -> None:
    chunks = assert_sound(markdown("```\n" + "value = compute(1, 2, 3)\n" * 300 + "```\n"))

    assert len(chunks) > 5
    assert all(chunk.has_code and chunk.tokens <= MAX_TOKENS + 40 for chunk in chunks)
    assert all(chunk.text.endswith((")", "```")) for chunk in chunks)


def test_a_table_is_cut_between_rows_only() -> None:
    rows = "".join(f"| bird {i} | {'seen near the old alder trees ' * 3}|\n" for i in range(80))
    chunks = assert_sound(markdown("# Table\n\n| Bird | Place |\n|---|---|\n" + rows))

    assert len(chunks) > 3
    for chunk in chunks:
        lines = [line for line in chunk.text.split("\n") if line and not line.startswith("#")]
        assert all(line.startswith("|") and line.endswith("|") for line in lines)


def test_a_sentence_that_announces_code_stays_with_it() -> None:
    text = "# A\n\n" + _SENTENCE * 9 + "\n\nRun this:\n\n```\nx = 1\n```\n\n" + _SENTENCE * 12
    chunks = assert_sound(markdown(text))

    assert any("Run this:\n\n```" in chunk.text for chunk in chunks)


def test_a_sentence_that_announces_long_code_begins_its_chunk() -> None:
    code = "```\n" + "value = compute(1)\n" * 40 + "```\n\n"
    text = "# A\n\n" + _SENTENCE * 11 + f"Run this:\n\n{code}" + _SENTENCE * 12
    chunks = assert_sound(markdown(text))

    assert any(chunk.text.startswith("Run this:\n\n```") for chunk in chunks)


def test_a_page_of_headings_alone_is_one_chunk() -> None:
    assert [c.text for c in assert_sound(markdown("# One\n\n## Two\n"))] == ["# One\n\n## Two"]


def test_a_heading_without_text_goes_with_what_is_below_it() -> None:
    page = markdown("# Birds\n\n## Herons\n\n### Grey\n\nTall.\n\n### White\n\n## Storks\n\nRed.\n")

    chunks = [(c.heading_path, c.text) for c in assert_sound(page)]

    assert chunks == [
        (("Birds", "Herons", "Grey"), "### Grey\n\nTall."),
        (("Birds", "Storks"), "### White\n\n## Storks\n\nRed."),
    ]


def test_signatures_in_a_row_without_descriptions_are_one_chunk() -> None:
    entries = "".join(f"<dl class='py'><dt id='f{i}'>f{i}(x)</dt></dl>" for i in range(4))
    page = extracted(f"<main><h1>Module</h1><p>{_SENTENCE}</p>{entries}<h2>End</h2><p>x</p></main>")

    chunks = assert_sound(page)

    assert [c.text.split("\n")[0] for c in chunks] == ["# Module", "**f0(x)**", "## End"]
    assert chunks[1].text.endswith("**f3(x)**")


def test_a_declaration_with_a_link_to_its_source_goes_with_what_follows() -> None:
    page = markdown(
        "# Split\n\n### impl Clone for Split\n\n1.40.0 · [Source](/src/iter.rs.html#9)\n\n"
        f"#### fn clone(&self)\n\n[Source](/src/iter.rs.html#12)\n\n{_SENTENCE}\n"
    )

    assert [chunk.text[:18] for chunk in assert_sound(page)] == ["#### fn clone(&sel"]


def test_a_heading_and_a_signature_go_with_the_section_below_them() -> None:
    entry = "<dl class='py'><dt id='wade'>wade(depth)</dt></dl>"
    page = extracted(
        f"<main><h1>M</h1><p>x</p><h2>Wading</h2>{entry}<h3>How</h3><p>{_SENTENCE}</p></main>"
    )

    chunks = assert_sound(page)

    own = f"## Wading\n\n**wade(depth)**\n\n### How\n\n{_SENTENCE.strip()}"
    assert chunks[-1].text == own


def test_a_term_or_a_lead_in_stays_with_what_follows() -> None:
    for lead in ("**width**", "For example:", "**Options**:"):
        text = "# A\n\n" + _SENTENCE * 9 + f"\n\n{lead}\n\n" + _SENTENCE * 9
        chunks = assert_sound(markdown(text))

        assert any(f"{lead}\n\n{_SENTENCE.strip()}" in chunk.text for chunk in chunks)


def test_a_section_that_only_announces_the_ones_below_goes_with_the_first_of_them() -> None:
    entry = f"<dl class='py'><dt id='wade'>wade(depth)</dt><dd><p>{_SENTENCE}</p></dd></dl>"
    page = extracted(
        f"<main><h1>M</h1><p>x</p><h2>Wading</h2><p>It has one method:</p>{entry}</main>"
    )

    chunks = assert_sound(page)

    own = f"## Wading\n\nIt has one method:\n\n**wade(depth)**\n\n{_SENTENCE.strip()}"
    assert chunks[-1].text == own


_LINES = st.lists(
    st.one_of(
        st.sampled_from(
            ["# H", "## Sub `x`", "```py", "```", "~~~", "- item", "  - deep", "1. one", "| a | b |",
             "|---|---|", "> quote", "!!! note", "    indented", "", "", "[l](u.md) ![i](p.png)",
             "![](p.png)", "<div hidden>", "</div>", "<!--", "-->", ":::tip", ":::", _SENTENCE * 9]
        ),
        st.text(max_size=40),
    ),
    max_size=40,
)  # fmt: skip


@given(_LINES)
@settings(max_examples=100)
def test_any_markdown_keeps_every_promise(lines: list[str]) -> None:
    source = "visible\n\n" + "\n".join(lines)

    assert_sound(markdown(source))


_TAGS = st.sampled_from(
    "div p h1 h2 h3 ul ol li dl dt dd table tr td th pre code a b em blockquote section article "
    "main nav aside figure figcaption details summary span math mfrac mi".split()
)
_NODES = st.recursive(
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(["<br>", "<img src='/a.png' alt='x'>", "<img src='/b.png'>", "&nbsp;", _SENTENCE]),
    ),
    lambda inner: st.builds(
        lambda tag, extra, parts: f"<{tag} {extra}>{''.join(parts)}</{tag}>",
        _TAGS,
        st.sampled_from(["", "id='a.b'", "class='note'", "class='sig py function'", "href='/x'", "colspan=3"]),
        st.lists(inner, max_size=5),
    ),
    max_leaves=40,
)  # fmt: skip


@given(st.lists(_NODES, max_size=8))
@settings(max_examples=120)
def test_any_html_keeps_every_promise(nodes: list[str]) -> None:
    page = extracted(f"<div role='main' class='body'><p>visible</p>{''.join(nodes)}</div>")

    assert_sound(page)


@given(st.text(min_size=1, max_size=4000).filter(lambda text: bool(text.strip())))
@settings(max_examples=80)
def test_any_plain_text_keeps_every_promise(text: str) -> None:
    assert_sound(extracted("x" + text, "text"))
