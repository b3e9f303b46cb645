from __future__ import annotations

from pathlib import Path

import pytest
from tests.ingest.fetched import extracted

_PAGES = Path(__file__).parents[2] / "pages"


@pytest.mark.parametrize("path", sorted(_PAGES.glob("*.html")), ids=lambda path: path.stem)
def test_a_saved_page_becomes_the_markdown_beside_it(path: Path) -> None:
    page = extracted(path.read_text(encoding="utf-8"), url=f"https://example.org/docs/{path.name}")

    assert page.text == path.with_suffix(".md").read_text(encoding="utf-8")


def test_nothing_that_a_reader_cannot_see_gets_in() -> None:
    page = extracted((_PAGES / "hidden.html").read_text(encoding="utf-8"))

    assert "HIDDEN" not in page.text
    assert "instructions" not in page.text


def test_each_documented_symbol_is_a_section_with_its_anchor() -> None:
    page = extracted((_PAGES / "sphinx.html").read_text(encoding="utf-8"))

    assert [(s.level, s.parent, s.heading, s.anchor) for s in page.sections] == [
        (1, None, "herons — Counting herons", "module-herons"),
        (2, 0, "Functions", "functions"),
        (3, 1, "herons.count", "herons.count"),
        (3, 1, "herons.Nest", "herons.Nest"),
        (4, 3, "herons.Nest.eggs", "herons.Nest.eggs"),
        (3, 1, "", "functions"),
    ]


def test_a_name_before_the_list_that_a_heading_opens_is_its_anchor() -> None:
    page = extracted(
        '<main><h2>Class Heron</h2><p>Stands still.</p><a name="wade-int-"><!-- --></a>'
        '<ul><li><h4>wade</h4><p>Walks into water.</p></li></ul><a name="fly--"></a>'
        "<ul><li><h4>fly</h4><p>Leaves it.</p></li></ul></main>"
    )

    assert [section.anchor for section in page.sections] == [None, "wade-int-", "fly--"]


def test_an_article_tells_its_title_dates_and_description() -> None:
    page = extracted((_PAGES / "article.html").read_text(encoding="utf-8"))

    assert (page.title, page.description) == ("Herons return to the fen", "After forty years.")
    assert (page.published_at, page.modified_at) == ("2024-03-05T08:30:00Z", "2024-03-06")
    assert '"@type": "NewsArticle"' in page.structured_data
