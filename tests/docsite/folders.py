"""Folders of Markdown, made from a dict."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from citewell.docsite.folder import DocsFolder

BIRDS = {
    "index.md": "# Birds\n\nAll about the birds of the marsh.\n",
    "guide/herons.md": (
        "---\ntitle: Herons\ndescription: How herons live\n---\n\n# Herons\n\n"
        "Herons are waders.\n\n## Food\n\nThe grey heron eats fish and frogs.\n\n"
        "### In winter\n\nIt goes hungry when ponds freeze.\n\n## Nests\n\nThey nest in trees.\n"
    ),
    "guide/owls.md": "# Owls\n\nOwls hunt at night. An owl eats mice; a heron does not.\n",
    "ja/sagi.md": "# 青鷺\n\n青鷺は魚を食べます。\n\n## 巣\n\n木の上に巣を作ります。\n",
}


def write_folder(root: Path, pages: Mapping[str, str | bytes]) -> Path:
    """Write the files below `root` and return it."""
    for path, text in pages.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return root


def open_folder(root: Path, pages: Mapping[str, str | bytes] | None = None) -> DocsFolder:
    """Write the pages and open them, without a cache."""
    return DocsFolder.open(write_folder(root, BIRDS if pages is None else pages))
