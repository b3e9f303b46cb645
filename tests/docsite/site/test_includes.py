"""Files that pages take in: those of the folder, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.docsite.site.includes import Include, IncludedFiles, parse_include
from citewell.docsite.site.links import PageAddresses
from citewell.docsite.site.render import RenderedMarkdown, render_markdown


@pytest.fixture
def root(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    (docs / "snippets").mkdir(parents=True)
    (docs / "snippets" / "count.py").write_text("def count():\n    return 1\n", encoding="utf-8")
    (docs / "snippets" / "note.md").write_text("## Shared\n\nA **note**.\n", encoding="utf-8")
    (docs / "circle.md").write_text('--8<-- "circle.md"\n', encoding="utf-8")
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    return docs


def render(
    text: str, root: Path, path: str = "guide/page.md"
) -> tuple[RenderedMarkdown, list[str]]:
    addresses = PageAddresses(path=path, pages=())
    rendered = render_markdown(text, addresses, includes=IncludedFiles(root=root))
    return rendered, addresses.broken


@pytest.mark.parametrize(
    ("line", "include"),
    [
        ('--8<-- "a.md"', Include(name="a.md")),
        ('  --8<-- "a.py:2:4"', Include(name="a.py", first=2, last=4)),
        ("{!> ../a.py !}", Include(name="../a.py")),
        ("<!--@include: ./a.md-->", Include(name="./a.md")),
        ("{* ../a.py hl[1,3:4] *}", Include(name="../a.py", is_code=True, marked="1,3-4")),
        ("<<< @/snippets/a.js{2}", Include(name="snippets/a.js", is_code=True)),
        ("a line --8<-- of prose", None),
        ("", None),
    ],
)
def test_the_ways_of_mkdocs_and_vitepress_are_understood(
    line: str, include: Include | None
) -> None:
    assert parse_include(line) == include


def test_a_page_takes_in_text_with_its_headings_and_code(root: Path) -> None:
    text = '# Page\n\n--8<-- "snippets/note.md"\n\n```python\n--8<-- "snippets/count.py:2:2"\n```\n'

    rendered, broken = render(text, root)

    assert "<strong>note</strong>" in rendered.html
    assert [entry.text for entry in rendered.outline] == ["Page", "Shared"]
    assert "return" in rendered.html
    assert "def" not in rendered.html
    assert broken == []


def test_a_program_is_shown_as_one_with_marked_lines(root: Path) -> None:
    rendered, _ = render("{* ../snippets/count.py hl[1] *}", root)

    assert '<span class="hll">' in rendered.html
    assert "<p>" not in rendered.html


@pytest.mark.parametrize("name", ["../../secret.md", "/etc/passwd", "nothing.md", ".hidden"])
def test_nothing_from_outside_of_the_folder_is_taken_in(root: Path, name: str) -> None:
    rendered, broken = render(f'--8<-- "{name}"\n', root)

    assert f'<p class="not-included">{name} is not part of this documentation.</p>' in rendered.html
    assert "secret<" not in rendered.html
    assert broken == [name]


def test_files_that_multiply_are_taken_in_up_to_a_limit(root: Path) -> None:
    for level in range(4):
        lines = f'--8<-- "level{level + 1}.md"\n\n' * 30
        (root / f"level{level}.md").write_text(lines, encoding="utf-8")
    (root / "level4.md").write_text("x" * 200_000, encoding="utf-8")

    rendered, broken = render('--8<-- "level0.md"', root)

    assert len(rendered.html) < 6_000_000
    assert len(broken) > 0


def test_a_circle_ends(root: Path) -> None:
    rendered, broken = render('--8<-- "circle.md"\n', root, "circle.md")

    assert broken == ["circle.md"]
    assert "is not part of" in rendered.html


def test_numbers_of_lines_stand_beside_marked_ones(root: Path) -> None:
    rendered, _ = render('```python linenums="9" hl_lines="2"\na = 1\nb = 2\nc = 3\n```\n', root)

    assert (
        '<span class="hll"><span class="line-number" aria-hidden="true">10 </span>' in rendered.html
    )
    assert '</span><span class="line-number" aria-hidden="true">11 </span>' in rendered.html


def test_a_marked_last_line_is_the_last_that_is_numbered(root: Path) -> None:
    rendered, _ = render('```python linenums="1" hl_lines="2"\na = 1\nb = 2\n```\n', root)

    assert rendered.html.count('class="line-number"') == 2
    assert "\n</span></code></pre>" in rendered.html


def test_a_text_file_is_taken_in_as_markdown_as_mkdocs_does(root: Path) -> None:
    (root / "part.txt").write_text("Some **bold** words.\n", encoding="utf-8")

    rendered, broken = render('--8<-- "part.txt"\n', root)

    assert broken == []
    assert "<strong>bold</strong>" in rendered.html
