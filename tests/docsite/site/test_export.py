"""A site written as files: complete, replaced as a whole, and never over what is not its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.errors import CitewellError, InvalidArgument
from citewell.docsite.folder import DocsFolder
from citewell.docsite.site.broken_links import find_broken_links
from citewell.docsite.site.export import BrokenLink, export_site


@pytest.fixture
def folder(tmp_path: Path) -> DocsFolder:
    root = tmp_path / "docs"
    (root / "guide").mkdir(parents=True)
    (root / "index.md").write_text("# Heron\n\n[Radio](guide/radio.md)\n", encoding="utf-8")
    (root / "guide" / "radio.md").write_text(
        "# Radio\n\n[x](gone.md) [y](../index.md#heron) [z](../index.md#no) [w](#radio) [v](#nor)\n",
        encoding="utf-8",
    )
    (root / "guide" / "map.png").write_bytes(b"\x89PNG")
    (root / "build.py").write_text("secret = 1\n", encoding="utf-8")
    (root / ".hidden.png").write_bytes(b"x")
    (tmp_path / "outside.png").write_bytes(b"outside")
    (root / "link.png").symlink_to(tmp_path / "outside.png")
    return DocsFolder.open(root)


def files_in(folder: Path) -> list[str]:
    return sorted(
        file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()
    )


def test_every_file_of_the_site_is_written(folder: DocsFolder, tmp_path: Path) -> None:
    out = tmp_path / "out"

    report = export_site(folder, out, base_url="https://example.org/docs/")

    assert files_in(out) == [
        ".citewell-site",
        ".nojekyll",
        "404.html",
        "assets/citewell/favicon.svg",
        "assets/citewell/places.js",
        "assets/citewell/ranking.js",
        "assets/citewell/search-index.js",
        "assets/citewell/search.js",
        "assets/citewell/site.css",
        "assets/citewell/site.js",
        "assets/citewell/stemmer.js",
        "assets/citewell/theme.js",
        "guide/index.html",
        "guide/map.png",
        "guide/radio.html",
        "guide/radio.md",
        "index.html",
        "index.md",
        "llms-full.txt",
        "llms.txt",
        "search.html",
        "sitemap.xml",
    ]
    assert (report.pages, report.files) == (2, 22)
    assert report.broken_links == tuple(
        BrokenLink(path="guide/radio.md", target=target)
        for target in ("gone.md", "#nor", "../index.md#no")
    )
    assert [*find_broken_links(folder)] == [
        ("guide/radio.md", "gone.md"),
        ("guide/radio.md", "#nor"),
    ]
    page = (out / "guide" / "radio.html").read_text(encoding="utf-8")
    assert '<a href="#nor" title="There is no such place on this page" class="missing">' in page
    assert page.count('class="missing"') == 2


def test_links_name_files_and_are_relative(folder: DocsFolder, tmp_path: Path) -> None:
    export_site(folder, tmp_path / "out", base_url="https://example.org/docs/")

    page = (tmp_path / "out" / "guide" / "radio.html").read_text(encoding="utf-8")
    missing = (tmp_path / "out" / "404.html").read_text(encoding="utf-8")

    assert '<a class="brand" href="../index.html">' in page
    assert '<link rel="stylesheet" href="../assets/citewell/site.css?v=' in page
    assert 'href="/docs/assets/citewell/site.css?v=' in missing


def test_the_documentation_of_this_project_has_no_broken_links(tmp_path: Path) -> None:
    folder = DocsFolder.open(Path(__file__).resolve().parents[3] / "docs")

    report = export_site(folder, tmp_path / "out")

    assert report.broken_links == ()
    assert report.pages > 20
    assert set(folder.navigation.paths()) == set(folder.paths)


def test_a_second_run_replaces_the_first_and_leaves_nothing_behind(
    folder: DocsFolder, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    export_site(folder, out)
    (folder.root / "guide" / "radio.md").unlink()
    folder.refresh()

    export_site(folder, out)

    assert not (out / "guide" / "radio.html").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs", "out", "outside.png"]


@pytest.mark.parametrize("name", ["docs", "docs/site", "."])
def test_the_docs_folder_is_never_written_to_nor_over(
    folder: DocsFolder, tmp_path: Path, name: str
) -> None:
    before = files_in(tmp_path)

    with pytest.raises(InvalidArgument):
        export_site(folder, tmp_path / name)

    assert files_in(tmp_path) == before


def test_a_folder_that_holds_something_else_is_left_alone(
    folder: DocsFolder, tmp_path: Path
) -> None:
    foreign = tmp_path / "thesis"
    foreign.mkdir()
    (foreign / "chapter.tex").write_text("precious", encoding="utf-8")

    with pytest.raises(InvalidArgument, match="not written by citewell"):
        export_site(folder, foreign)

    assert files_in(foreign) == ["chapter.tex"]


def test_a_link_or_a_file_in_the_place_of_the_folder_is_refused(
    folder: DocsFolder, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")

    for name in ("link", "outside.png"):
        with pytest.raises(InvalidArgument):
            export_site(folder, tmp_path / name)


def test_a_failure_leaves_the_site_as_it_was(folder: DocsFolder, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")

    with pytest.raises(CitewellError, match="cannot write the site"):
        export_site(folder, tmp_path / "file" / "out")

    assert (tmp_path / "file").read_text(encoding="utf-8") == "x"
