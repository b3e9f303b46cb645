"""What a page documents, by its address and tags."""

from __future__ import annotations

import pytest

from citewell.core.releases import NO_RELEASE, Release, release_of_page


@pytest.mark.parametrize(
    ("url", "product", "version", "place"),
    [
        ("pypi:django@4.2.30/django.db", "pypi:django", "4.2.30", "pypi:django@/django.db"),
        ("npm:@types/node@20.1.0/fs.d.ts", "npm:@types/node", "20.1.0", "npm:@types/node@/fs.d.ts"),
        (
            "https://docs.djangoproject.com/en/4.2/ref/models/",
            *("django", "4.2", "docs.djangoproject.com/en//ref/models/"),
        ),
        ("https://anyio.readthedocs.io/en/v3.7.1/", "anyio", "3.7.1", "anyio.readthedocs.io/en//"),
        ("https://docs.python.org/3.11/a.html", "python", "3.11", "docs.python.org//a.html"),
        (
            "https://www.postgresql.org/docs/15/sql.html",
            *("postgresql", "15", "postgresql.org/docs//sql.html"),
        ),
        ("https://docs.rs/tokio/1.38.0/tokio/", "cargo:tokio", "1.38.0", "docs.rs/tokio//tokio/"),
        (
            "https://pkg.go.dev/golang.org/x/net@v0.30.0/html",
            *("go:golang.org/x/net", "0.30.0", "pkg.go.dev/golang.org/x/net@v/html"),
        ),
    ],
)
def test_the_address_of_documentation_names_its_release(
    url: str, product: str, version: str, place: str
) -> None:
    documents = release_of_page(url)

    assert documents.release == Release(product=product, version=version)
    assert documents.place == place


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/2024/05/news",
        "https://example.org/en/2024/report",
        "https://example.org/guide",
        "https://example.org/blog/release-4.2/",
        "file:///home/me/notes/1.2/a.md",
        "note:idea@home",
    ],
)
def test_other_addresses_name_none(url: str) -> None:
    assert release_of_page(url) == NO_RELEASE


def test_a_tag_decides_over_the_address() -> None:
    documents = release_of_page("https://127.0.0.1/en/9.9/a", ("docs", "Django@4.2"))

    assert documents.release == Release(product="django", version="4.2")
    assert documents.place == "127.0.0.1/en//a"
