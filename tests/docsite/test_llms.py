"""`llms.txt` and `llms-full.txt`."""

from __future__ import annotations

from pathlib import Path

from inline_snapshot import snapshot
from tests.docsite.folders import BIRDS, open_folder

from citewell.docsite.llms import llms_full_txt, llms_txt

SIDEBAR = "- [Home](index.md)\n- Guide\n  - [Herons](guide/herons.md)\n  - [Owls](guide/owls.md)\n"


def test_the_list_follows_the_navigation_and_links_raw_pages(tmp_path: Path) -> None:
    folder = open_folder(tmp_path, {**BIRDS, "sidebar.md": SIDEBAR})

    assert llms_txt(folder, base_url="https://birds.example/docs/") == snapshot(
        """\
# Birds

## Docs

- [Birds](https://birds.example/docs/index.md)

## Guide

- [Herons](https://birds.example/docs/guide/herons.md): How herons live
- [Owls](https://birds.example/docs/guide/owls.md)

## Optional

- [青鷺](https://birds.example/docs/ja/sagi.md)
"""
    )


def test_the_full_text_has_every_page_once_without_front_matter(tmp_path: Path) -> None:
    folder = open_folder(tmp_path, {**BIRDS, "sidebar.md": SIDEBAR})

    text = llms_full_txt(folder, base_url="https://birds.example")

    assert text.startswith(
        "# Birds\n\n---\nSource: https://birds.example/index.md\n\n# Birds\n\nAll about"
    )
    assert text.count("Source: ") == 4
    assert "description:" not in text
