"""Packing a page that was read, for the way between processes."""

from __future__ import annotations

import pytest
from tests.ingest.fetched import fetched

from citewell.core.records import FetchedPage
from citewell.ingest.packed_page import pack_page, unpack_page
from citewell.ingest.reading import read_page

HERONS = """
<html lang="en"><head><title>Herons</title><meta name="description" content="Wading birds">
<link rel="canonical" href="/herons"></head><body><main><h1 id="herons">Herons</h1>
<p>The Grey Heron waits. A Grey Heron nests with <a href="egrets.html#nests">egrets</a>.</p>
<figure><img src="heron.png" alt="A heron"><figcaption>In reeds</figcaption></figure>
<h2 id="calls">Calls</h2><pre><code class="language-python">call("fraank")</code></pre>
</main></body></html>
"""

PAGES = {
    "html": fetched(HERONS),
    "markdown": fetched("# 鷺\n\nコサギは水辺にいる。\n", "markdown"),
    "text": fetched("Egrets wade.\n", "text"),
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_an_unpacked_page_equals_the_one_that_was_packed(page: FetchedPage) -> None:
    read = read_page(page)

    assert unpack_page(pack_page(read)) == read


def test_links_images_and_entities_are_packed_as_well() -> None:
    extracted, chunks, entities = unpack_page(pack_page(read_page(PAGES["html"])))

    assert [link.url for link in extracted.links] == ["https://example.org/docs/egrets.html"]
    assert [image.alt for image in extracted.images] == ["A heron"]
    assert [chunk.has_code for chunk in chunks] == [False, True]
    assert "Grey Heron" in {entity.name for entity in entities}
