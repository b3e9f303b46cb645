"""Pages as they go into the corpus."""

from __future__ import annotations

from pathlib import Path

from tests.docsite.folders import open_folder

from citewell.docsite.corpus_text import corpus_text


def test_links_to_files_become_links_to_pages(tmp_path: Path) -> None:
    folder = open_folder(
        tmp_path,
        {
            "a/one.md": (
                '[two](../b/two.md#x "t") [dir](../b/) [gone](gone.md) [web](https://e.org/x.md) '
                "![pic](p.png) [here](#top)\n\n[ref]: two.md\n"
            ),
            "a/two.md": "# Two\n",
            "b/two.md": "# Two\n",
            "b/index.md": "# B\n",
        },
    )
    text = folder.text("a/one.md")
    assert text is not None

    assert corpus_text("a/one.md", text, folder, base_url="https://d.example") == (
        '[two](https://d.example/b/two.html#x "t") [dir](https://d.example/b/) [gone](gone.md) '
        "[web](https://e.org/x.md) ![pic](p.png) [here](#top)\n\n"
        "[ref]: https://d.example/a/two.html\n"
    )
