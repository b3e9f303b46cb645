"""Search in a docs folder: what comes first, what is forgiven, and what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docsite.folders import open_folder, write_folder

from citewell.docsite.folder import DocsFolder


@pytest.fixture
def birds(tmp_path: Path) -> DocsFolder:
    return open_folder(tmp_path)


def first(folder: DocsFolder, query: str, **options: bool) -> str | None:
    hits = folder.search(query, **options).hits
    return hits[0].path if hits else None


def test_a_page_about_it_comes_before_one_that_mentions_it(birds: DocsFolder) -> None:
    assert [hit.path for hit in birds.search("heron").hits] == ["guide/herons.md", "guide/owls.md"]


def test_a_hit_names_its_section_and_leads_there(birds: DocsFolder) -> None:
    hit = birds.search("grey heron fish").hits[0]

    assert (hit.title, hit.section) == ("Herons", "Food")
    assert hit.url == "/guide/herons.html#food"
    assert hit.snippet.startswith("The grey heron eats fish and frogs.")


def test_the_page_with_the_heading_asked_for_is_first(tmp_path: Path) -> None:
    pages = {f"p{at}.md": "# Page\n\n" + "rate limits and limiting rates " * 20 for at in range(9)}
    folder = open_folder(tmp_path, {**pages, "z.md": "# Other\n\n## Rate limiting\n\nNone.\n"})

    assert first(folder, "rate limiting") == "z.md"
    assert first(folder, "RATE LIMITING") == "z.md"


def test_the_section_that_has_the_heading_asked_for_is_shown(tmp_path: Path) -> None:
    text = "# Guide\n\nRate limiting is told below.\n\n## Rate limiting\n\nAt most ten.\n"
    folder = open_folder(tmp_path, {"a.md": text + "\n## Rate limiting\n\n### Empty\n"})

    hit = folder.search("rate  LIMITING").hits[0]
    empty = folder.search("empty").hits[0]

    assert (hit.section, hit.snippet) == ("Rate limiting", "At most ten.")
    assert (empty.section, empty.snippet) == ("Empty", "Empty")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("herosn", "herons"),
        ("hreons", "herons"),
        ("jerons", "herons"),
        ("erons", "herons"),
        ("freze", "freeze"),
        ("waderz", "waders"),
    ],
)
def test_a_slip_of_the_keyboard_is_forgiven(birds: DocsFolder, typed: str, meant: str) -> None:
    results = birds.search(typed)

    assert results.hits[0].path == "guide/herons.md"
    assert results.corrections == ((typed, meant),)


def test_a_word_that_is_there_is_never_corrected(birds: DocsFolder) -> None:
    assert birds.search("owl").corrections == ()


def test_two_slips_in_a_long_word_are_forgiven(tmp_path: Path) -> None:
    folder = open_folder(tmp_path, {"a.md": "# Sign in\n\nAll about authentication.\n"})

    assert folder.search("autentikation").corrections == (("autentikation", "authentication"),)


def test_a_word_may_be_unfinished_while_it_is_typed(birds: DocsFolder) -> None:
    assert first(birds, "hungr", as_you_type=True) == "guide/herons.md"
    assert first(birds, "hunt at nig", as_you_type=True) == "guide/owls.md"
    assert first(birds, "hungr") == "guide/herons.md"


def test_japanese_is_found_by_parts_of_words(birds: DocsFolder) -> None:
    assert first(birds, "青鷺") == "ja/sagi.md"
    assert first(birds, "魚を食べる") == "ja/sagi.md"
    assert birds.search("巣を作る").hits[0].section == "巣"


@pytest.mark.parametrize("query", ["", " ", "?!", "the of and", "zzzz", "\0", "a" * 5_000])
def test_a_query_that_means_nothing_finds_nothing(birds: DocsFolder, query: str) -> None:
    assert birds.search(query).hits == ()


def test_a_page_that_has_gone_is_not_shown(birds: DocsFolder) -> None:
    (birds.root / "guide/herons.md").unlink()

    assert [hit.path for hit in birds.search("heron").hits] == ["guide/owls.md"]


@pytest.mark.parametrize("length", [20, 80, 200])
def test_a_snippet_holds_the_match_and_is_no_longer_than_asked(tmp_path: Path, length: int) -> None:
    text = "filler words here " * 50 + "the bittern booms " + "and more filler " * 50
    folder = DocsFolder.open(
        open_folder(tmp_path, {"a.md": f"# A\n\n{text}\n"}).root, snippet_length=length
    )

    snippet = folder.search("bittern").hits[0].snippet

    assert len(snippet) <= length
    assert "bittern" in snippet


def test_a_snippet_is_one_line_of_plain_words(tmp_path: Path) -> None:
    text = '# A\n\n> **Note** the [bittern](b.md "x") `booms`\n\n```py\ncode\n```\n| a | b |\n|---|---|\n'
    folder = open_folder(tmp_path, {"a.md": text})

    assert folder.search("bittern").hits[0].snippet == "Note the bittern booms code a b"


def test_at_most_as_many_as_asked_for_come_back_and_all_are_counted(birds: DocsFolder) -> None:
    results = birds.search("heron owl birds", limit=2)

    assert (len(results.hits), results.total) == (2, 3)


def test_a_page_whose_title_is_words_of_a_short_query_comes_first(tmp_path: Path) -> None:
    write_folder(
        tmp_path,
        {
            "dependencies.md": "# Dependencies\n\nDependency injection: how injection of dependencies works.\n",
            "tasks.md": "# Background Tasks\n\n## Dependency Injection\n\nIt works here too.\n",
            "query.md": "# Query Parameters\n\nParameters of the query.\n",
            "classes.md": "# Classes\n\nA query param, a query param, and a query param.\n",
        },
    )
    folder = DocsFolder.open(tmp_path)

    assert folder.search("dependency injection").hits[0].path == "dependencies.md"
    assert folder.search("query param").hits[0].path == "query.md"


def test_snippets_hold_no_style_sheets_tags_or_includes(tmp_path: Path) -> None:
    write_folder(
        tmp_path,
        {
            "home.md": "---\ntitle: Home\n---\n<style>\n.heron { color: grey; }\n</style>\n"
            '<div class="heron"\n     id="grey">\n\nThe heron page. {* ../src/heron.py *}\n</div>\n',
        },
    )
    snippet = DocsFolder.open(tmp_path).search("heron").hits[0].snippet

    assert snippet == "The heron page."


@pytest.mark.parametrize(
    ("text", "query", "snippet"),
    [
        ("A bittern is `str | None`, or a heron.\n", "bittern", "A bittern is str | None, or a…"),
        ("Before.\n\n```mermaid\nA --> bittern\n```\n\nAfter it.\n", "bittern", "After it."),
        (
            "A bittern.\n\n```mermaid\nA --> B\n```\n\nAfter it.\n",
            "bittern",
            "A bittern. After it.",
        ),
        ("> [!CAUTION]\n> > - [x] A **bittern**.\n", "bittern", "…A bittern."),
        ("!!! tip\n    A bittern[^1] &amp; a heron.\n", "bittern", "A bittern & a heron."),
        (f"A bittern and [@a[b]](https://{'c' * 80}).\n", "bittern", "A bittern and @a[b]"),
        (f"[A {'heron ' * 9}bittern](b.md) sat.\n", "bittern", "…heron bittern sat."),
        ("[![A bittern](b.png)](b.md)\n", "bittern", "A bittern"),
        ("A bittern.\n\n[b]: https://birds.example\n", "bittern", "A bittern."),
    ],
    ids=[
        "a bar in code",
        "a match in a diagram",
        "a diagram behind the match",
        "marks in marks",
        "notes and entities",
        "the end in a link",
        "the beginning in a link",
        "a picture that is a link",
        "a definition",
    ],
)
def test_snippets_end_between_words_and_show_what_is_shown(
    tmp_path: Path, text: str, query: str, snippet: str
) -> None:
    write_folder(tmp_path, {"a.md": f"# A\n\n{text}"})
    folder = DocsFolder.open(tmp_path, snippet_length=32)

    assert folder.search(query).hits[0].snippet == snippet
