"""Terms and signatures of Texinfo and Haddock are readable Markdown."""

from __future__ import annotations

from tests.ingest.fetched import body


def test_a_term_with_strong_and_nested_emphasis_has_no_stray_stars() -> None:
    html = (
        "<dl><dt><span>: </span><em><var>z</var> =</em> <strong>isnull</strong> <em>(<var>x</var>)</em></dt>"
        "<dd>Return true if <var>x</var> is null.</dd></dl>"
    )

    assert body(html) == "**z = isnull (x)**: Return true if *x* is null.\n"


def test_the_link_to_the_source_beside_a_signature_is_no_part_of_it() -> None:
    html = (
        '<p class="src"><a class="def" id="v:f">f</a> :: <b>Int</b> '
        '<a class="link" href="src/F.html#f">Source</a> <a class="selflink" href="#v:f">#</a></p>'
    )

    assert body(html) == "**f :: Int**\n"


def test_brackets_around_the_words_of_an_image_do_not_end_its_markdown() -> None:
    html = '<p>Notes: <img src="notes.png" alt="[image of music]"></p>'

    assert body(html) == "Notes: ![(image of music)](https://example.org/docs/notes.png)\n"


def test_how_to_show_the_source_of_a_method_is_no_part_of_its_signature() -> None:
    html = (
        '<p><span class="method-name">wade</span><span class="method-args">(depth)</span> '
        '<span class="method-click-advice">click to toggle source</span></p>'
    )

    assert body(html) == "wade(depth)\n"


def test_the_address_of_a_linked_term_does_not_make_it_a_long_one() -> None:
    address = f"https://example.org/{'a' * 120}.html"
    html = f"<dl><dt><a href='{address}'>count</a></dt><dd><p>Counts nests.</p></dd></dl>"

    assert body(html) == f"**[count]({address})**: Counts nests.\n"
