"""Which URLs belong to a site."""

from __future__ import annotations

import pytest

from citewell.core.library import CrawlOptions
from citewell.ingest.site_scope import SiteScope

SITE = "https://docs.example/guide/index.html"


@pytest.mark.parametrize(
    ("url", "scopes"),
    [
        ("https://docs.example/guide/a", {"path", "host", "domain"}),
        ("https://www.docs.example/guide/a", {"path", "host", "domain"}),
        ("http://docs.example/guide/a", {"path", "host", "domain"}),
        ("https://docs.example/guide", {"path", "host", "domain"}),
        ("https://docs.example/guided", {"host", "domain"}),
        ("https://docs.example/blog", {"host", "domain"}),
        ("https://api.docs.example/guide/a", {"domain"}),
        ("https://notdocs.example/guide/a", set()),
        ("https://docs.example:8443/guide/a", set()),
        ("https://docs.example/guide/a.png?x=1", set()),
    ],
)
def test_a_scope_holds_what_lies_within(url: str, scopes: set[str]) -> None:
    holding = {
        scope
        for scope in ("path", "host", "domain")
        if SiteScope(SITE, CrawlOptions(scope=scope)).holds(url)
    }

    assert holding == scopes


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        ("/guide/*", {"a", "a.html", "a?x=1"}),
        ("/guide/**", {"a", "a.html", "a?x=1", "v1/a", "v1/v2/a"}),
        ("/guide/**/a", {"a", "v1/a", "v1/v2/a"}),
        ("v1/*", {"v1/a"}),
        ("*.html", set()),
        ("**.html", {"a.html"}),
        ("**?x=*", {"a?x=1"}),
    ],
)
def test_patterns_match_path_and_query(pattern: str, matching: set[str]) -> None:
    names = ("a", "a.html", "a?x=1", "v1/a", "v1/v2/a")
    urls = {name: f"https://docs.example/guide/{name}" for name in names}
    included = SiteScope(SITE, CrawlOptions(include=(pattern,)))
    excluded = SiteScope(SITE, CrawlOptions(exclude=(pattern,)))

    assert {name for name, url in urls.items() if included.holds(url)} == matching
    assert {name for name, url in urls.items() if not excluded.holds(url)} == matching


def test_the_url_of_the_site_itself_is_held_whatever_the_patterns_say() -> None:
    assert SiteScope(SITE, CrawlOptions(include=("/other/**",))).holds(SITE)


@pytest.mark.parametrize(
    ("site", "folder"),
    [
        ("https://a.example/", "https://a.example/"),
        ("https://a.example/guide/", "https://a.example/guide/"),
        ("https://a.example/guide", "https://a.example/guide/"),
        ("https://a.example/guide/index.html?x=1", "https://a.example/guide/"),
    ],
)
def test_a_site_is_the_folder_that_its_url_stands_for(site: str, folder: str) -> None:
    scope = SiteScope(site, CrawlOptions())

    assert scope.folder_url == folder
    assert scope.holds(f"{folder}page")
