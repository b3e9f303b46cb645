"""What scripts and style sheets make of plain elements is read as it is shown."""

from __future__ import annotations

import pytest
from tests.ingest.fetched import extracted

PROSE = "<p>Herons build their nests in high trees near the water, and come back each year.</p>"


def text_of(body: str) -> str:
    return extracted(f"<html><title>Nests</title><body>{body}{PROSE}</body></html>").text


def test_the_name_of_a_tab_stands_over_its_panel_and_is_not_lost_with_the_bar() -> None:
    text = text_of(
        "<div><div role='tablist'><button role='tab' id='a'>npm</button>"
        "<button role='tab' id='b'>yarn</button></div>"
        "<div role='tabpanel' aria-labelledby='a'><p>Run it once.</p></div>"
        "<div role='tabpanel' aria-labelledby='b' hidden><p>Run it twice.</p></div></div>"
    )

    assert text.startswith("**npm**\n\nRun it once.\n\n**yarn**\n\nRun it twice.\n\n")


def test_tabs_that_show_one_panel_in_turns_keep_it_as_it_is() -> None:
    text = text_of(
        "<div role='tablist'><button role='tab' aria-controls='p'>All</button>"
        "<button role='tab' aria-controls='p'>Some</button></div>"
        "<div role='tabpanel' id='p'><p>Run it once.</p></div>"
    )

    assert text.startswith("Run it once.\n\n")


@pytest.mark.parametrize(
    ("button", "words"),
    [
        ("<h2><button aria-expanded='true'>Where are the nests?</button></h2>", "## Where are"),
        ("<button><span>GET</span><div>/nests</div></button>", "GET /nests"),
        ("<button><div>Copy</div><span>code</span></button>", ""),
        ("<button>Send</button>", ""),
        ("<h2>Nests <button>Copy link</button></h2>", "## Nests\n"),
    ],
)
def test_a_button_is_read_where_it_says_what_the_page_says(button: str, words: str) -> None:
    assert text_of(button).startswith(words or "Herons build")


def test_cells_by_role_are_a_table() -> None:
    text = text_of(
        "<div role='table'><div role='row'><span role='columnheader'>Wood</span>"
        "<span role='columnheader'>Nests</span></div><div role='row'>"
        "<span role='cell'>Alder</span><span role='cell'>12</span></div></div>"
    )

    assert text.startswith("| Wood  | Nests |\n|-------|-------|\n| Alder | 12    |\n")


@pytest.mark.parametrize(
    "box",
    [
        "<div class='flex'><span>1 Mar</span><span>noon</span></div>",
        "<div><span class='d-sm-flex'>1 Mar</span><span class='d-sm-flex'>noon</span></div>",
        "<div><span style='color: red; display: block'>1 Mar</span><span>noon</span></div>",
    ],
)
def test_what_a_style_sets_apart_is_not_glued(box: str) -> None:
    assert text_of(box).startswith("1 Mar noon\n")


def test_code_keeps_its_spaces_whatever_lays_it_out() -> None:
    code = "<pre><code class='grid'><span>a(</span><span>1)</span>\n<span>b()</span></code></pre>"

    assert text_of(code).startswith("```\na(1)\nb()\n```")


def test_the_caption_of_a_listing_stays_over_it() -> None:
    text = text_of("<figure><figcaption>nests.py</figcaption><pre>count()</pre></figure>")

    assert text.startswith("nests.py\n\n```\ncount()\n```")


def test_links_that_say_next_in_words_of_their_own_lead_on() -> None:
    text = text_of(
        "<main><h1>Nests</h1><p>Herons.</p><div><a href='a.html'><span>Previous</span><span>Eggs"
        "</span></a><a href='b.html'><span>Next page</span><b>Chicks</b></a></div></main>"
    )

    assert "Chicks" not in text
    assert "Eggs" not in text


def test_a_frame_of_width_nothing_shows_no_table_of_data() -> None:
    text = text_of("<table border='0'><tr><td></td><td>Dawn is at four here.</td></tr></table>")

    assert text.startswith("Dawn is at four here.\n")


def test_a_page_that_only_lays_out_frames_leads_to_them() -> None:
    page = extracted(
        "<html><head><title>Manual</title></head><frameset cols='20%,80%'>"
        "<frame src='menu.html' name='menu'><frame src='text.html' title='The text'></frameset>",
        url="https://example.org/docs/",
    )

    assert page.text == (
        "- [menu](https://example.org/docs/menu.html)\n"
        "- [The text](https://example.org/docs/text.html)\n"
    )
    assert [(link.url, link.kind) for link in page.links] == [
        ("https://example.org/docs/menu.html", "contents"),
        ("https://example.org/docs/text.html", "contents"),
    ]


def test_a_sign_that_only_folds_what_stands_below_is_left_out() -> None:
    text = text_of("<p>Ann, one hour ago | <a href='javascript:void(0)'>[–]</a></p>")

    assert "[–]" not in text


def test_a_listing_with_a_row_for_each_line_keeps_its_indentation() -> None:
    text = text_of(
        "<table class='code'><thead><tr><th>Line</th><th></th></tr></thead>"
        "<tr><th>1</th><td>def count():</td></tr><tr><th>2</th><td>    return 12</td></tr></table>"
    )

    assert text.startswith("```\ndef count():\n    return 12\n```")
