"""Addresses of pages, both ways."""

from __future__ import annotations

import pytest

from citewell.docsite.urls import doc_path_of, page_url

PATHS = ["index.md", "a/index.md", "a/b.md", "c/README.md", "c/d e.md", "guide.markdown"]


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("index.md", "/"),
        ("a/index.md", "/a/"),
        ("a/b.md", "/a/b.html"),
        ("c/README.md", "/c/"),
        ("c/d e.md", "/c/d%20e.html"),
        ("guide.markdown", "/guide.html"),
    ],
)
def test_every_page_has_one_address(path: str, url: str) -> None:
    assert page_url(path, PATHS) == url


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ("/", "index.md"),
        ("/index.html", "index.md"),
        ("/a", "a/index.md"),
        ("/a/", "a/index.md"),
        ("/a/b", "a/b.md"),
        ("/a/b.html", "a/b.md"),
        ("a/b.md", "a/b.md"),
        ("/c/", "c/README.md"),
        ("/c/d e.html", "c/d e.md"),
        ("/guide", "guide.markdown"),
        ("/nothing", None),
        ("/a/b.md.html", None),
        ("/../a/b", None),
    ],
)
def test_a_page_is_found_by_any_of_its_spellings(asked: str, path: str | None) -> None:
    assert doc_path_of(asked, PATHS) == path


def test_a_readme_beside_an_index_is_a_page_of_its_own() -> None:
    paths = ["a/index.md", "a/README.md"]

    assert page_url("a/README.md", paths) == "/a/README.html"
