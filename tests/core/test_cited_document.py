"""What a document cites is found with the address beside it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.cited_document import Reference, parse_references

URL = "https://birds.example/herons"


@pytest.mark.parametrize(
    "document",
    [
        f"Ada says “the grey heron eats fish” ([source]({URL})).",
        f'According to {URL}, "the grey heron eats fish".',
        f"> the grey heron eats fish\n> — {URL}",
        f"@misc{{h,\n  note = {{``the grey heron eats fish''}},\n  url = {{{URL}}}\n}}",
        f"> the grey heron\n> eats fish\n\n— [Herons]({URL})",
        f"[Herons]({URL}) puts it so:\n\n> the grey heron eats fish",
        f"“the grey heron eats fish”\n\n— Ada Lovelace, [all about herons]({URL}), May 2020",
        f"“the grey heron eats fish”\n\n**Source:** [all about herons]({URL})",
        f"“the grey heron eats fish”\n\n- Source: {URL}, accessed 2024-05-01",
        f"“the grey heron eats fish”\n\n{URL}",
        f"1. Ada: “the grey\n   heron eats fish”, in\n   {URL}\n2. Others",
        f"“the grey heron eats fish”, says a book of\n1986. It is at {URL}",
    ],
)
def test_a_quote_goes_with_the_address_beside_it(document: str) -> None:
    (reference,) = parse_references(document)

    assert (reference.quote, reference.url) == ("the grey heron eats fish", URL)


@pytest.mark.parametrize(
    "after",
    [
        f"\n[Herons]({URL}) is a page.",
        f"\n- [Herons]({URL})",
        f"\n- [Herons]({URL})\n- [Egrets](https://b.example/)",
        f"\nSee also the [page about herons]({URL}) for more.",
        f"\nFrom here, [herons]({URL}) fly south.",
        f"\n## [Herons]({URL})",
        f"\n---\n[Herons]({URL}) is a page.",
        f"- [Herons]({URL})",
        f"1. [Herons]({URL})",
        f"## [Herons]({URL})",
        f"| [Herons]({URL}) |",
        f"\n--heron is an option of [the command]({URL}).",
        f"\n[鷺]({URL})は鳥です。",
    ],
)
def test_a_link_of_something_else_is_no_source(after: str) -> None:
    document = f"He said “the grey heron eats fish”.\n{after}\n"

    quoting = [reference for reference in parse_references(document) if reference.quote]

    assert [(each.quote, each.url) for each in quoting] == [("the grey heron eats fish", None)]


def test_items_rows_and_entries_have_their_own_addresses() -> None:
    other = "https://b.example/"
    entry = "@misc{{{},\n note = {{``the grey heron eats {}''}},\n url = {{{}}}\n}}\n"
    documents = [
        f"- “the grey heron eats fish” ({URL})\n- “the grey heron eats frogs” ({other})",
        f"| “the grey heron eats fish” | {URL} |\n| “the grey heron eats frogs” | {other} |",
        entry.format("a", "fish", URL) + entry.format("b", "frogs", other),
    ]

    for document in documents:
        pairs = [(each.quote, each.url) for each in parse_references(document)]
        assert pairs == [("the grey heron eats fish", URL), ("the grey heron eats frogs", other)]


def test_a_line_of_a_block_quotation_that_begins_with_from_is_quoted() -> None:
    (reference,) = parse_references(f"> the grey heron waits\n> From there it strikes\n> — {URL}")

    assert reference.quote == "the grey heron waits From there it strikes"


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("pypi:herons@2.0.1/herons.pond#wade.", ["pypi:herons@2.0.1/herons.pond#wade"]),
        ("(npm:@birds/heron@1.0.0-rc.1/README)", ["npm:@birds/heron@1.0.0-rc.1/README"]),
        ("Use npm:heron, npm:heron@1 or xpypi:heron@1/a.", []),
    ],
)
def test_pages_of_packages_have_addresses_too(text: str, urls: list[str]) -> None:
    assert [reference.url for reference in parse_references(text)] == urls


def test_words_in_quotation_marks_and_code_are_no_quotes() -> None:
    document = f'The "main" option.\n\n```\nprint("one two three four five {URL}")\n```\n'

    assert parse_references(document) == []


def test_links_of_text_and_bibtex_are_found_once_each_with_their_lines() -> None:
    document = (
        f"@misc{{h,\n  url = {{{URL}}},\n  note = {{see {URL}}}\n}}\n\n({URL}(2).) and {URL}/b."
    )

    assert parse_references(document) == [
        Reference(line=2, url=URL),
        Reference(line=6, url=f"{URL}(2)"),
        Reference(line=6, url=f"{URL}/b"),
    ]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("See [g](http://[::1]/) here.", "http://[::1]/"),
        ("See http://[::1]", "http://[::1]"),
        ("[http://[2001:db8::1]:8080/a?b](x)", "http://[2001:db8::1]:8080/a?b"),
        ("[1] https://a.example/b]", "https://a.example/b"),
        ("[g](http://[/)", "http://[/"),
    ],
)
def test_the_brackets_of_an_ipv6_address_belong_to_it(text: str, url: str) -> None:
    assert [reference.url for reference in parse_references(text)] == [url]


def test_a_text_fragment_names_the_first_and_last_words() -> None:
    (reference,) = parse_references(
        f"See {URL}#x:~:text=a%20bird-,The%20grey,eats%20fish,-and%20frogs"
    )

    assert reference.ends == ("The grey", "eats fish")


def test_several_text_directives_name_one_quote() -> None:
    (reference,) = parse_references(
        f"See {URL}#:~:text=Food,-The%20grey&text=The%20grey,fish&x=1,2"
    )

    assert reference.ends == ("Food", "fish")


def test_a_japanese_quote_is_one() -> None:
    (reference,) = parse_references(f"「鷺は浅い水辺で魚を待つ」（{URL} ）")

    assert (reference.quote, reference.url) == ("鷺は浅い水辺で魚を待つ", URL)


@given(st.text(alphabet='ab “”"「」>—\n`(https://x)', max_size=300))
def test_any_text_can_be_read(document: str) -> None:
    lines = max(1, len(document.splitlines()))

    assert all(1 <= reference.line <= lines for reference in parse_references(document))
