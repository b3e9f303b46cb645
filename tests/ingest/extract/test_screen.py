"""The screen of an HTML page, and links that fit what a browser finds there first.

What Chromium finds was tried on each of these constructs (`bench/fragments.py` opens real pages).
"""

from __future__ import annotations

import pytest
from tests.ingest.fetched import extracted

from citewell.core.screen import BLOCK, FOLD, JOINT, UNSURE, unpack_screen
from citewell.core.text_fragment import link_to_quote, text_fragment

MENU = '<nav><ul><li><a href="/a">Wading</a></li><li><a href="/b">Flying</a></li></ul></nav>'


def screen_of(html: str) -> str:
    return unpack_screen(extracted(html).screen).replace(JOINT, "")


def fragment_of(html: str, first: str, last: str) -> str | None:
    """Return the fragment of the last stretch of the page from `first` to `last`."""
    page = extracted(f"{MENU}<main><h1>Herons</h1>{html}</main>")
    end = page.text.rindex(last) + len(last)
    return text_fragment(page.text, page.text.rindex(first, 0, end), end, screen=page.screen)


def test_a_screen_has_the_menu_and_one_block_for_each_item_cell_and_paragraph() -> None:
    html = "<main><p>Two  <b>grey</b>\n herons</p><table><tr><td>eats<td>fish</table></main>"

    assert screen_of(MENU + html) == BLOCK.join(
        ["Wading", "Flying", "Two grey herons", "eats", "fish"]
    )


def test_lines_of_programs_and_breaks_are_line_feeds_of_one_block() -> None:
    html = "<p>one <br> two</p><pre>wade(\n    deep)</pre><div class='line'>a  =  b</div>"

    assert screen_of(html) == f"one\ntwo{BLOCK}wade(\n    deep){BLOCK}a  =  b"


def test_the_parameters_of_javadoc_are_a_block_and_its_signature_keeps_its_lines() -> None:
    html = (
        '<div class="member-signature"><span>@Input</span>\n<span>void</span>&nbsp;'
        '<span>wade</span><span class="parameters">(int depth)</span></div>'
    )

    assert screen_of(html) == f"@Input\nvoid\xa0wade{BLOCK}(int depth)"


def test_the_letter_before_a_name_in_a_list_of_doxygen_is_a_box() -> None:
    html = '<td><span class="icona"><span class="icon">C</span></span><a href="#">heron</a></td>'

    assert screen_of(f"<table><tr>{html}</tr></table>") == f"C{BLOCK}heron"


def test_a_line_break_where_words_may_be_broken_is_no_space() -> None:
    html = (
        "<p><code>&lt;A,<wbr>\nR&gt;</code> is<wbr> fish</p>"
        '<div class="member-signature">static <span class="type-parameters">&lt;B,<wbr>\n'
        "E extends\n Bird&gt;</span>\nvoid</div>"
    )

    assert screen_of(html) == f"<A,R> is fish{BLOCK}static <B,E extends Bird>\nvoid"


def test_a_line_number_without_a_space_is_part_of_the_first_word() -> None:
    html = (
        '<div class="fragment"><div class="line"><span class="lineno">    9</span>'
        '<span>int</span> wade(heron);</div><div class="line"><span class="lineno">   10</span>'
        "<span>int</span> fly(heron);</div></div>"
    )

    assert fragment_of(html, "int wade", "fly(heron);") == (
        "9int%20wade%28heron,10int%20fly%28heron"
    )


def test_lines_of_a_program_that_repeat_are_named_by_their_numbers() -> None:
    body = ["Bird heron = nest();", "int deep = wade(heron);", "}"]
    lines = "".join(
        f'<div class="line"><span class="lineno">{number:5}</span>&#160; {line}</div>'
        for number, line in enumerate(["fly() {", *body, "fly() {", *body], 11)
    )
    html = f'<div class="fragment">{lines}</div>'

    assert fragment_of(html, "Bird heron", "deep = wade(heron);") == (
        "16-,Bird%20heron%20=%20nest,int%20deep%20=%20wade%28heron"
    )
    assert fragment_of(html, "Bird heron", "nest();") == "16-,Bird%20heron%20=%20nest"


def test_the_link_to_a_source_of_haddock_floats() -> None:
    html = (
        '<div id="description"><p class="caption">Description</p><p>On herons.</p></div>'
        '<p class="src"><a class="def">wade</a> :: Bird <a class="link" href="s">Source</a> '
        '<a class="selflink" href="#w">#</a></p><p>See <a class="link" href="s">Sources</a>.</p>'
    )

    assert screen_of(html) == BLOCK.join(
        [UNSURE, "On herons.", "wade :: Bird", "Source", UNSURE, "See Sources."]
    )


def test_rows_that_doxygen_folds_are_not_searched() -> None:
    html = (
        '<table><tr class="memitem"><td>int</td><td>wade ()</td></tr>'
        '<tr class="memitem inherit pub"><td>int</td><td>fly ()</td></tr></table>'
    )

    assert screen_of(html) == BLOCK.join(["int", "wade ()"])


def test_tabs_of_javadoc_are_blocks() -> None:
    tab = '<span class="{}"><span>{}</span><span class="tabEnd">&nbsp;</span></span>'
    html = (
        f"<table><caption>{tab.format('activeTableTab', 'All Methods')}"
        f"{tab.format('tableTab', 'Static Methods')}</caption><tr><td>wade()</td></tr></table>"
    )

    assert screen_of(html) == BLOCK.join(["All Methods", "Static Methods", "wade()"])


@pytest.mark.parametrize(("maker", "between"), [("Doxygen 1.9.4", BLOCK), ("Sphinx", "")])
def test_a_sheet_of_doxygen_makes_boxes_of_code(maker: str, between: str) -> None:
    html = f'<meta name="generator" content="{maker}"><p>Call <code>wade</code>, then rest.</p>'

    assert screen_of(html) == f"Call {between}wade{between}, then rest.".replace(f" {BLOCK}", BLOCK)


def test_cells_without_words_do_not_part_their_neighbours() -> None:
    row = "<tr><td>bird</td><td>a heron</td><td>&nbsp;</td></tr>"
    html = (
        f"<table>{row}<tr><td>fish</td><td>to eat</td><td>&nbsp;</td></tr></table><p>Later.</p>"
        f"<table>{row}<tr><td>frog</td><td>to eat</td><td>&nbsp;</td></tr></table>"
    )

    assert fragment_of(html, "a heron", "a heron") == "a%20heron,-frog"


def test_what_scripts_and_style_sheets_change_is_unsure() -> None:
    html = (
        '<h2>Food<a class="headerlink" href="#f">¶</a></h2>'
        '<p>It is <span class="math">\\(x\\)</span> fish.</p>'
    )

    assert screen_of(html) == f"Food{UNSURE}{BLOCK}It is {UNSURE} fish."


def test_an_image_does_not_part_the_words_around_it() -> None:
    assert screen_of('<p>see <img src="h.png" alt="a heron"> below</p>') == "see below"


@pytest.mark.parametrize(
    ("html", "first", "last", "fragment"),
    [
        ("<p>Wading birds stand.</p>", "Wading", "stand", "Wading%20birds%20stand"),
        ("<p>Wading</p><p>is slow.</p>", "Wading", "is slow", "Herons-,Wading,is%20slow"),
        ("<p>See it.</p><p>Eat.</p><p>See it.</p><p>Fly.</p>", "See", "it", "Eat.-,See%20it"),
        (
            "<pre>open()\nwade()\nclose()</pre><pre>open()\nwade()\nfly()</pre>",
            "wade",
            "fly()",
            "wade%28%29%0Afly",
        ),
        (
            "<table><tr><td>Status:<td>Base</table><table><tr><td>Status:<td>Core</table>",
            "Status",
            "Core",
            "Base-,Status,Core",
        ),
        (
            "<p>A first line.</p><p>Input.</p><p>A second line of words.</p><p>Input.</p>",
            "A first",
            "Input",
            "A%20first%20line,line%20of%20words&text=of%20words.-,Input",
        ),
        (
            '<dl><dt>wade()<a class="headerlink" href="#w">¶</a></dt>'
            "<dd>Walks through shallow water on long legs.</dd></dl>",
            "wade()",
            "long legs",
            "wade,on%20long%20legs",
        ),
    ],
    ids=[
        "menu has the first word", "menu has the first block", "block repeats", "program",
        "header repeats", "end repeats", "link in the signature",
    ],
)  # fmt: skip
def test_a_fragment_is_what_a_browser_finds_first(
    html: str, first: str, last: str, fragment: str
) -> None:
    assert fragment_of(html, first, last) == fragment


@pytest.mark.parametrize(
    ("html", "first", "last", "fragment"),
    [
        (
            "<p>Grey herons of <code>Europe</code> wade <em>slowly</em> all day.</p>",
            "Grey",
            "all day.",
            "Grey%20herons%20of,all%20day",
        ),
        ("<p>Herons <code>wade</code> deep.</p>", "Herons", "deep", "Herons-,Herons,deep"),
        (
            "<pre><code><span>herons wade</span>\n<span>and fly</span></code></pre>",
            "herons wade",
            "and fly",
            "herons%20wade,and%20fly",
        ),
        (
            "<p>Herons at work<br>stand still</p>",
            "Herons at",
            "still",
            "Herons%20at%20work,stand%20still",
        ),
    ],
    ids=["long", "short", "lines of a program", "line break"],
)
def test_terms_lie_inside_of_one_element_because_a_style_sheet_can_set_it_as_a_box(
    html: str, first: str, last: str, fragment: str
) -> None:
    assert fragment_of(html, first, last) == fragment


def test_words_of_several_elements_are_a_term_where_nothing_else_is_unique() -> None:
    html = "<p>Birds</p><p>wade <b>far</b> off</p><p>Birds</p><p>wade <b>far</b> out now</p>"

    assert fragment_of(html, "wade", "now") == "wade%20far%20out%20now"


def test_punctuation_tells_a_destructor_from_its_class() -> None:
    html = "<p>Heron(Bird bird)</p><p>Heron(int legs)</p><p>~Heron()</p>"

    assert fragment_of(html, "~Heron()", "~Heron()") == "~Heron%28%29"


def test_a_quote_ends_at_its_own_last_words_although_they_stand_together_elsewhere() -> None:
    def row(kind: str, eats: str) -> str:
        return f"<p>Bird {kind}</p><p><a class=link>Source</a></p><p>It eats {eats} in a</p>"

    rows = f"{row('one', 'frogs')}<p>nest</p>{row('two', 'small fish')}<p>Source</p><p>Bird</p>"
    page = extracted(f"<main><h1>Herons</h1><p>{'far ' * 99} in a Bird</p>{rows}</main>")
    text = page.text.replace("Source\n\n", "")
    start = text.index("Bird one")

    assert text_fragment(text, start, len(text), screen=page.screen) == (
        "Bird%20one,Source,-Bird&text=Source-,Bird"
    )


def test_a_quote_is_found_around_words_that_canonical_text_leaves_out() -> None:
    html = (
        '<div class="method-heading">wade(depth) <span class="method-click-advice">click to toggle '
        "source</span></div><pre>def wade depth\n  walk depth\nend</pre>"
    )

    assert fragment_of(html, "wade(depth)", "end") == "wade%28depth,end"


def test_a_block_that_repeats_with_all_before_it_is_named_by_what_follows() -> None:
    table = "<p>Types</p><p>A word.</p>"

    fragment = fragment_of(f"{table}<p>Name</p>{table}<p>Address</p>", "A word", "A word.")

    assert fragment == "A%20word.,-Address"


def test_words_that_no_reader_sees_have_no_fragment() -> None:
    page = extracted("<p>Herons wade.</p>")

    assert text_fragment("Egrets fly over land.", 0, 21, screen=page.screen) is None


def test_what_follows_many_blocks_that_repeat_is_named() -> None:
    rows = "<p>Birds</p>" + "".join(f"<p>bird {letter}</p>" for letter in "abcdefgh")
    html = f"{rows}<p>Owls hunt mice all night.</p>{rows}<p>Herons wade in rivers all day.</p>"

    fragment = fragment_of(html, "bird a", "rivers all day.")

    assert fragment == "all%20night,rivers%20all%20day"


def test_closed_details_are_searched() -> None:
    html = "<p>Herons</p><details><summary>More</summary><p>They fly.</p></details>"

    assert screen_of(html) == BLOCK.join(["Herons", "More", FOLD, "They fly.", FOLD])


@pytest.mark.parametrize(
    ("first", "last", "fragment"),
    [
        ("They fly", "long legs", "They%20fly%20far,on%20long%20legs"),
        ("Habits", "long legs", "Habits&text=They%20fly%20far,on%20long%20legs"),
        ("Birds", "fly", "Birds,Habits&text=They%20fly"),
        ("Birds", "The end", "Birds,The%20end"),
    ],
    ids=["inside", "from the summary on", "from above", "across"],
)
def test_closed_details_are_opened_by_a_term_that_begins_in_them(
    first: str, last: str, fragment: str
) -> None:
    html = (
        "<p>They eat.</p><p>Birds</p><details><summary>Habits</summary><div><p>They fly far.</p>"
        "<p>They walk on long legs.</p></div></details><p>The end of it.</p>"
    )

    assert fragment_of(html, first, last) == fragment


@pytest.mark.parametrize(
    ("script", "link"),
    [
        ("location.hash = anchor;", "https://example.org/#:~:text=wade"),
        ("if (location.hash == '') wade();", "https://example.org/#far:~:text=wade"),
    ],
)
def test_a_page_that_sets_its_anchor_again_is_linked_without_one(script: str, link: str) -> None:
    page = extracted(f"<script>{script}</script><main><h1 id=far>Herons</h1><p>wade</p></main>")
    start = page.text.index("wade")

    url = link_to_quote(
        "https://example.org/", "far", page.text, start, start + 4, screen=page.screen
    )

    assert url == link


def test_what_a_script_hides_as_the_page_is_opened_is_not_on_the_screen() -> None:
    script = "<script>document.writeln('<style>div.source { display: none }</style>')</script>"

    assert (
        screen_of(f"{script}<main><p>wade()</p><div class='source'>def wade</div></main>")
        == "wade()"
    )
