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
    ],
)
def test_a_quote_goes_with_the_address_beside_it(document: str) -> None:
    (reference,) = parse_references(document)

    assert (reference.quote, reference.url) == ("the grey heron eats fish", URL)


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
