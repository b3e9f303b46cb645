"""Pages in the markup of many generators keep everything they say, and nothing of their furniture.

In the pages, `data-keep` marks what must be in the canonical text: a heading on a line of its own,
code with its lines, a row with its cells on one line, anything else as it reads. `data-drop` marks
furniture, and `data-link` the kind that the first link of an element must have.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode
from tests.ingest.fetched import extracted

from citewell.core.records import ExtractedPage
from citewell.ingest.chunk import chunk_page

_PAGES = sorted((Path(__file__).parents[2] / "pages" / "generators").glob("*.html"))
_HEADINGS = {f"h{level}" for level in range(1, 7)}
_LINK_TARGET = re.compile(r"\]\([^()\s]*\)")
_UNSAID = re.compile(r"[¶◆]|\[edit\]|\bSource$")

pytestmark = pytest.mark.parametrize("path", _PAGES, ids=lambda path: path.stem)


def letters(text: str) -> str:
    plain = unicodedata.normalize("NFKC", _UNSAID.sub("", text.strip()))
    return "".join(re.findall(r"[^\W_]+", plain)).lower()


def read(path: Path) -> tuple[ExtractedPage, LexborHTMLParser]:
    source = path.read_text(encoding="utf-8")
    return extracted(source, url=f"https://example.org/docs/{path.name}"), LexborHTMLParser(source)


def lines_of(page: ExtractedPage) -> list[str]:
    return [letters(_LINK_TARGET.sub("]", line)) for line in page.text.split("\n")]


def marked(parsed: LexborHTMLParser, name: str) -> list[LexborNode]:
    nodes = parsed.css(f"[data-{name}]")
    assert nodes or name != "keep"
    return nodes


def test_everything_that_a_page_says_is_kept(path: Path) -> None:
    page, parsed = read(path)
    lines = lines_of(page)
    whole = "".join(lines)

    lost = [node.text() for node in marked(parsed, "keep") if letters(node.text()) not in whole]
    assert lost == []


def test_headings_code_and_rows_keep_their_lines(path: Path) -> None:
    page, parsed = read(path)
    lines = lines_of(page)
    broken: list[str] = []

    for node in marked(parsed, "keep"):
        kind = node.attributes.get("data-keep")
        if node.tag in _HEADINGS or kind == "heading":
            is_whole = letters(node.text()) in lines
            is_whole = is_whole and letters(node.text()) in {
                letters(s.heading) for s in page.sections
            }
        elif node.tag in ("pre", "code") or kind == "lines":
            is_whole = all(letters(line) in lines for line in node.text().split("\n"))
        elif node.tag == "tr":
            cells = [letters(cell.text()) for cell in node.css("td, th")]
            is_whole = any(all(cell in line for cell in cells) for line in lines)
        else:
            continue
        broken += [] if is_whole else [node.text()]

    assert broken == []


def test_furniture_leaves_the_text_and_its_links_stay(path: Path) -> None:
    page, parsed = read(path)
    whole = "".join(lines_of(page))
    kinds = {link.url.rpartition("/")[2]: link.kind for link in page.links}

    for node in marked(parsed, "drop"):
        for leaf in node.css("a, p, span, h2, h3, li"):
            words = letters(leaf.text())
            assert len(words) < 8 or words not in whole, leaf.text()
        for link in node.css("a[href]"):
            target = (link.attributes.get("href") or "").split("#")[0].rpartition("/")[2]
            if len(letters(link.text())) > 3 and target.endswith(".html"):
                assert target in kinds
    for node in marked(parsed, "link"):
        first = node.css_first("a[href]")
        assert first is not None
        kind = kinds[(first.attributes.get("href") or "").rpartition("/")[2]]
        assert kind == node.attributes["data-link"] or node.attributes["data-link"] == "any"


def test_the_title_is_the_pages_own_and_no_chunk_is_a_heading_alone(path: Path) -> None:
    page, parsed = read(path)
    title = parsed.css_first("title")
    heading = parsed.css_first("h1[data-keep], [data-keep=heading]")

    assert title is not None
    named = letters(heading.text()) if heading is not None else ""
    is_own = letters(page.title) in letters(title.text()) or letters(page.title) in named
    assert is_own or (named and letters(page.title).startswith(named)), page.title
    for chunk in chunk_page(page):
        body = [line for line in chunk.text.split("\n") if line and not line.startswith("#")]
        assert body, chunk.text
