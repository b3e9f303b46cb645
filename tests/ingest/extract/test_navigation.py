"""HTML: bars, menus and sidebars leave the text; what only looks like one stays."""

from tests.ingest.fetched import body, extracted

_LONG = "Words that make this paragraph long enough to be taken for the text of the page."


def test_a_row_that_looks_like_a_bar_of_links_is_kept() -> None:
    html = """<table><tr><td>:: <a href="/o">Options</a></td><td>How to encode.</td></tr>
    <tr><td>-&gt; <a href="/q">Next</a></td><td></td></tr></table>"""

    assert "| -> [Next](https://example.org/q)" in body(html)


def test_bars_that_lead_to_the_pages_before_and_after_leave_the_text() -> None:
    page = extracted(
        "<body><div class='head'><p>Next: <a href='b' rel='next'>Bees</a>, Up: <a href='u'>Top</a></p>"
        f"</div><h1>Ants</h1><p>{_LONG}</p><p>[<a href='p'>Previous Chapter</a>] "
        "[<a href='n'>Next Chapter</a>]</p><p>This document was generated on May 4.</p></body>"
    )

    assert page.text == f"# Ants\n\n{_LONG}\n"
    assert {link.kind for link in page.links} == {"navigation"}


def test_a_function_called_next_is_a_row_of_its_table() -> None:
    html = f"""<p>{_LONG}</p><table><tr><td><h3>Functions</h3></td></tr>
    <tr><td><div><a href="/next">next</a></div></td><td>Increments an iterator.</td></tr></table>"""

    assert "[next](https://example.org/next)" in body(html)


def test_what_is_called_a_menu_or_a_sidebar_and_leads_nowhere_is_kept() -> None:
    page = extracted(
        f"<body><p>{_LONG}</p><ul id='menu'><li>Soup</li><li>Bread</li></ul>"
        "<div class='sidebar'><p>To be reviewed.</p></div></body>"
    )

    assert "- Soup\n- Bread\n\nTo be reviewed." in page.text


def test_a_sidebar_named_by_its_id_leaves_the_text_but_a_section_on_navigation_stays() -> None:
    links = "".join(f"<li><a href='/m{n}'>module{n}</a></li>" for n in range(24))
    start = f"<body><h1>Fen</h1><p>{_LONG}</p>"
    sidebar = extracted(
        f"{start}<div id='navigation'><h2>Modules</h2><ul>{links}</ul></div></body>"
    )
    section = extracted(
        f"{start}<div id='navigation'><h2>Navigation</h2><ul>{links}</ul></div></body>"
    )

    assert "module7" not in sidebar.text
    assert {link.kind for link in sidebar.links} == {"navigation"}
    assert "module7" in section.text


def test_an_image_map_that_is_never_closed_does_not_swallow_the_page() -> None:
    html = '<main><p>Herons.</p><map name=a><area href="/b"><ul><li>Wade</ul></main>'

    assert body(html) == "Herons.\n\n- Wade\n"


def test_a_sentence_that_names_its_page_makes_no_menu_of_the_links_around_it() -> None:
    rows = "".join(
        f"<tr><td><a href=c{n}.html>The class {n}</a></td></tr>"
        "<tr><td><details><p>In <a href=herons.html>The herons of ponds</a></p></details></td></tr>"
        for n in range(20)
    )
    html = f"<main><h1>Herons</h1><p>{_LONG}</p><div><table>{rows}</table></div></main>"

    text = extracted(html, url="https://example.org/docs/herons.html").text

    assert "The class 19" in text
    assert "In The herons of ponds" in text


def test_the_list_of_chapters_under_a_text_stays_though_it_is_called_a_menu() -> None:
    rows = "".join(f"<tr><td>&bull; <a href='/{n}'>Case {n}</a>:</td></tr>" for n in range(4))
    page = extracted(f"<body><h3>Installing</h3><p>{_LONG}</p><table class='menu'>{rows}</table>")

    assert "[Case 3](https://example.org/3)" in page.text


def test_labelled_bars_and_addresses_at_the_end_of_a_page_leave_the_text() -> None:
    bar = "<p><b>Links</b>: <a href='n'>Next</a> <a href='p'>Previous</a> <a href='u'>Up</a></p>"
    page = extracted(
        f"<body>{bar}<h1>Ants</h1><p>{_LONG}</p>{bar}"
        "<address>Ann <a href='mailto:ann@example.org'>ann@example.org</a></address></body>"
    )

    assert page.text == f"# Ants\n\n{_LONG}\n"


def test_keywords_and_an_author_make_no_article_of_a_manual() -> None:
    page = extracted(
        "<head><meta name='keywords' content='log'></head><body><h1>Directives</h1>"
        f'<p>{_LONG} {_LONG}</p><b>Include</b><br><br># Another file to read first<br>Include ""<hr>'
        "<div><a rel='author' href='/ann'>Ann</a></div></body>"
    )

    assert '# Another file to read first\nInclude ""' in page.text


def test_a_heading_over_the_date_of_a_page_leaves_the_text_with_it() -> None:
    page = extracted(
        f"<body><div><h1>Ants</h1><p>{_LONG}</p></div>"
        "<div id='side'><h3>Last update:</h3><p>Nov 11, 2026</p></div></body>"
    )

    assert page.text == f"# Ants\n\n{_LONG}\n"


def test_a_bar_of_links_with_the_start_of_the_site_leaves_the_text() -> None:
    bar = " | ".join(f"<a href='{w}'>{w}</a>" for w in ("Home", "All Classes", "Index", "Search"))
    page = extracted(
        f"<body><p>{bar}</p><h1>Ants</h1><p>{_LONG}</p>"
        "<p>Questions or comments, write to the <a href='m'>mailing list</a>.</p></body>"
    )

    assert page.text == f"# Ants\n\n{_LONG}\n"


def test_what_doxygen_sets_around_a_title_is_left_out_but_its_links() -> None:
    html = """<title>Fen: fen::Nest Class Reference</title><div class="header">
    <div class="summary"><a href="#pub-methods">Public Member Functions</a> |
    <a href="classfen_1_1Nest-members.html">List of all members</a></div>
    <div class="headertitle"><div class="title">fen::Nest Class Reference<div class="ingroups">
    <a href="group__birds.html">Birds</a> &raquo; <a href="group__nests.html">Nests</a></div></div></div></div>
    <div class="contents"><p>A nest that no bird has built yet, for others to inherit.</p></div>
    <hr class="footer"><address class="footer"><small>Generated by Doxygen 1.9.4</small></address>"""

    page = extracted(html, url="https://example.org/docs/classfen_1_1Nest.html")

    assert page.text == (
        "# fen::Nest Class Reference\n\nA nest that no bird has built yet, for others to inherit.\n"
    )
    assert [link.text for link in page.links] == ["List of all members", "Birds", "Nests"]


def test_the_frame_of_openstack_pages_is_left_out() -> None:
    html = """<title>Nests</title><h1>Nests</h1><p>Birds build nests of what they find nearby.</p>
    <div class="row docs-byline bottom"><div class="docs-updated">updated: 2022-10-15 10:20</div></div>
    <div class="row"><div class="col-lg-8 docs-license"><p>Except where otherwise noted, this document is
    licensed under a licence of its own.</p></div><div class="col-lg-4 docs-actions-wrapper">
    <a href="https://ask.example.org">questions?</a></div></div>"""

    assert extracted(html).text == "# Nests\n\nBirds build nests of what they find nearby.\n"


def test_numbered_contents_and_hidden_categories_of_a_wiki_leave_the_text() -> None:
    entries = "".join(
        f'<li><a href="#{name}"><span class="tocnumber">{n}</span> <span>{name}</span></a></li>'
        for n, name in enumerate(("Reading", "History", "Marks"), start=1)
    )
    sections = "".join(
        f'<h2><span class="mw-headline" id="{name}">{name}</span></h2><p>{_LONG}</p>'
        for name in ("Reading", "History", "Marks")
    )
    html = f"""<title>Gauge - Fen Wiki</title><div id="content" role="main"><h1>Gauge</h1><p>{_LONG}</p>
    <div id="toc" class="toc"><h2>Contents</h2><ul>{entries}</ul></div>{sections}
    <div id="catlinks" class="catlinks"><a href="/c">Categories</a>: <a href="/d">Instruments</a>
    <div id="mw-hidden-catlinks" class="mw-hidden-catlinks">Hidden: <a href="/e">Stubs</a></div></div></div>"""

    text = extracted(html).text

    assert (
        text
        == f"# Gauge\n\n{_LONG}\n\n"
        + "\n\n".join(f"## {name}\n\n{_LONG}" for name in ("Reading", "History", "Marks"))
        + "\n\n[Categories](https://example.org/c): [Instruments](https://example.org/d)\n"
    )


def test_the_name_of_a_wiki_is_no_heading_over_the_page_that_has_one() -> None:
    html = f"""<title>WaterGauge - Fen Wiki</title><div id="header"><div id="logo"><a href="/">Fen Wiki</a></div>
    <h1 id="locationline">WaterGauge</h1><ul id="navibar"><li><a href="/f">FrontPage</a></li></ul></div>
    <div id="page"><p>{_LONG}</p><p id="pageinfo" class="info">WaterGauge (last edited 2024-05-03)</p></div>"""

    page = extracted(html)

    assert page.title == "WaterGauge"
    assert page.text == f"[Fen Wiki](https://example.org/)\n\n# WaterGauge\n\n{_LONG}\n"


def test_the_links_of_a_mail_archive_leave_the_message() -> None:
    html = f"""<h1>Re: frozen lid</h1><ul><li>This message: [ <a href="#start">Message body</a> ]</li>
    <li>Next message: <a href="2.html">Carl: "Re: frozen lid"</a></li>
    <li>Previous message: <a href="0.html">Anna: "frozen lid"</a></li></ul><p>{_LONG}</p>
    <p><em>This archive was generated by <a href="https://example.com/">hypermail</a></em></p>"""

    assert extracted(html).text == f"# Re: frozen lid\n\n{_LONG}\n"


def test_the_colophon_after_a_list_that_is_never_closed_leaves_it() -> None:
    html = f"""<h1>FEN</h1><p>{_LONG}<h2>OPTIONS</h2><dl><dt>-s<dd>stand on one leg only
    <dt>-w<dd>walk a few steps <hr>This document was created by <a href="i.html">man2html</a>,
    using the manual pages.<br>Time: 10:19:50 GMT, April 20, 2026"""
    kept = html.partition("<hr>")[0] + "<dt>Copyright<dd>© 2026 The Fen"

    assert extracted(html).text.rstrip().endswith("walk a few steps")
    assert extracted(kept).text.rstrip().endswith("© 2026 The Fen")


def test_a_bar_of_arrows_leaves_the_text() -> None:
    arrows = "".join(
        f'<td><a href="{name}.html"><img src="{name}.png" alt="{name.title()}"></a></td>'
        for name in ("home", "up", "prev", "next")
    )
    html = f"""<table class="navigation"><tr>{arrows}</tr></table><h1>Nests</h1><p>{_LONG}</p>
    <p><a href="nest.html"><img src="nest.png" alt="A nest in May"></a></p>"""

    page = extracted(html)

    assert page.text == (
        f"# Nests\n\n{_LONG}\n\n"
        "[![A nest in May](https://example.org/docs/nest.png)](https://example.org/docs/nest.html)\n"
    )


def test_a_row_of_pictures_around_the_title_of_the_manual_leaves_the_text() -> None:
    icons = {"a": "previous", "b": "up", "c": "next", "index": "contents"}
    cells = "".join(f"<td><a href='{to}'><img src='i/{n}.gif'></a></td>" for to, n in icons.items())
    title = "Birds 2.0 - A Handbook of the Herons and Egrets of the Northern Fens"
    row = f"<div class='navigation'><table><tr>{cells}<td>{title}</td></tr></table></div>"

    page = extracted(f"<body>{row}<h2>Ants</h2><p>{_LONG}</p>{row}</body>")

    assert page.text == f"## Ants\n\n{_LONG}\n"
    assert {link.kind for link in page.links} == {"navigation"}


def test_a_title_set_twice_and_the_tabs_of_javadoc_are_read_once_or_not() -> None:
    tabs = "<span class='activeTableTab'>All Methods</span><span class='tableTab'>Static</span>"
    rows = "<tr><th>Type</th><th>Method</th></tr><tr><td>int</td><td>wade()</td></tr>"
    page = extracted(
        f"<body><div class='t'><h2>Heron</h2></div><h1>Heron<a href='#h'>¶</a></h1><p>{_LONG}</p>"
        f"<table><caption>{tabs}</caption>{rows}</table></body>"
    )

    assert page.text.startswith(f"# Heron\n\n{_LONG}\n\n| Type")


def test_old_pages_of_rdoc_have_a_section_for_each_method() -> None:
    page = extracted(
        f"<body><h1>Heron</h1><p>{_LONG}</p><div id='method-M1'><div class='method-heading'>"
        "<a href='#M1'><span>wade</span><span>(depth)</span></a></div><p>Wades.</p></div>"
        "<p><small><a href='http://v.example/check'>[Validate]</a></small></p></body>"
    )

    assert page.text.endswith("**wade(depth)**\n\nWades.\n")
    assert (page.sections[-1].heading, page.sections[-1].anchor) == ("wade", "method-M1")


def test_numbers_beside_the_links_of_contents_leave_with_them() -> None:
    names = ("name", "usage", "files")
    items = "".join(
        f"<div class='n'>{place}.</div><div><a href='#{name}'>{name.upper()}</a></div>"
        for place, name in enumerate(names, 1)
    )
    sections = "".join(
        f"<a name='{name}'></a><h2>{name.upper()}</h2><p>What is to be said of the {name}.</p>"
        for name in names
    )
    phrases = items.replace("<div><a", "<div>of the <a")

    assert body(f"<div>{items}</div>{sections}").startswith("## NAME\n")
    assert body(f"<div>{phrases}</div>{sections}").startswith("1.\n\nof the NAME")


def test_a_member_that_is_named_as_a_part_of_a_page_is_no_such_part() -> None:
    html = f"""<h1>Nest</h1><p>{_LONG}</p><div id="attribute-i-show_active_breadcrumbs">
    <div><span>show_active_breadcrumbs</span></div><p>Turns on the breadcrumbs</p></div>"""

    assert "Turns on the breadcrumbs" in body(html)


def test_a_table_with_marks_beside_each_link_is_no_menu_though_the_page_is_in_it() -> None:
    rows = "".join(
        f"<tr><td><a href='{name}.html'>attribute {name}</a></td><td>x</td><td>{name}</td></tr>"
        for name in (f"n{number}" for number in range(30))
    )
    html = f"<h1>n7</h1><p>{_LONG}</p><table class='table'>{rows}</table>"

    assert "attribute n29" in extracted(html, url="https://example.org/n7.html").text


def test_a_row_of_cells_over_a_page_that_stands_in_it_leaves_the_text() -> None:
    row = """<table width="100%"><tr><th><a href="index.html">Main of it</a><th>
    <a href="news.html">News of it</a><th><a href="doc.html">Doc of it</a> |
    <a href="state.html">State of it</a><td><i>fen-rnd</i></table>"""
    html = f"{row}<h1>Documentation</h1><p>{_LONG}</p>"

    assert "News" not in extracted(html, url="https://example.org/doc.html").text
    assert "News" in extracted(html, url="https://example.org/other.html").text


def test_a_cell_that_is_called_the_sidebar_leaves_the_text() -> None:
    items = "".join(f"<li><a href='{n}.html'>Tutorial {n}</a></li>" for n in "abc")
    html = f"""<table class="layout"><tr><td class="sidebar"><p>Navigation menu</p><ul>{items}</ul>
    </td><td><h1>Annotated</h1><p>{_LONG}</p></td></tr></table>"""

    assert body(html) == f"# Annotated\n\n{_LONG}\n"


def test_a_table_of_words_some_of_which_are_explained_below_is_no_contents() -> None:
    words = ("IGNORE", "JAVACODE", "LOOKAHEAD", "TOKEN", "SKIP")
    cells = "".join(f"<td><b><a href='#{word}'>{word}</a></b></td>" for word in words)
    below = "".join(
        f"<p>\"<a name='{word}'>{word}</a>\" begins a production.</p>" for word in words
    )
    rows = f"<tr><td><b>EOF</b></td>{cells}</tr><tr>{cells}<td></td></tr>"
    html = f"<h1>Grammar</h1><p>{_LONG}</p><table cellpadding='3'>{rows}</table>{below}"

    assert "**EOF**" in body(html)
