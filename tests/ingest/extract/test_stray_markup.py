"""HTML: what generators write out of place, glued together or twice, reads as on the page."""

import pytest
from tests.ingest.fetched import body, extracted

from citewell.core.errors import EmptyPage

_LONG = "Words that make this paragraph long enough to be taken for the text of the page."


def test_lines_of_a_listing_that_are_elements_are_not_spaced_out() -> None:
    html = """<div class="fragment"><div class="line"><span class="lineno">1</span>{</div>
<div class="line"><span class="lineno">2</span>    a = 0;</div>
<div class="line"><span class="lineno">3</span> </div>
<div class="line"><span class="lineno">4</span>}</div>
</div>"""

    assert body(html) == "```\n{\n    a = 0;\n\n}\n```\n"


def test_terms_without_a_list_are_defined_as_those_in_one() -> None:
    html = "<div><h3>A</h3><dt>closure</dt>\n<dd><p>Holds user data.</p></dd></div>"

    assert body(html) == "### A\n\n**closure**: Holds user data.\n"


def test_items_without_a_list_and_items_of_a_definition_list_are_items() -> None:
    html = (
        "<dl><li>One</li><dl><li>One and a half</li></dl><li>Two</li></dl><p>And</p><li>Last</li>"
    )

    assert body(html) == "- One\n  - One and a half\n- Two\n\nAnd\n\n- Last\n"


def test_arrows_that_stand_in_no_element_leave_the_text() -> None:
    arrows = "<a href='p'><img alt='Previous'></a>\n<a href='n'><img alt='Next'></a>\n"
    page = extracted(f"<body>{arrows}<hr><h2>Hints</h2>{_LONG}<hr>{arrows}</body>")

    assert page.text == f"## Hints\n\n{_LONG}\n"


def test_links_in_a_sentence_that_stands_in_no_element_are_kept() -> None:
    page = extracted(
        f"<body><h1>Hints</h1>See <a href='p'>Previous</a> <a href='n'>Next</a>.<p>{_LONG}</p></body>"
    )

    assert "[Previous](https://example.org/docs/p) [Next]" in page.text


def test_a_row_with_the_parts_of_a_site_leaves_the_text() -> None:
    bar = "<table><tr><td><img alt='Logo' src='l.png'></td><td><a href='/'>Home</a></td>"
    bar += "<td><a href='/l'>Libraries</a></td><td><a href='/p'>People</a></td></tr></table>"
    page = extracted(f"<body>{bar}<h2>Hooks</h2><p>{_LONG}</p></body>")

    assert page.text == f"## Hooks\n\n{_LONG}\n"


def test_contents_that_name_their_own_file_leave_the_text() -> None:
    entries = "".join(
        f"<dt><a href='page.html#s{n}'>{n}. Part {n}</a></dt>" for n in ("1", "2", "3")
    )
    parts = "".join(
        f"<h2><a id='s{n}'></a>{n}. Part {n}</h2><p>{_LONG}</p>" for n in ("1", "2", "3")
    )
    page = extracted(f"<body><h1>Chapter</h1><dl class='toc'>{entries}</dl>{parts}</body>")

    assert page.text.startswith(f"# Chapter\n\n## 1. Part 1\n\n{_LONG}")


def test_a_banner_that_repeats_the_title_of_a_page_of_links_leaves_the_text() -> None:
    links = "".join(f"<li><a href='/{name}'>{name}</a></li>" for name in ("dab", "line", "porod"))
    page = extracted(
        "<body><div class='header' role='banner'><h1><a href='/'>Home</a></h1><h2>Functions</h2></div>"
        f"<div class='content' role='main'><h1>Functions</h1><ul>{links}</ul></div></body>"
    )

    assert page.text.startswith("# Functions\n\n- [dab]")


def test_what_rustdoc_shows_beside_a_declaration_comes_after_it() -> None:
    html = """<section class="impl"><a class="src rightside" href="/src">Source</a>
    <h3 class="code-header">impl&lt;P&gt; Clone for Split&lt;P&gt;<div class="where">where
    P: Pattern,</div></h3></section><p>Clones.</p>"""

    assert body(html) == (
        "### impl<P> Clone for Split<P> where P: Pattern,\n\n[Source](https://example.org/src)\n\nClones.\n"
    )


def test_a_property_of_qml_opens_a_section() -> None:
    html = """<h2>Properties</h2><div class="qmlitem"><div class="qmlproto"><table class="qmlname">
    <tr id="width-prop"><td><p><a name="width-prop"></a><span class="name">width</span> : int</p></td>
    </tr></table></div><div class="qmldoc"><p>How wide it is.</p></div></div>"""
    page = extracted(f'<div role="main">{html}</div>')

    assert "**width : int**\n\nHow wide it is." in page.text
    assert [(s.heading, s.anchor) for s in page.sections][-1] == ("width", "width-prop")


def test_spaces_that_a_style_sheet_or_code_sets_part_words() -> None:
    html = "<h3><code>[static] </code><span>Stamp</span> now()</h3>"
    html += "<p><span class='icona'><span class='icon'>C</span></span><a href='/m'>matrix</a></p>"

    assert body(html) == "### `[static]` Stamp now()\n\nC [matrix](https://example.org/m)\n"


def test_a_power_of_a_formula_is_one() -> None:
    html = r"<p>So <span class='math'>\(a - b\)</span><sup>2</sup> holds.</p>"

    assert body(html) == "So $a - b$^2 holds.\n"


def test_an_example_of_haskell_is_not_called_python() -> None:
    html = "<pre class='screen'><code class='prompt'>&gt;&gt;&gt; </code>isLeft (Left 1)</pre>"

    assert body(html) == "```\n>>> isLeft (Left 1)\n```\n"


def test_the_letters_over_an_index_leave_it_also_where_the_page_is_one_of_them() -> None:
    letters = "".join(
        f"<li><a href='doc-index-{letter}.html'>{letter}</a></li>"
        for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    )
    rows = "<tr><td>groupBy</td><td><a href='List.html'>Data.Conduit.Internal.List</a></td></tr>"
    page = extracted(
        f"<div id='content'><div id='alphabet'><ul>{letters}</ul></div>"
        f"<div id='index'><p>Index - G</p><table>{2 * rows}</table></div></div>",
        url="https://example.org/docs/doc-index-G.html",
    )

    assert page.text.startswith("Index - G\n\n|")


def test_a_heading_after_text_is_no_title() -> None:
    page = extracted(
        f"<title>Regular Expressions</title><body>{_LONG}<h1>Search Operators</h1><p>{_LONG}</p>"
        f"<h1>Replacement Operators</h1><p>{_LONG}</p></body>",
        url="https://example.org/docs/regexp.html",
    )

    assert page.title == "Regular Expressions"


def test_a_declaration_called_an_alphabet_is_kept() -> None:
    html = f"<p>{_LONG}</p><div class='odoc-spec'><div class='spec type' id='type-alphabet'>"
    html += "<a href='#type-alphabet' class='anchor'></a><code>type <a href='/a'>alphabet</a></code></div></div>"

    assert "type" in body(html).removeprefix(_LONG)


def test_a_bar_with_the_numbers_of_chapters_leaves_the_text() -> None:
    bar = (
        "<p>[ <a href='i'>anterior</a> ] [ <a href='c'>Conteúdo</a> ] [ 1 ] [ <a href='2'>2</a> ] "
    )
    bar += "[ <a href='3'>3</a> ] [ <a href='4'>4</a> ] [ <a href='2'>próximo</a> ]</p>"
    page = extracted(f"<body>{bar}<h1>Capítulo 1</h1><p>{_LONG}</p>{bar}</body>")

    assert page.text == f"# Capítulo 1\n\n{_LONG}\n"


def test_a_heading_of_the_second_level_that_ends_the_title_is_the_pages_own() -> None:
    page = extracted(
        "<title>The Connectors - News (1.2.x) - 2014 News and Status</title><body>"
        f"<h1>The Connectors - News</h1><h2>2014 News and Status</h2><p>{_LONG}</p></body>"
    )

    assert page.title == "2014 News and Status"


def test_a_heading_that_ends_the_title_and_stands_first_is_the_sites() -> None:
    page = extracted(
        "<title>Form fields — Django 3.2 documentation</title><body>"
        f"<h1>Django 3.2 documentation</h1><h1>Form fields</h1><p>{_LONG}</p></body>"
    )

    assert page.title == "Form fields"


def test_what_a_script_said_to_its_server_is_no_text() -> None:
    html = """Content-type: text/html; charset=UTF-8\n\n<!DOCTYPE html><title>heronctl</title><body>
    <h1>heronctl</h1><p>Feeds the herons of a marsh, three fish a day.</p></body>"""

    assert extracted(html).text.startswith("# heronctl\n")


def test_elements_of_xml_that_are_closed_in_themselves_hold_nothing() -> None:
    page = """<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE html>
    <html xmlns="http://www.w3.org/1999/xhtml"><head><title>wade</title>
    <script type="text/javascript" src="MathJax.js"/></head><body><header/>
    <div class="titlepage"/><h1>wade</h1><p>Wades to the depth<br/>that is given.</p></body></html>"""

    assert extracted(page, url="https://example.org/wade.xhtml").text.startswith("# wade\n\nWades")
    # Sent as HTML, a browser shows nothing of it.
    with pytest.raises(EmptyPage):
        extracted(page, url="https://example.org/wade.html")
