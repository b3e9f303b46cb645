"""Navigation from `sidebar.md` where there is one, else from the tree of folders."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from citewell.core.text import without_closing_hashes
from citewell.docsite.navigation import Navigation, NavItem
from citewell.docsite.pages import plain_heading
from citewell.docsite.urls import INDEX_NAMES, doc_path_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

SIDEBAR_FILE = "sidebar.md"

# Deeper than any reader would open, and than a hostile file could make us follow.
MAX_DEPTH = 8

_ITEM = re.compile(r"^(?P<indent>\s*+)(?:[-*+]|\d++[.)])\s++(?P<text>.+)$")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s++(?P<text>.+)$")
_LINK = re.compile(
    r"^[^\w\[]*+\[(?P<title>(?:[^\[\]]|\[[^\]]*+\])*+)\]\((?P<target>[^()\s]*+)[^)]*+\)"
)


@dataclass(slots=True, kw_only=True)
class _Draft:
    """An item whose children are still being read."""

    title: str
    path: str | None = None
    url: str | None = None
    folder: str | None = None
    children: list[_Draft] = field(default_factory=list)

    def finish(self) -> NavItem:
        return NavItem(
            title=self.title,
            path=self.path,
            url=self.url,
            folder=self.folder,
            children=tuple(child.finish() for child in self.children),
        )


def parse_sidebar(text: str, *, paths: Container[str]) -> Navigation:
    """Return the tree that a sidebar draws with lists, nested by indentation, and headings.

    A heading is a group of what follows. A link to a page that is not among `paths` is left out;
    its children stay, under its title as a group.
    """
    top = _Draft(title="")
    group = top
    stack: list[tuple[int, _Draft]] = []
    for line in map(str.rstrip, text.splitlines()):
        if heading := _HEADING.match(line):
            group = _parse_item(without_closing_hashes(heading["text"]), paths)
            top.children.append(group)
            stack = []
        elif item := _ITEM.match(line):
            indent = len(item["indent"].expandtabs(4))
            while stack and stack[-1][0] >= indent:
                stack.pop()
            del stack[MAX_DEPTH:]
            draft = _parse_item(item["text"], paths)
            (stack[-1][1] if stack else group).children.append(draft)
            stack.append((indent, draft))
    return Navigation(items=tuple(draft.finish() for draft in _without_empty(top.children)))


def tree_navigation(titles: Mapping[str, str]) -> Navigation:
    """Return the tree of folders of these pages; an index page represents its folder."""
    top = _Draft(title="")
    folders: dict[str, _Draft] = {"": top}
    for path in sorted(titles, key=_tree_order):
        folder, _, name = path.rpartition("/")
        parent = _open_folder(folder, folders)
        if folder and name in INDEX_NAMES and parent.path is None:
            parent.title, parent.path = titles[path], path
        else:
            parent.children.append(_Draft(title=titles[path], path=path))
    return Navigation(items=tuple(draft.finish() for draft in top.children))


def folder_contents(titles: Mapping[str, str], folder: str) -> NavItem | None:
    """Return a folder with what is below it; None when it holds no page, or is too deep."""
    below = {path: title for path, title in titles.items() if path.startswith(f"{folder}/")}
    trail = tree_navigation(below).trail_to_folder(folder)
    return trail[-1] if trail else None


def _tree_order(path: str) -> list[tuple[int, str]]:
    """Return the sort key of a path: in each folder its index, then pages, then folders."""
    *folders, name = path.split("/")
    return [*((2, folder) for folder in folders), (int(name not in INDEX_NAMES), name)]


def _open_folder(folder: str, folders: dict[str, _Draft]) -> _Draft:
    """Return the draft of a folder; those beyond MAX_DEPTH are merged into their parent."""
    folder = "/".join(folder.split("/")[:MAX_DEPTH])
    if folder not in folders:
        above, _, name = folder.rpartition("/")
        title = name.replace("-", " ").replace("_", " ").capitalize()
        draft = _Draft(title=title, folder=folder)
        _open_folder(above, folders).children.append(draft)
        folders[folder] = draft
    return folders[folder]


def _parse_item(text: str, paths: Container[str]) -> _Draft:
    link = _LINK.match(text)
    if link is None:
        return _Draft(title=plain_heading(text))
    title, target = plain_heading(link["title"]), link["target"]
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        is_website = parts.scheme in ("http", "https", "mailto")
        return _Draft(title=title, url=target if is_website else None)
    decoded = posixpath.normpath("/" + unquote(parts.path)) if parts.path else ""
    return _Draft(title=title, path=doc_path_of(decoded, paths) if decoded else None)


def _without_empty(drafts: Iterable[_Draft]) -> list[_Draft]:
    kept = []
    for draft in drafts:
        draft.children = _without_empty(draft.children)
        if draft.title and (draft.path or draft.url or draft.children):
            kept.append(draft)
    return kept
