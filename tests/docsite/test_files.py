"""Files of a docs folder: what is found in it, and that nothing outside of it ever is."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.docsite.folders import write_folder

from citewell.docsite.files import decode_doc, list_doc_files, resolve_doc_path

ESCAPES = [
    "../secret.md",
    "a/../../secret.md",
    "..",
    ".",
    "",
    "/",
    "/etc/passwd",
    "//etc/passwd",
    "a//b.md",
    "./a/b.md",
    "..\\secret.md",
    "a\\b.md",
    "%2e%2e/secret.md",
    "..%2fsecret.md",
    "．．/secret.md",
    "a/b.md\0.png",
    "\0",
    ".git/config",
    "a/.hidden.md",
    "a",
    "x" * 5_000,
    "C:/windows/win.ini",
    "\ud800.md",
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret.md").write_text("# Secret\n", encoding="utf-8")
    return write_folder(
        tmp_path / "docs", {"a/b.md": "# B\n", ".git/config": "key", "a/.hidden.md": "# Hidden\n"}
    )


def test_a_file_of_the_folder_is_found(root: Path) -> None:
    assert resolve_doc_path(root, "a/b.md") == root / "a" / "b.md"


@pytest.mark.parametrize("path", ESCAPES, ids=range(len(ESCAPES)))
def test_no_spelling_leads_out_of_the_folder(root: Path, path: str) -> None:
    assert resolve_doc_path(root, path) is None


def test_links_are_followed_only_to_what_lies_inside(root: Path, tmp_path: Path) -> None:
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "outside").symlink_to(tmp_path)
    (root / "in.md").symlink_to(root / "a" / "b.md")
    (root / "circle.md").symlink_to(root / "circle.md")
    (root / "nowhere.md").symlink_to(root / "gone.md")

    found = [
        path
        for path in ("out.md", "outside/secret.md", "in.md", "circle.md", "nowhere.md")
        if resolve_doc_path(root, path)
    ]

    assert found == ["in.md"]
    assert [file.path for file in list_doc_files(root)] == ["a/b.md", "in.md"]


def test_a_mounted_config_map_is_a_folder_like_any_other(tmp_path: Path) -> None:
    root = write_folder(tmp_path, {"..2026_01/page.md": "# Page\n"})
    (root / "..data").symlink_to("..2026_01")
    (root / "page.md").symlink_to("..data/page.md")

    assert [file.path for file in list_doc_files(root)] == ["page.md"]
    assert resolve_doc_path(root, "page.md") is not None


def test_only_pages_are_listed_in_the_order_of_their_paths(tmp_path: Path) -> None:
    root = write_folder(
        tmp_path,
        {
            "z.md": "",
            "b/sidebar.md": "",
            "b/x.markdown": "",
            "a.png": b"",
            "sidebar.md": "",
            "topbar.md": "",
            ".drafts/y.md": "",
            "node_modules/lib/README.md": "",
        },
    )

    assert [file.path for file in list_doc_files(root)] == ["b/sidebar.md", "b/x.markdown", "z.md"]


def test_a_page_is_read_whatever_its_line_ends_and_bytes() -> None:
    assert decode_doc(b"\xef\xbb\xbfa\r\nb\rc\xff") == "a\nb\nc\ufffd"


@given(st.lists(st.sampled_from(["..", ".", "", "a", "b.md", "secret.md", "\0", "%2e", "~"])))
def test_whatever_is_put_together_from_parts_stays_inside(parts: list[str]) -> None:
    with TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        root = write_folder(home / "docs", {"a/b.md": "", "b.md": ""})
        (home / "secret.md").write_text("", encoding="utf-8")

        found = resolve_doc_path(root, "/".join(parts))

        assert found is None or found.is_relative_to(root)
