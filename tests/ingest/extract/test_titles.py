"""Titles of pages whose site has its name in a heading of its own."""

from tests.ingest.fetched import extracted


def test_the_title_of_doxygen_names_a_page_under_the_heading_of_its_site() -> None:
    html = """<title>fixbuf- Documentation</title><h1>fixbuf</h1>
    <div class="header"><div class="headertitle"><div class="title">Data Structures</div></div></div>
    <div class="contents"><p>Here are the data structures with brief descriptions.</p></div>"""

    page = extracted(html, url="https://example.org/docs/annotated.html")

    assert page.title == "Data Structures – fixbuf- Documentation"
    assert "\n# Data Structures\n" in page.text


def test_a_title_that_only_a_heading_in_the_menu_repeats_is_that_of_the_site() -> None:
    menu = "".join(f"<li><a href='{n}.html'>Chapter {n}</a></li>" for n in range(24))
    html = f"""<title>Fenlua: web scripts with Lua</title><div>Fenlua</div>
    <div id="navigation"><h1>Fenlua</h1><ul>{menu}</ul></div>
    <h2>Cookies</h2><p>Cookies are read and set by these functions, one for each.</p>"""

    page = extracted(html, url="https://example.org/docs/libraries.html")

    assert page.title == "Cookies – Fenlua: web scripts with Lua"
    assert page.text.startswith("Fenlua\n\n## Cookies\n")


def test_a_title_that_begins_with_the_name_of_the_manual_is_kept_whole() -> None:
    html = """<title>Fenstats Documentation - Speed</title><meta property="og:type" content="article">
    <h1>Benchmarks</h1><p>How long the reading of a log of ten megabytes takes, by machine.</p>"""

    assert extracted(html).title == "Fenstats Documentation - Speed"


def test_a_page_of_several_first_headings_is_named_after_the_one_its_address_names() -> None:
    html = """<title>Permissions - Fenrest</title><h1>Permissions</h1>
    <p>Permissions decide whether a request is granted or denied access.</p>
    <h2>How permissions are determined</h2><p>They are a list of classes, checked in turn.</p>
    <h1>API reference</h1><p>The classes that come with the framework, one by one.</p>"""

    page = extracted(html, url="https://example.org/guide/permissions/index.html")

    assert page.title == "Permissions"


def test_a_manual_page_is_named_by_what_it_is_about_not_by_its_library() -> None:
    html = """<title>libfen(3)</title><h1>libfen(3) Manual Page</h1><h2>NAME</h2>
    <div><p>fen_open, fen_close - Open and close a fen, with all that lives in it.</p></div>"""
    own = html.replace("libfen(3)", "fen_open(3)")
    url = "https://example.org/docs/fen_open.html"

    assert extracted(html, url=url).title == "fen_open, fen_close – libfen(3)"
    assert extracted(own, url=url).title == "fen_open(3) Manual Page"


def test_a_title_that_the_first_heading_repeats_may_be_that_of_the_manual() -> None:
    html = """<title>Fen Reference</title><h1>Fen Reference</h1><h2>... Fundamental Concepts</h2>
    <p>A fen is a wetland that is fed by ground water, unlike a bog.</p>"""

    page = extracted(html, url="https://example.org/ref/concepts.html")

    assert page.title == "... Fundamental Concepts – Fen Reference"


def test_a_label_beside_the_title_of_doxygen_is_no_part_of_it() -> None:
    html = """<title>Fen: fen::Nest Class Reference</title><div class="header"><div class="headertitle">
    <div class="title">fen::Nest Class Reference<span class="mlabels"><span class="mlabel">abstract</span></span></div></div></div>
    <div class="contents"><p>A nest that no bird has built yet, for others to inherit.</p></div>"""

    page = extracted(html, url="https://example.org/docs/classfen_1_1Nest.html")

    assert page.title == "fen::Nest Class Reference"
    assert page.text.startswith("# fen::Nest Class Reference abstract\n")


def test_the_lists_of_doxygen_are_told_apart_by_their_address() -> None:
    html = """<title>Fen: Globals</title><div class="contents"><h3>- d -</h3>
    <ul><li>dig() : <a href="fen_8h.html">fen.h</a></li></ul></div>"""

    page = extracted(html, url="https://example.org/docs/globals_func_d.html")

    assert page.title == "func d – Fen: Globals"
    one_letter = extracted(html, url="https://example.org/docs/globals_f.html")
    assert one_letter.title == "f – Fen: Globals"


def test_a_heading_that_the_title_of_the_window_does_not_hold_stands_before_it() -> None:
    html = """<title>Fen: nest.h File Reference</title><div class="header"><div class="headertitle">
    <div class="title">birds/nest.h File Reference</div></div></div>
    <div class="contents"><p>All that a bird needs to know about the building of nests.</p></div>"""

    page = extracted(html, url="https://example.org/docs/birds_2nest_8h.html")

    assert page.title == "birds/nest.h File Reference – Fen: nest.h File Reference"


def test_a_title_without_letters_gives_way_to_the_first_line() -> None:
    html = """<title>4</title><p><b>4.11 Torus No. 12</b></p>
    <p>This element has eight nodes, and is the best choice for bodies that turn.</p>"""

    assert extracted(html).title == "4.11 Torus No. 12"


def test_signs_between_the_parts_of_a_name_are_those_of_the_title() -> None:
    html = """<title>Fen.Nest.new</title><h1><a href="index.html">Fen</a><span class="sep"></span><a
    href="class.Nest.html">Nest</a><span class="sep"></span>new</h1><p>Makes a nest of what is there.</p>"""

    page = extracted(html, url="https://example.org/docs/ctor.Nest.new.html")

    assert page.title == "Fen.Nest.new"
    assert [section.heading for section in page.sections] == ["Fen Nest new"]


def test_a_page_without_a_title_has_that_of_the_markdown_it_shows_as_it_is_written() -> None:
    page = extracted(
        "<title>&lt;no title&gt; — SRT documentation</title><div role='main'>"
        "<p># Bonding: Quick Start</p><p>## 1. Introduction</p><p>Herons are counted.</p></div>",
        url="https://example.org/features/bonding.html",
    )

    assert page.title == "Bonding: Quick Start"


def test_a_title_that_is_a_product_and_its_release_is_preceded_by_the_only_first_heading() -> None:
    html = """<title>Fenfeed 4.03.03</title><h1>Chapter 2: Feeding at dusk</h1>
    <p>This section describes the feeder from the point of view of one who feeds.</p>"""
    page = extracted(html, url="https://example.org/docs/fenfeed02.html")
    start = extracted(html.replace("Chapter 2: Feeding at dusk", "Fenfeed 4.03.03 manual"))

    assert page.title == "Chapter 2: Feeding at dusk – Fenfeed 4.03.03"
    assert start.title == "Fenfeed 4.03.03 manual"


def test_a_heading_that_has_more_of_the_address_than_the_title_precedes_it() -> None:
    html = """<title>Images of fens in Python — FENPY Documentation</title>
    <h1>labs.utils.zscore</h1><p>Return the z-score that corresponds to a given value.</p>"""

    page = extracted(html, url="https://example.org/api/fenpy.labs.utils.zscore.html")

    assert page.title.startswith("labs.utils.zscore – Images of fens")


def test_a_logo_that_leads_home_is_no_heading_and_its_name_no_title() -> None:
    html = """<title>anyFen · See the fen from your phone</title>
    <div><h1><a href="index.html"><img src="logo.png" alt="logo"> anyFen</a></h1></div>
    <h1>Set(...) commands</h1><p>A command of this kind sets what is shown of the fen.</p>
    <h1>Make(...) commands</h1><p>A command of this kind makes something in the fen.</p>"""

    page = extracted(html, url="https://example.org/docs/set.html")

    assert page.title == "Set(...) commands – anyFen · See the fen from your phone"
    assert "anyFen" not in page.text


def test_markup_in_the_title_is_not_shown() -> None:
    html = """<title>Fen Docs: The &lt;code class="py docutils"&gt;fen&lt;/code&gt; Module</title>
    <p>The module reads the logs of the fen and writes them again as tables.</p>"""

    assert extracted(html).title == "Fen Docs: The fen Module"


def test_a_title_of_a_site_and_a_page_is_not_cut_to_that_of_the_site() -> None:
    html = """<title>Fen Documentation: Hints</title><h1>Fen Documentation</h1>
    <h1>HINTS</h1><p>This is a collection of hints on fens, gained by walking in them.</p>"""

    assert extracted(html).title == "HINTS"
    assert extracted(html.replace("HINTS", "Tips")).title == "Fen Documentation: Hints"


def test_a_heading_of_the_menu_is_no_title_where_it_only_begins_a_longer_name() -> None:
    html = """<title>fentools.main — fentools 4.3 documentation</title>
    <div class="body" role="main"><h1>Source code for fentools.main</h1>
    <pre>def main():\n    return wade()</pre></div>
    <div class="sphinxsidebar"><h1 class="logo"><a href="../../index.html">fentools</a></h1></div>"""

    page = extracted(html, url="https://example.org/docs/_modules/fentools/main.html")

    assert page.title == "fentools.main"


def test_a_page_without_headings_is_named_by_the_bold_line_that_it_begins_with() -> None:
    html = """<title>Fen Howto</title><p><b>16. fend and herons</b></p>
    <p>This section covers the configuration of fend together with herons and their nests.</p>"""

    assert extracted(html).title == "16. fend and herons – Fen Howto"


def test_a_chapter_is_named_before_the_manual_that_it_is_part_of() -> None:
    html = """<title>Fenlex++ (Version 2.17) User Guide</title><h1>Chapter 1: Introduction</h1>
    <p>This manual describes fenlex++, a tool that makes programs which recognise herons.</p>"""

    page = extracted(html, url="https://example.org/manual/fenlex01.html")

    assert page.title == "Chapter 1: Introduction – Fenlex++ (Version 2.17) User Guide"


def test_a_heading_that_says_whose_the_end_of_the_title_is_comes_first() -> None:
    html = """<title>Fenlib: Member List</title><h1>Nest Member List</h1>
    <p>This is the complete list of members for Nest, including all inherited members.</p>"""

    page = extracted(html, url="https://example.org/docs/classFenNest-members.html")

    assert page.title == "Nest Member List – Fenlib: Member List"


def test_an_only_heading_without_a_word_of_the_title_names_the_page() -> None:
    html = """<title>Fenclient.</title><h1>Contributing patches</h1>
    <p>Send what you have changed to the list, and say why the herons need it.</p>"""

    assert extracted(html, url="https://example.org/fen.html").title == (
        "Contributing patches – Fenclient."
    )


def test_a_heading_that_says_more_than_the_start_of_the_title_is_the_title() -> None:
    html = """<title>Index — Fens 1.4 documentation</title><h1>Index – C</h1>
    <ul><li><a href="api.html#cattail">cattail() (in module fens)</a></li></ul>"""

    assert extracted(html, url="https://example.org/genindex-C.html").title == "Index – C"


def test_a_listing_of_javadoc_is_named_by_its_address() -> None:
    html = """<title>Source code</title><body><main><pre><span class="source-line-no">001</span>
package org.fen;
public class Nest {}</pre></main></body>"""

    page = extracted(html, url="https://example.org/src-html/org/fen/Nest.html")

    assert page.title == "Nest – Source code"


def test_a_heading_that_is_the_name_in_the_address_names_the_page() -> None:
    html = """<title>Fen-7.3 Command Reference</title><h1><img src="t.gif" alt="Fen Layout 7.3"></h1>
    <h2>polygon</h2><hr>Generate polygons from the command line.<h3>Usage</h3><p>polygon x y</p>"""

    page = extracted(html, url="https://example.org/docs/polygon.html")

    assert page.title == "polygon – Fen-7.3 Command Reference"


def test_a_line_that_begins_the_name_of_the_site_is_not_the_title() -> None:
    html = """<title>fenBackup - Frequent Questions</title>
    <meta property="og:site_name" content="fenBackup - Reliable Fens">
    <div class="head"><div class="name">fenBackup</div><div class="sub">Frequent Questions</div></div>
    <div>What is to be done where a heron does not come back in the evening?</div>
    <pre>fenbackup --wait</pre>"""

    page = extracted(html)

    assert page.title == "fenBackup - Frequent Questions"
    assert "# Frequent Questions" in page.text


def test_a_path_of_links_is_no_heading_and_the_way_in_a_title_is_kept() -> None:
    html = """<title>FenLib - Documentation > C API</title>
    <div><span><a href="../doc.html">Documentation</a></span><span>></span><a href="./">C API</a></div>
    <div class="header"><div class="headertitle"><div class="title">fen.h File Reference</div></div></div>
    <div class="contents"><p>The functions that read what is said of a fen in its log.</p></div>"""
    plain = html.replace(' class="title"', "")

    page = extracted(html, url="https://example.org/doc/api/fen_8h.html")

    assert page.title == "fen.h File Reference – FenLib - Documentation > C API"
    assert "# fen.h File Reference\n" in page.text
    assert extracted(plain).title == "FenLib - Documentation > C API"
