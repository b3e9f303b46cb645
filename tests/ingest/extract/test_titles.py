"""Titles of pages whose site has its name in a heading of its own."""

from tests.ingest.fetched import extracted


def test_the_title_of_doxygen_names_a_page_under_the_heading_of_its_site() -> None:
    html = """<title>fixbuf- Documentation</title><h1>fixbuf</h1>
    <div class="header"><div class="headertitle"><div class="title">Data Structures</div></div></div>
    <div class="contents"><p>Here are the data structures with brief descriptions.</p></div>"""

    page = extracted(html, url="https://example.org/docs/annotated.html")

    assert page.title == "Data Structures – fixbuf- Documentation"
    assert "\n# Data Structures\n" in page.text
