"""The index on disk: what is in it, when it is believed, and what is read again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.docsite.folders import BIRDS, write_folder

from citewell.docsite.files import list_doc_files
from citewell.docsite.folder import DocsFolder
from citewell.docsite.index import DocsIndex, build_index
from citewell.docsite.index_cache import CACHE_FILE, load_index, save_index


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "docs", BIRDS).resolve()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def read(root: Path, before: DocsIndex | None) -> list[str]:
    """Return which pages are read to have the index, given what is known of them."""
    return sorted(build_index(root, list_doc_files(root), before=before).read_pages)


def found(folder: DocsFolder, query: str) -> list[str]:
    return [hit.path for hit in folder.search(query).hits]


def test_the_file_holds_what_other_programs_expect(root: Path, cache: Path) -> None:
    DocsFolder.open(root, cache_root=cache)

    cached: dict[str, Any] = json.loads((cache / CACHE_FILE).read_text(encoding="utf-8"))
    page = cached["index"]["guide/herons.md"]

    assert cached["version"] == "1.0"
    assert cached["docs_root"] == str(root)
    assert cached["docs_count"] == len(cached["index"]) == 4
    assert cached["built_at"].endswith("Z")
    assert page["path"] == "guide/herons.md"
    assert page["title"] == "Herons"
    assert page["content"] == BIRDS["guide/herons.md"]
    assert page["size"] == (root / "guide/herons.md").stat().st_size
    assert page["mtime"] == pytest.approx((root / "guide/herons.md").stat().st_mtime)
    assert page["word_count"] == 29
    assert page["sections"][1] == {
        "heading": "Food",
        "level": 2,
        "content": "## Food\n\nThe grey heron eats fish and frogs.\n",
        "line_start": 10,
        "line_end": 13,
    }
    assert [file.name for file in (cache / "mcp").iterdir()] == ["search-index.json"]


def test_the_second_start_reads_no_page(root: Path, cache: Path) -> None:
    DocsFolder.open(root, cache_root=cache)

    cached = load_index(cache, docs_root=root)

    assert cached is not None
    assert read(root, cached) == []
    assert found(DocsFolder.open(root, cache_root=cache), "frogs") == ["guide/herons.md"]


def test_only_what_has_changed_is_read_again(root: Path, cache: Path) -> None:
    DocsFolder.open(root, cache_root=cache)
    (root / "guide/owls.md").unlink()
    write_folder(root, {"index.md": "# Birds\n\nNow with bitterns.\n", "new.md": "# Storks\n"})

    cached = load_index(cache, docs_root=root)
    folder = DocsFolder.open(root, cache_root=cache)

    assert read(root, cached) == ["index.md", "new.md"]
    assert found(folder, "bitterns") == ["index.md"]
    assert found(folder, "storks") == ["new.md"]
    assert found(folder, "mice") == []
    assert read(root, load_index(cache, docs_root=root)) == []


def test_an_edit_that_hides_itself_is_noticed(root: Path, cache: Path) -> None:
    DocsFolder.open(root, cache_root=cache)
    page = root / "guide/owls.md"
    before = page.stat()
    page.write_text(page.read_text(encoding="utf-8").replace("mice", "dogs"), encoding="utf-8")
    os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))

    folder = DocsFolder.open(root, cache_root=cache)

    assert page.stat().st_size == before.st_size
    assert found(folder, "dogs") == ["guide/owls.md"]
    assert found(folder, "mice") == []


def test_a_copy_with_new_times_needs_no_new_index(root: Path, cache: Path) -> None:
    DocsFolder.open(root, cache_root=cache)
    for file in list_doc_files(root):
        os.utime(root / file.path, ns=(1, 1))

    assert read(root, load_index(cache, docs_root=root)) == []


def truncate(cached: bytes) -> bytes:
    return cached[: len(cached) // 3]


def flip(cached: bytes) -> bytes:
    return cached.replace(b'"postings":{"', b'"postings":{"x', 1)


def older(cached: bytes) -> bytes:
    return cached.replace(b'"version":"1.0"', b'"version":"0.9"', 1)


def miscounted(cached: bytes) -> bytes:
    return cached.replace(b'"docs_count":4', b'"docs_count":5', 1)


def moved(cached: bytes) -> bytes:
    return cached.replace(b'"docs_root":"', b'"docs_root":"/elsewhere', 1)


@pytest.mark.parametrize(
    "damage",
    [
        truncate,
        flip,
        older,
        miscounted,
        moved,
        lambda cached: b"",
        lambda cached: b"\xff\xfe not json \n" * 20,
        lambda cached: b"[]\n",
        lambda cached: b"null,\nnull,\nnull,\nnull,\n",
        lambda cached: b"[" * 100_000,
    ],
    ids=["cut", "flip", "older", "count", "moved", "empty", "bytes", "list", "null", "deep"],
)
def test_a_cache_that_is_wrong_is_built_anew(
    root: Path, cache: Path, damage: Callable[[bytes], bytes]
) -> None:
    DocsFolder.open(root, cache_root=cache)
    whole = (cache / CACHE_FILE).read_bytes()
    (cache / CACHE_FILE).write_bytes(damage(whole))

    assert load_index(cache, docs_root=root) is None
    assert found(DocsFolder.open(root, cache_root=cache), "frogs") == ["guide/herons.md"]
    assert load_index(cache, docs_root=root) is not None


def test_where_nothing_can_be_written_the_index_lives_in_memory(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    folder = DocsFolder.open(root, cache_root=tmp_path / "file" / "cache")

    assert found(folder, "frogs") == ["guide/herons.md"]
    assert (tmp_path / "file").read_text(encoding="utf-8") == ""


def test_the_index_is_written_again_only_when_a_file_has_changed(root: Path, cache: Path) -> None:
    folder = DocsFolder.open(root, cache_root=cache)
    first = (cache / CACHE_FILE).stat().st_ino

    DocsFolder.open(root, cache_root=cache)
    assert not folder.refresh()
    assert (cache / CACHE_FILE).stat().st_ino == first

    write_folder(root, {"new.md": "# New\n"})
    assert folder.refresh()
    assert (cache / CACHE_FILE).stat().st_ino != first


def test_files_that_are_no_text_in_utf_8_are_reported_and_left_out(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (root / "latin.md").write_bytes("# Caf\xe9 herons\n".encode("latin-1"))
    (root / "binary.md").write_bytes(b"# Picture\n\0\1\2")

    folder = DocsFolder.open(root)
    folder.refresh()

    assert {"latin.md", "binary.md"}.isdisjoint(folder.paths)
    reported = [r.getMessage() for r in caplog.records if "left out" in r.getMessage()]
    assert sorted(reported) == [
        "binary.md is left out: it is not text in UTF-8",
        "latin.md is left out: it is not text in UTF-8",
    ]


def test_broken_front_matter_is_reported(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_folder(
        root,
        {
            "open.md": "---\ntitle: Open\n\n# Herons\n",
            "odd.md": "---\ntitle: Odd\nno field here\n---\n# Odd\n",
            "list.md": "---\ntitle: [Lists\n---\n# Lists\n",
            "rule.md": "---\n\n# Only a rule\n",
            "good.md": "---\ntitle: Good\ntags: [\n  a\n]\nmore:\n  - a\n---\n# Good\n",
        },
    )

    DocsFolder.open(root)

    reported = [r.getMessage() for r in caplog.records if "front matter" in r.getMessage()]
    assert sorted(reported) == [
        "list.md: “title” in its front matter has no closing ]",
        "odd.md: line 3 of its front matter is no field",
        "open.md: its front matter has no closing ---",
    ]


def test_an_index_made_step_by_step_is_the_one_made_at_once(root: Path, cache: Path) -> None:
    built = build_index(root, list_doc_files(root), before=None)
    save_index(cache, built.index, docs_root=root, read_pages=built.read_pages)
    write_folder(root, {"aaa.md": "# First\n\nmice\n", "guide/owls.md": "# Owls\n\nvoles\n"})
    (root / "index.md").unlink()

    files = list_doc_files(root)
    stepwise = build_index(root, files, before=load_index(cache, docs_root=root)).index
    at_once = build_index(root, files, before=None).index

    assert stepwise.pages == at_once.pages
    assert dict(stepwise.table.postings) == dict(at_once.table.postings)
    assert set(at_once.table.spellings.split()) <= set(stepwise.table.spellings.split())


def test_refresh_says_whether_anything_has_changed(root: Path) -> None:
    folder = DocsFolder.open(root)
    before = folder.revision

    assert not folder.refresh()
    write_folder(root, {"sidebar.md": "- [Owls](guide/owls.md)\n"})
    assert folder.refresh()
    assert folder.navigation.paths() == ["guide/owls.md"]
    assert folder.revision != before
