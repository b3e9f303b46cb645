from __future__ import annotations

import pytest
from inline_snapshot import snapshot
from tests.ingest.fetched import extracted

from citewell.core.errors import EmptyPage, ExtractionError
from citewell.core.records import PageKind


def pdf(*pages: str) -> bytes:
    """A small PDF with one line of text on each page."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * i} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    out = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    trailer = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF"
    return out + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()


def test_a_pdf_has_a_section_for_each_page() -> None:
    page = extracted(pdf("Herons wade.", "Egrets too."), "pdf", url="https://example.org/birds.pdf")

    assert page.text == "## Page 1\n\nHerons wade.\n\n## Page 2\n\nEgrets too.\n"
    assert [(s.heading, s.anchor) for s in page.sections] == [
        ("Page 1", "page=1"),
        ("Page 2", "page=2"),
    ]
    assert page.title == "birds.pdf"


def test_a_damaged_pdf_is_an_extraction_error() -> None:
    with pytest.raises(ExtractionError):
        extracted(b"%PDF-1.4 not really", "pdf")


def test_a_pdf_without_text_is_empty() -> None:
    with pytest.raises(EmptyPage):
        extracted(pdf(""), "pdf")


def test_json_is_pretty_printed_under_its_title() -> None:
    page = extracted('{"title":"Fens","n":[1,"```"]}', "json")

    assert page.title == "Fens"
    assert page.text == snapshot(
        """\
# Fens

````json
{
  "title": "Fens",
  "n": [
    1,
    "```"
  ]
}
````
"""
    )


def test_what_only_claims_to_be_json_is_fenced_as_it_stands() -> None:
    assert extracted('{"a":1}\n{"a":2}', "json").text == (
        '# page.html\n\n```json\n{"a":1}\n{"a":2}\n```\n'
    )


def test_json_nested_without_end_is_an_extraction_error() -> None:
    with pytest.raises(ExtractionError):
        extracted("[" * 200_000, "json")


def test_a_feed_becomes_headed_entries_with_links() -> None:
    rss = """<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>Reed</title>
    <description>News</description><item><title>Herons</title><link>/herons</link>
    <pubDate>Tue, 05 Mar 2024</pubDate><description>&lt;p&gt;They &lt;b&gt;nest&lt;/b&gt;.&lt;/p&gt;</description>
    </item></channel></rss>"""

    page = extracted(rss, "xml", url="https://example.org/feed.xml")

    assert page.text == snapshot(
        """\
# Reed

News

## [Herons](https://example.org/herons)

Tue, 05 Mar 2024

They **nest**.
"""
    )
    assert [link.url for link in page.links] == ["https://example.org/herons"]


def test_an_atom_entry_links_to_its_alternate() -> None:
    atom = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Reed</title><entry><title>E</title>
    <link rel="self" href="/self"/><link href="/e"/><summary>Short.</summary></entry></feed>"""

    assert "## [E](https://example.org/e)\n\nShort." in extracted(atom, "xml").text


def test_other_xml_is_its_text_and_broken_xml_too() -> None:
    assert extracted("<a><b>One</b><b>Two</b></a>", "xml").text == "One\n\nTwo\n"
    assert extracted("<a><b>One</a>", "xml").text == "One\n"


def test_entities_of_a_document_type_are_not_expanded() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY x "boom">]><a>&x;text</a>'

    assert "boom" not in extracted(bomb, "xml").text


@pytest.mark.parametrize("kind", ["text", "json", "xml", "markdown"])
def test_an_empty_page_of_any_kind_is_an_error(kind: PageKind) -> None:
    with pytest.raises(EmptyPage):
        extracted(" \n\u200b", kind)


def test_plain_text_is_kept_and_titled_by_its_first_line() -> None:
    page = extracted("A title\r\n\r\n\x00Body \ud800text\r\n\n\n\n\nend", "text")

    assert page.title == "A title"
    assert page.text == "A title\n\nBody text\n\n\nend\n"


def test_a_message_in_the_archive_of_a_list_is_prose_with_its_code() -> None:
    bar = """<ul><li>Previous message: <a href="1.html">PEP 1</a></li>
    <li>Next message: <a href="3.html">PEP 3</a></li>
    <li><b>Messages sorted by:</b> <a href="date.html">[ date ]</a> <a href="thread.html">[ thread ]</a></li></ul>"""
    html = f"""<h1>PEP 2</h1><b>Ann</b><br><i>Tue Apr 17 2018</i>{bar}<hr>
<!--beginarticle-->
<pre>Bob wrote:
&gt;<i> It leaks.
</i>
I disagree, as told on <a href="/pep">/pep</a>:

    if any(lines):
        print(lines)

Ann
</pre>
<!--endarticle-->"""

    assert extracted(html).text == (
        "# PEP 2\n\n**Ann**\n*Tue Apr 17 2018*\n\nBob wrote:\n> It leaks.\n\n"
        "I disagree, as told on [/pep](https://example.org/pep):\n\n"
        "```\n    if any(lines):\n        print(lines)\n```\n\nAnn\n"
    )


def test_a_patch_in_the_archive_of_a_list_stays_as_it_is() -> None:
    patch = "--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n-int a;\n+int b;\n\n int c;"
    html = f"<h1>Fix x</h1><!--X-Body-of-Message--><pre>{patch}</pre>"

    assert f"```\n{patch}\n```" in extracted(html).text
