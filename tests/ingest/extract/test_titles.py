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


def test_the_heading_that_ends_a_title_names_the_page_under_a_longer_name_of_the_site() -> None:
    html = """<title>Fen Connectors - News (1.2.x) - 2006 News and Status</title>
    <h1>Fen Connectors - News</h1><h2>2006 News and Status</h2>
    <p>The first release of the year mends three faults that were reported.</p>"""

    page = extracted(html, url="https://example.org/news/20060101.html")

    assert page.title == "2006 News and Status"
