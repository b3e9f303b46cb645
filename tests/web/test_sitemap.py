"""Sitemaps: XML, lists of lines, compressed, damaged and hostile ones."""

from __future__ import annotations

import gzip

import pytest

from citewell.core.errors import PageNotFound, UnsupportedContent
from citewell.web.sandbox import Sandbox
from citewell.web.sitemap import Sitemap, SitemapUrl, fetch_sitemaps, parse_sitemap

AT = "https://a.example/sitemap.xml"
XML = b"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
  <url><loc> https://A.example/one </loc><lastmod>2026-01-02</lastmod></url>
  <url><loc>/two?x=1&amp;y=2</loc></url>
  <url><loc>mailto:me@a.example</loc></url>
</urlset>"""
ONE = SitemapUrl(url="https://a.example/one", modified_at="2026-01-02")
TWO = SitemapUrl(url="https://a.example/two?x=1&y=2")


@pytest.mark.parametrize("body", [XML, gzip.compress(XML)], ids=["plain", "gzip"])
def test_the_pages_of_a_sitemap_are_told_in_their_canonical_form(body: bytes) -> None:
    assert parse_sitemap(body, address=AT) == Sitemap(urls=(ONE, TWO))


def test_an_index_names_further_sitemaps() -> None:
    body = b"<sitemapindex><sitemap><loc>/b.xml.gz</loc></sitemap></sitemapindex>"

    assert parse_sitemap(body, address=AT).sitemaps == ("https://a.example/b.xml.gz",)


def test_a_list_of_lines_is_a_sitemap_too() -> None:
    body = b"\xef\xbb\xbfhttps://a.example/one\n\nnot a url\nhttps://a.example/two\n"

    urls = [page.url for page in parse_sitemap(body, address=AT).urls]

    assert urls == ["https://a.example/one", "https://a.example/two"]


def test_what_stands_before_a_fault_is_told() -> None:
    assert parse_sitemap(XML[: XML.index(b"  <url><loc>mailto")], address=AT).urls == (ONE, TWO)


@pytest.mark.parametrize(
    "body",
    [
        b'<!DOCTYPE x [<!ENTITY a "b">]><urlset><url><loc>&a;</loc></url></urlset>',
        gzip.compress(b"<urlset>" + b" " * 60_000_000),
        gzip.compress(XML)[:20] + b"rubbish",
    ],
    ids=["entities", "bomb", "damaged"],
)
def test_a_hostile_file_is_refused(body: bytes) -> None:
    with pytest.raises(UnsupportedContent):
        parse_sitemap(body, address=AT)


@pytest.mark.anyio
async def test_sitemaps_are_followed_once_each_and_missing_ones_left_out() -> None:
    index = (
        b"<sitemapindex><sitemap><loc>/sitemap.xml</loc></sitemap>"
        b"<sitemap><loc>/gone.xml</loc></sitemap><sitemap><loc>/pages.xml</loc></sitemap>"
        b"</sitemapindex>"
    )
    files = {AT: index, "https://a.example/pages.xml": XML}
    asked: list[str] = []

    async def fetch_file(url: str) -> bytes:
        asked.append(url)
        if url not in files:
            raise PageNotFound(f"{url} does not exist")
        return files[url]

    sandbox = Sandbox()
    assert await fetch_sitemaps(fetch_file, [AT], max_urls=10, sandbox=sandbox) == [ONE, TWO]
    assert len(asked) == len(set(asked)) == 3
    assert await fetch_sitemaps(fetch_file, [AT], max_urls=1, sandbox=sandbox) == [ONE]
