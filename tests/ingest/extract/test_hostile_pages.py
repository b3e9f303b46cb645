"""Pages made to stall or crash an extractor."""

from __future__ import annotations

import time

import pytest
from tests.ingest.fetched import extracted

from citewell.core.records import PageKind
from citewell.ingest.chunk import chunk_page

_PAGES: dict[str, tuple[str, PageKind]] = {
    "one line of a megabyte": ("word " * 200_000, "text"),
    "one word of a megabyte": ("x" * 1_000_000, "text"),
    "ten thousand nested divs": ("<div>" * 10_000 + "deep text" + "</div>" * 10_000, "html"),
    "ten thousand nested lists": ("<ul><li>item" * 10_000, "html"),
    "five thousand nested quotes": ("<blockquote>text" * 5_000, "html"),
    "three thousand nested tables": ("<table><tr><td>cell" * 3_000, "html"),
    "five thousand nested bold": ("<b>text<i>more" * 5_000, "html"),
    "fifty thousand list items": (f"<ul>{'<li>an item of the list</li>' * 50_000}</ul>", "html"),
    "twenty thousand links": (f"<p>{'<a href=/x>a link</a> ' * 20_000}</p>", "html"),
    "twenty thousand headings": (
        f"<div id=x>{''.join(f'<h2>Part {i}</h2>' for i in range(20_000))}</div>",
        "html",
    ),
    "thousands of tables of contents": (
        "".join(
            f"<ul><li><a href='#a{i}'>a</a></li><li><a href='#b{i}'>b</a></li>"
            f"<li><a href='#c{i}'>c</a></li></ul><p id=a{i}>a</p><p id=b{i}>b</p><p id=c{i}>c</p>"
            for i in range(5_000)
        ),
        "html",
    ),
    "links that all mark the reader's place": (
        "<div>" * 100 + "".join(f"<a class=active href=/{i}>{i}</a>" for i in range(20_000)),
        "html",
    ),
    "bars of links": ("<div>" * 100 + "<p><a href=x>Next</a></p>" * 20_000, "html"),
    "a table of huge spans": (
        "<table>"
        + "<tr><td colspan=99999 rowspan=99999>x</td><td>y</td></tr>" * 2_000
        + "</table>",
        "html",
    ),
    "lists of tabs without a panel": (
        "<div class=tabs><label>one</label></div>" * 10_000 + "<p>text</p>",
        "html",
    ),
    "sources in one quotation": (
        f"<blockquote>{'<cite>x</cite>' * 20_000}text</blockquote>",
        "html",
    ),
    "contents of lonely anchors": (
        "<ul>"
        + "".join(f"<li><a href='#a{i}'>part {i}</a></li>" for i in range(10_000))
        + "</ul>"
        + "".join(f"<p><a id=a{i}></a></p><h3>part {i}</h3>" for i in range(10_000)),
        "html",
    ),
    "flexible boxes in each other": ("<div class=flex><span>x</span>" * 5_000, "html"),
    "buttons in headings": ("<h2><button>Part</button></h2><p>text</p>" * 10_000, "html"),
    "unclosed fences": ("```\ncode\n~~~\n" * 20_000, "markdown"),
    "open brackets": ("[" * 50_000 + "](" * 50_000, "markdown"),
    "open brackets in lines": (("[a](b " * 20 + "\n") * 2_000, "markdown"),
    "stars": ("*" * 100_000 + "text", "markdown"),
    "spaces": ("<pre>" + " " * 200_000 + "x</pre>", "html"),
    "backticks": ("` `` ``` " * 20_000, "markdown"),
    "nested call-outs": ("".join(" " * 4 * i + "!!! note\n" for i in range(300)), "markdown"),
}


@pytest.mark.parametrize("name", _PAGES)
def test_a_hostile_page_takes_seconds_at_most(name: str) -> None:
    source, kind = _PAGES[name]

    start = time.process_time()
    page = extracted(source, kind)
    chunks = chunk_page(page)

    assert chunks
    assert time.process_time() - start < 8
