"""What repeats at the edges of a site's pages is learnt, and is in no chunk."""

from __future__ import annotations

from tests.ingest.fetched import extracted

from citewell.core.records import ExtractedPage
from citewell.ingest.chunk import chunk_page
from citewell.ingest.site_lines import SiteLines, content_span


def page(number: int) -> ExtractedPage:
    return extracted(
        f"Small. Fast. Reliable.\n\n# Chapter {number}\n\n{'Herons wade. ' * number}\n\nReturns a bird.\n\n"
        "## Last update:\n\nNov 11, 2026\n",
        "markdown",
    )


def learnt(pages: int) -> frozenset[int]:
    site = SiteLines()
    for number in range(1, pages + 1):
        site.add_page("example.org", page(number).text)
    assert site.repeated("example.com") == frozenset()
    return site.repeated("example.org")


def test_lines_that_most_pages_begin_or_end_with_are_in_no_chunk() -> None:
    chunks = chunk_page(page(9), repeated=learnt(6))

    text = "\n".join(chunk.text for chunk in chunks)
    assert text.startswith("# Chapter 9\n\nHerons wade.")
    assert text.endswith("Herons wade.")
    for chunk in chunks:
        assert chunk.text == page(9).text[chunk.start : chunk.end]


def test_two_pages_say_nothing_about_their_site() -> None:
    assert learnt(2) == frozenset()


def test_a_page_of_repeated_lines_alone_is_kept_whole() -> None:
    text = "Small. Fast. Reliable.\n\n## Last update:\n"

    assert content_span(text, learnt(6)) == (0, len(text))


def test_tables_and_code_at_an_edge_are_kept() -> None:
    site = SiteLines()
    for _ in range(6):
        site.add_page("s", "```\nimport heron\n```\n\nText.\n")

    assert content_span("```\nimport heron\n```\n\nMore.\n", site.repeated("s"))[0] == 0
