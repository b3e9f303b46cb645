"""llms.txt: its title and its links."""

from __future__ import annotations

from citewell.web.llms_txt import LlmsTxt, parse_llms_txt

AT = "https://a.example/docs/llms.txt"


def test_the_links_of_an_llms_txt_are_told_in_order_and_once() -> None:
    body = b"""# Birds

> All about birds.

## Docs
- [Herons](herons.md): they wade
- [Egrets](</docs/egrets.md> "title")
- [Herons again](https://a.example/docs/herons.md#food)
- [Bird (animal)](https://b.example/Bird_(animal))
- [Mail](mailto:a@a.example)
"""

    assert parse_llms_txt(body, address=AT) == LlmsTxt(
        title="Birds",
        urls=(
            "https://a.example/docs/herons.md",
            "https://a.example/docs/egrets.md",
            "https://b.example/Bird_(animal)",
        ),
    )


def test_a_page_of_html_is_no_llms_txt() -> None:
    assert parse_llms_txt(b"<!doctype html><a href='/'>[x](y)</a>", address=AT) is None


def test_a_text_without_links_is_no_llms_txt() -> None:
    assert parse_llms_txt(b"# Birds\n\nNothing to see.\n", address=AT) is None
