"""Resolving the references of a page."""

from __future__ import annotations

import pytest
from tests.ingest.fetched import PAGE_URL

from citewell.ingest.extract.links import LinkResolver
from citewell.web.urls import resolve_url


@pytest.mark.parametrize(
    "reference",
    [
        "egrets.html",
        "egrets.html#nests",
        "../birds/./egrets.html#nest-2.b",
        "//other.example/egrets#nests",
        "https://Other.example:443/egrets#nests",
        "egrets.html#two words",
        "egrets.html#枝",
        "#nests",
        "?page=2#nests",
        " egrets.html#nests ",
        "javascript:go#nests",
        "http:#nests",
        "https://:1/#nests",
    ],
)
def test_a_reference_leads_where_a_browser_would_go(reference: str) -> None:
    resolver = LinkResolver(PAGE_URL)

    assert resolver.resolve(reference) == resolve_url(PAGE_URL, reference.strip())
