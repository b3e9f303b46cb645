"""`llms.txt` and `llms-full.txt`: the folder as one file for language models."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from citewell.docsite.pages import body_start

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.docsite.folder import DocsFolder

LLMS_FILE = "llms.txt"


def llms_txt(folder: DocsFolder, *, base_url: str) -> str:
    """Return the list of pages, by the groups of the navigation, each linked as raw Markdown.

    If the folder has its own `llms.txt`, the server sends that instead.
    """
    descriptions = {record.path: record.description for record in folder.records}
    groups = folder.navigation.categories()
    grouped = {path for paths in groups.values() for path in paths}
    loose = [path for path in folder.navigation.paths() if path not in grouped]
    left_out = [path for path in folder.paths if path not in grouped and path not in loose]
    lines = [f"# {folder.title}"]
    for title, paths in (("Docs", loose), *groups.items(), ("Optional", left_out)):
        if paths:
            lines += ["", f"## {title}", ""]
        for path in paths:
            about = f": {descriptions[path]}" if descriptions[path] else ""
            name = folder.titles[path].replace("[", "(").replace("]", ")")
            lines.append(f"- [{name}]({raw_url(path, base_url=base_url)}){about}")
    return "\n".join(lines) + "\n"


def llms_full_txt(folder: DocsFolder, *, base_url: str) -> str:
    """Return the text of all pages in reading order, each after a line that names it."""
    return "".join(_full_parts(folder, base_url=base_url))


def raw_url(path: str, *, base_url: str) -> str:
    """Return the URL of a page as Markdown."""
    return base_url.rstrip("/") + "/" + quote(path)


def _full_parts(folder: DocsFolder, *, base_url: str) -> Iterator[str]:
    yield f"# {folder.title}\n"
    ordered = dict.fromkeys((*folder.navigation.paths(), *folder.paths))
    for path in ordered:
        text = folder.text(path)
        if text is not None:
            body = text[body_start(text) :].strip()
            yield f"\n---\nSource: {raw_url(path, base_url=base_url)}\n\n{body}\n"
