"""A paragraph of very many links takes time in proportion to them."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from citewell.core.records import FetchedPage
from citewell.ingest.extract.extract import extract_page


def cpu_seconds(links: int) -> float:
    html = "<p>" + "<a href=/a>a</a> " * links
    page = FetchedPage(
        url="https://birds.example/",
        final_url="https://birds.example/",
        status=200,
        kind="html",
        body=html.encode(),
        text=html,
        fetched_at=datetime.now(UTC),
    )
    start = time.process_time()
    extract_page(page)
    return time.process_time() - start


def test_reading_eight_times_the_links_does_not_take_the_square_of_it() -> None:
    cpu_seconds(100)
    few = min(cpu_seconds(1_000) for _ in range(3))

    assert cpu_seconds(8_000) < 32 * few
