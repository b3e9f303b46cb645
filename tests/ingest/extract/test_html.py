from __future__ import annotations

import pytest
from inline_snapshot import snapshot
from tests.ingest.fetched import body, extracted

from citewell.core.errors import EmptyPage
from citewell.core.records import Image, Link

_LONG = "Words that make this paragraph long enough to be taken for the text of the page."


def test_links_are_absolute_and_recorded_with_their_words() -> None:
    page = extracted(
        '<base href="/guide/"><main><h1 id="top">Guide</h1>'
        f'<p>{_LONG} See <a href="setup.html#two">the <b>setup</b></a>, <a href="#top">above</a> or '
        '<a href="javascript:void(0)">nothing</a>.</p></main>'
    )

    assert "See [the **setup**](https://example.org/guide/setup.html#two), " in page.text
    assert page.links == (
        Link(
            url="https://example.org/guide/setup.html",
            text="the setup",
            context=page.links[0].context,
            section=0,
            start=page.text.index("[the"),
        ),
    )
    assert "See the " in page.links[0].context


def test_lazy_images_are_found_and_tracking_pixels_dropped() -> None:
    page = extracted(
        f"""<main><h1>Birds</h1><p>{_LONG}</p>
        <figure><img src="data:image/gif;base64,R0" data-src="/a.jpg" alt="Heron">
        <noscript><img src="/a.jpg" alt="Heron"></noscript><figcaption>At dawn</figcaption></figure>
        <p><img srcset="/s.png 320w, /l.png 1280w" alt="Egret"></p>
        <img src="/t.gif" width="1" height="1"></main>"""
    )

    assert [(image.url, image.alt, image.caption) for image in page.images] == [
        ("https://example.org/a.jpg", "Heron", "At dawn"),
        ("https://example.org/l.png", "Egret", ""),
    ]
    assert all(isinstance(image, Image) for image in page.images)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<div class="admonition note"><p class="admonition-title">Note</p><p>A.</p></div>', "ℹ️ NOTE: A."),
        ('<div class="markdown-alert markdown-alert-warning"><p class="markdown-alert-title">Warning</p><p>A.</p></div>', "⚠️ WARNING: A."),
        ('<div class="alert alert-danger" role="alert">A.</div>', "⚠️ DANGER: A."),
        ('<div class="tip custom-block"><p class="custom-block-title">TIP</p><p>A.</p></div>', "ℹ️ TIP: A."),
        ('<div class="admonitionblock caution"><table><tr><td class="icon">Caution</td><td class="content">A.</td></tr></table></div>', "⚠️ CAUTION: A."),
        ('<div class="notecard warning"><p><strong>Warning:</strong> A.</p></div>', "⚠️ Warning: A."),
        ('<div class="tip"><table><tr><td rowspan="2"><img src="tip.png"></td><th>Подсказка</th></tr><tr><td>' + "<p>A.</p>" * 12 + "</td></tr></table></div>", "ℹ️ TIP: Подсказка" + "\n\nℹ️ A." * 12),
        ('<aside role="note">A.</aside>', "ℹ️ NOTE: A."),
        ('<div class="note">A.</div>', "ℹ️ NOTE: A."),
        ('<div class="admonition note"><p class="admonition-title">Limits</p><p>A.</p></div>', "ℹ️ NOTE: Limits\n\nℹ️ A."),
        ('<div class="admonition warning"><p>A.</p><pre>b</pre><ul><li>c</li></ul><p><b>D</b> e.</p></div><p>F.</p>', "⚠️ WARNING: A.\n\n```\nb\n```\n\n- c\n\n⚠️ **D** e.\n\nF."),
    ],
)  # fmt: skip
def test_call_outs_of_every_generator_are_labelled(html: str, text: str) -> None:
    assert body(html) == text + "\n"


def test_a_line_that_is_called_the_title_is_the_pages_heading_and_name() -> None:
    head = "<title>Heron - Simple and fast birds</title>"
    line = '<div class="headertitle"><div class="title">heron::Nest Member List</div></div>'

    page = extracted(f"{head}<div class=header>{line}</div><div><p>{_LONG}</p></div>")

    assert page.title == "heron::Nest Member List – Heron - Simple and fast birds"
    assert page.text == f"# heron::Nest Member List\n\n{_LONG}\n"


def test_a_header_over_all_columns_names_the_table() -> None:
    rows = "<tr><th>Part</th><th>Use</th></tr><tr><td>bill</td><td>fishing</td></tr>"

    text = body(f"<table><tr><th colspan=2>Parts of a heron</th></tr>{rows}</table>")

    assert (
        text == "Parts of a heron\n\n| Part | Use     |\n|------|---------|\n| bill | fishing |\n"
    )


def test_a_footer_that_names_a_licence_before_the_copyright_is_furniture() -> None:
    footer = (
        "<div id=footer>Fen is free software under the MIT licence.<br>Copyright © B. Reed</div>"
    )

    assert body(f"<p>{_LONG}</p><div id=footer-box>{footer}</div>") == f"{_LONG}\n"


def test_no_cell_of_a_huge_table_is_left_out() -> None:
    wide = "".join(f"<td>c{n}</td>" for n in range(90))
    rows = "".join(f"<tr><td>r{n}</td>{'<td>x</td>' * 20}</tr>" for n in range(3_500))
    spans = "<tr><td rowspan=9 colspan=9>wide</td><td>after</td></tr>"

    text = body(f"<table><tr>{wide}</tr>{rows}{spans}<tr><td>last</td></tr></table>")

    lost = [f"| c{n} " for n in range(90) if f"| c{n} " not in text]
    lost += [f"| r{n} " for n in range(3_500) if f"| r{n} " not in text]
    assert lost == []
    assert "| after" in text
    assert "| last" in text


def test_a_name_over_all_columns_is_no_part_of_their_names() -> None:
    html = """<table border="1"><tr><th>Construct</th><th>Notes</th></tr>
    <tr><th colspan="2">Structure</th></tr><tr><td>element</td><td>yes</td></tr>
    <tr><th colspan="2">Datatypes</th></tr><tr><td>byte</td><td>signed</td></tr></table>"""

    assert body(html) == snapshot(
        """\
| Construct | Notes  |
|-----------|--------|
| Structure |        |
| element   | yes    |
| Datatypes |        |
| byte      | signed |
"""
    )


def test_spans_of_tables_are_flattened() -> None:
    html = """<table><thead><tr><th>Bird</th><th colspan="2">Pairs</th></tr></thead>
    <tr><td rowspan="2">Heron</td><td>1</td><td>2</td></tr><tr><td colspan="2">none | few</td></tr></table>"""

    assert body(html) == snapshot(
        """\
| Bird  | Pairs       | Pairs |
|-------|-------------|-------|
| Heron | 1           | 2     |
| Heron | none \\| few |       |
"""
    )


def test_inline_markup_becomes_markdown() -> None:
    html = (
        "<p>Press <kbd>Ctrl</kbd>, run <code>a `b` c</code>, <em> spaced </em>and<br>broken "
        "<del>gone</del> 2<sup>10</sup> 1<sup>st</sup></p>"
        "<details><summary>More</summary><p>Inside.</p></details>"
        "<ol start='3'><li>three<ul><li>deep</li></ul></li><li value='7'>seven</li></ol>"
    )

    assert body(html) == snapshot(
        """\
Press `Ctrl`, run `` a `b` c ``, *spaced* and
broken ~~gone~~ 2^10 1st

**More**

Inside.

3. three
   - deep
7. seven
"""
    )


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<html></html>",
        "<script>x</script>",
        "<p hidden>x</p>",
        "<noscript>Please turn scripts on.</noscript>",
    ],
)
def test_a_page_without_visible_text_is_an_error(html: str) -> None:
    with pytest.raises(EmptyPage):
        extracted(html)


@pytest.mark.parametrize(
    ("head", "content", "title"),
    [
        ("<title>Setup - Fen Docs</title>", "<h1>Setup</h1>", "Setup"),
        ("<title>A long way home | Site</title>", "", "A long way home"),
        ('<title>x</title><meta property="og:title" content="Herons: a history">', "", "Herons: a history"),
        ("", "<h1>Only <i>heading</i></h1>", "Only heading"),
        ("", "", "page.html"),
        ('<title>Fen - Setup</title><meta property="og:title" content="Fen"><meta name="application-name" content="Fen">', "", "Fen - Setup"),
        ("<title>Speed - Fen - the quick server</title>", "<h1>Fen</h1>", "Speed - Fen - the quick server"),
        ("<title>fen - Speed</title>", "<h1><a href='/'>fen</a></h1><h1>Speed</h1>", "Speed"),
        ("<title>Fen, a server</title>", "<h2>About this page</h2>", "About this page – Fen, a server"),
        ("<title>Fen Project: Nest Class Reference</title>", "<div class=header><div class=title>Nest Class Reference</div></div>", "Nest Class Reference"),
    ],
)  # fmt: skip
def test_the_title_is_the_pages_own(head: str, content: str, title: str) -> None:
    page = extracted(f"<head>{head}</head><body><main>{content}<p>{_LONG}</p></main></body>")

    assert page.title == title


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("birds_heron.html", "Module: heron – Fen Reference"),
        ("birds.html", "Layer: birds – Fen Reference"),
        ("fen.html", "Fen Reference"),
    ],
)
def test_under_a_title_that_every_page_has_the_heading_of_the_address_names_the_page(
    path: str, title: str
) -> None:
    page = extracted(
        "<head><title>Fen Reference</title></head><body><div>Fen Reference</div>"
        f"<h1>Layer: birds</h1><h2>Module: heron</h2><p>{_LONG}</p></body>",
        url=f"https://fen.example/{path}",
    )

    assert page.title == title


@pytest.mark.parametrize("title", ["Fen Manager - Setup Guide", "Setup Guide | Fen Manager"])
def test_a_sites_name_over_the_content_is_not_the_title_of_the_page(title: str) -> None:
    page = extracted(
        f"<head><title>{title}</title></head><body><header><a href='/'>"
        f"<h1>Fen Manager</h1></a></header><main><h1>Setup Guide</h1><p>{_LONG}</p></main></body>"
    )

    assert page.title == "Setup Guide"


def test_a_link_with_brackets_is_kept_as_it_is_and_escaped_in_the_text() -> None:
    page = extracted(
        "<main><p>See <a href='/wiki/Heron_(bird)'>herons</a> wade in rivers.</p></main>"
    )

    assert "[herons](https://example.org/wiki/Heron_%28bird%29)" in page.text
    assert [link.url for link in page.links] == ["https://example.org/wiki/Heron_(bird)"]


def test_links_are_kept_with_their_kind_whether_or_not_their_text_is() -> None:
    page = extracted(
        f"<body><nav><a href='/home'>Home</a></nav><p>{_LONG} <a href='/herons'>Herons</a> too.</p>"
        "<h2>See also</h2><ul><li><a href='/egrets'>Egrets</a></li>"
        "<li><a href='/storks'>Storks</a></li><li><a href='/ibises'>Ibises</a></li></ul></body>"
    )

    assert [(link.url.rpartition("/")[2], link.kind) for link in page.links] == [
        ("herons", "content"),
        ("egrets", "contents"),
        ("storks", "contents"),
        ("ibises", "contents"),
        ("home", "navigation"),
    ]
    assert "- [Egrets](https://example.org/egrets)" in page.text
    assert "Home" not in page.text
    assert all(link.start < len(page.text) for link in page.links)


def test_a_section_named_like_a_part_of_the_frame_is_kept() -> None:
    text = body("<section id='copyright'><h1>Copyright</h1><p>Owned by the herons.</p></section>")

    assert text == "# Copyright\n\nOwned by the herons.\n"


@pytest.mark.parametrize(
    "name", ["related-objects", "session-cookies", "login", "search", "comments", "tags", "menu"]
)
def test_an_id_made_from_a_heading_decides_nothing(name: str) -> None:
    page = extracted(
        f"<body><h1>Reference</h1><p>{_LONG}</p><div id='{name}' class='{name}'><h2>A part</h2>"
        f"<p>{_LONG} It stays.</p></div></body>"
    )

    assert f"## A part\n\n{_LONG} It stays." in page.text


@pytest.mark.parametrize("head", ["", "<meta property='og:type' content='article'>"])
def test_nothing_is_cut_out_of_a_sentence_or_a_signature(head: str) -> None:
    page = extracted(
        f"<head>{head}</head><body><h1>Names</h1><p>{_LONG}</p><p>Pass <span>tags</span>: a list; "
        f"<b>Related</b> names, and <span class='comments'>comments</span> too.</p><p>{_LONG}</p></body>"
    )

    assert "Pass tags: a list; **Related** names, and comments too." in page.text


def test_text_between_the_items_of_a_list_stays_together() -> None:
    html = "<ol><span>int</span> The number of <b>buttons</b> alive.<li>Second</li></ol>"

    assert body(html) == "1. int The number of **buttons** alive.\n2. Second\n"


def test_a_tag_that_xhtml_closes_in_itself_does_not_swallow_the_page() -> None:
    page = extracted(
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" ""><html><head><title>Ants</title></head>'
        f"<body><iframe src='https://example.org/button'/><h1>Ants</h1><p>{_LONG}</p></body></html>"
    )

    assert page.text == f"# Ants\n\n{_LONG}\n"


def test_a_footnote_that_its_number_shows_is_kept_apart_from_it() -> None:
    page = extracted(
        "<style>.note {display: none} sup:hover span.note {display: block} .gone {display: none} "
        f".gone:hover {{display: block}}</style><body><p>{_LONG}<sup>7<span class='note'>Only in "
        "spring.</span></sup> <span class='gone'>Nobody sees this.</span></p></body>"
    )

    assert "page.7 Only in spring." in page.text
    assert "Nobody" not in page.text


def test_two_lines_in_the_head_make_no_article_of_a_page_of_reference() -> None:
    entries = "".join(f"<li>blur{n}() : <a href='/c{n}'>Image</a></li>" for n in range(8))
    page = extracted(
        "<head><meta name='keywords' content='images'><meta name='author' content='Ann'></head>"
        f"<body><div class='header'><p>Members:</p><h3>- b -</h3><ul>{entries}</ul></div>"
        f"<div><p>{_LONG}</p></div></body>"
    )

    assert "- blur7() : [Image](https://example.org/c7)" in page.text


def test_a_section_on_copyright_keeps_its_lines() -> None:
    page = extracted(
        f"<body><h1>Ants</h1><p>{_LONG}</p><div class='section'><h2>Copyright</h2>"
        "<p>Licensed as the rest is.</p><ul><li>Copyright 2006 Ann</li></ul></div></body>"
    )

    assert page.text.endswith("- Copyright 2006 Ann\n")


def test_contents_may_lead_to_empty_anchors_right_in_the_body() -> None:
    links = "".join(f'<li><a href="#s{n}">Pond {n}</a></li>' for n in range(6))
    parts = "".join(
        f'<a name="s{n}"></a><h2>Pond {n}</h2><p>Herons wade in pond {n} all day, and frogs sing.</p>'
        for n in range(6)
    )

    page = extracted(f"<html><body><h1>Ponds</h1><ul>{links}</ul>{parts}</body></html>")

    assert page.text.startswith("# Ponds\n\n## Pond 0\n\nHerons wade in pond 0 all day")


def test_methods_that_a_table_lays_out_are_sections_of_their_own() -> None:
    row = (
        '<tr><td><dl class="py method"><dt class="sig sig-object py" id="Heron.{0}">'
        "<span>{0}</span>()</dt><dd><p>Let it {0} in the pond.</p></dd></dl></td><td></td></tr>"
    )
    table = f"<table><thead><tr><th>Methods</th><th></th></tr></thead>{row}{row}</table>"

    page = extracted(f"<body><h1>Heron</h1><p>{_LONG}</p>{table.format('wade')}</body>")

    assert [section.anchor for section in page.sections].count("Heron.wade") == 2
