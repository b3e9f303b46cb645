from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.errors import NotAUrl
from citewell.web.urls import (
    canonical_url,
    page_address,
    resolve_url,
    same_site,
    shown_url,
    split_url,
)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("HTTP://Example.ORG:80/a/./b/../c?z=1&a=2#part", "http://example.org/a/c?z=1&a=2"),
        (" https://example.org:443\n", "https://example.org/"),
        ("https://example.org/app#/birds/例", "https://example.org/app#/birds/%E4%BE%8B"),
        ("https://example.org/#!birds", "https://example.org/#!birds"),
        ("http:\\\\example.org\\a", "http://example.org/a"),
        ("https://日本.jp/頁?q=語", "https://xn--wgv71a.jp/%E9%A0%81?q=%E8%AA%9E"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433", "http://127.0.0.1/"),
        ("http://0177.0.0.1:8080/", "http://127.0.0.1:8080/"),
        ("http://[0:0:0:0:0:ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
        (
            "https://example.org/?next=http://user@other/",
            "https://example.org/?next=http://user@other/",
        ),
    ],
)
def test_a_url_is_read_as_a_browser_reads_it(text: str, canonical: str) -> None:
    assert canonical_url(text) == canonical


@pytest.mark.parametrize(
    "text",
    ["", "heron", "ftp://example.org/", "javascript:alert(1)", "http://", "http://a b/", "\ud800",
     "file:///etc/passwd", "http://[::1", "http://example.org:99999/", "https://" + "a" * 10_000],
)  # fmt: skip
def test_what_is_not_a_web_url_is_refused(text: str) -> None:
    with pytest.raises(NotAUrl):
        canonical_url(text)


def test_a_url_without_its_scheme_is_refused_with_the_url_that_was_meant() -> None:
    with pytest.raises(NotAUrl) as refusal:
        canonical_url("docs.example.org/guide")

    assert "https://docs.example.org/guide" in refusal.value.suggestion


@pytest.mark.parametrize("text", ["http://u:secret@h/", "http:u:secret@h/", "\\\\u:secret@"])
def test_credentials_are_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(NotAUrl) as refusal:
        canonical_url(text)

    assert "secret" not in refusal.value.message


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("../b.html#part", "https://example.org/docs/b.html#part"),
        ("#part", "https://example.org/docs/guide/a.html#part"),
        ("//other.org/x", "https://other.org/x"),
        ("?page=2", "https://example.org/docs/guide/a.html?page=2"),
        ("https://medium.com/@heron", "https://medium.com/@heron"),
        ("mailto:heron@example.org", None),
        ("javascript:void(0)", None),
        ("data:text/plain,heron", None),
        ("http://user@other.org/", None),
        ("http://[", None),
    ],
)
def test_a_link_is_resolved_against_its_page(href: str, url: str | None) -> None:
    assert resolve_url("https://example.org/docs/guide/a.html", href) == url


def test_www_and_the_scheme_do_not_make_another_site_but_a_port_does() -> None:
    assert same_site("https://www.example.org/a", "http://example.org/b")
    assert not same_site("https://example.org/", "https://docs.example.org/")
    assert not same_site("https://example.org/", "https://example.org:8443/")


def test_the_parts_of_an_ipv6_url_are_told_apart() -> None:
    parts = split_url(canonical_url("http://[2001:db8::1]:8080/a?b"))

    assert (parts.host, parts.port, parts.target) == ("[2001:db8::1]", 8080, "/a?b")


def test_a_route_is_no_part_of_the_request() -> None:
    assert split_url("https://example.org/app?a#/birds").target == "/app?a"


def test_a_url_is_shown_shortened_and_on_one_line() -> None:
    shown = shown_url("https://example.org/\x07" + "a" * 500)

    assert len(shown) == 200
    assert shown.isprintable()


@given(st.text(max_size=40), st.sampled_from(["", "/", "http://", "https://例え.jp/", "//h:80/"]))
def test_a_canonical_url_is_its_own_canonical_form(text: str, start: str) -> None:
    url = resolve_url("https://example.org/a/b", start + text)
    if url is None:
        return

    canonical = canonical_url(url)

    assert canonical_url(canonical) == canonical
    assert canonical.isascii()
    assert split_url(canonical).target.startswith("/")


@given(st.text(max_size=60))
def test_any_text_is_a_url_or_refused(text: str) -> None:
    try:
        url = canonical_url(text)
    except NotAUrl:
        return

    assert url.startswith(("http://", "https://"))


def test_only_a_page_of_a_file_links_to_files() -> None:
    assert resolve_url("https://a.example/b", "file:///etc/passwd") is None
    assert resolve_url("file:///docs/a.md", "b.md#c") == "file:///docs/b.md#c"
    assert resolve_url("file:///docs/a.md", "https://a.example/") == "https://a.example/"


def test_a_file_has_an_address_but_no_canonical_url() -> None:
    assert page_address("file:///docs/a.md#top") == "file:///docs/a.md"
    with pytest.raises(NotAUrl):
        canonical_url("file:///docs/a.md")
