"""The order in which the pages of a docs folder are read, as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@frozen
class NavItem:
    """A page, a link elsewhere, or neither: the heading of a group."""

    title: str
    path: str | None = None
    """Of a page, relative to the root."""
    url: str | None = None
    """Of another website."""
    folder: str | None = None
    """Of a group that is a folder, relative to the root."""
    children: tuple[NavItem, ...] = ()


@frozen
class Navigation:
    """The tree of a docs folder; pages that it leaves out are reached by links and search."""

    items: tuple[NavItem, ...]

    def pages(self) -> list[NavItem]:
        """Return the items that are pages in reading order, each page once."""
        seen: dict[str, NavItem] = {}
        for item in _flatten(self.items):
            if item.path is not None:
                seen.setdefault(item.path, item)
        return list(seen.values())

    def paths(self) -> list[str]:
        """Return the paths of the pages in reading order, each once."""
        return [item.path for item in self.pages() if item.path is not None]

    def neighbours(self, path: str) -> tuple[NavItem | None, NavItem | None]:
        """Return the pages before and after a page."""
        pages = self.pages()
        index = next((place for place, item in enumerate(pages) if item.path == path), None)
        if index is None:
            return None, None
        before = pages[index - 1] if index > 0 else None
        after = pages[index + 1] if index + 1 < len(pages) else None
        return before, after

    def trail(self, path: str) -> tuple[NavItem, ...]:
        """Return the items from the outermost down to a page; none when it is not in the tree."""
        return _trail(self.items, lambda item: item.path == path)

    def trail_to_folder(self, folder: str) -> tuple[NavItem, ...]:
        """Return the items from the outermost down to a folder's; none when it has no item."""
        return _trail(self.items, lambda item: item.folder == folder)

    def categories(self) -> dict[str, list[str]]:
        """Return the groups at the top and the paths of the pages in each, in order.

        A top item that has children is a group, and itself its first page.
        """
        groups: dict[str, list[str]] = {}
        for item in self.items:
            if item.children:
                paths = Navigation(items=(item,)).paths()
                listed = groups.setdefault(item.title, [])
                listed.extend(path for path in paths if path not in listed)
        return groups


def _flatten(items: tuple[NavItem, ...]) -> Iterator[NavItem]:
    for item in items:
        yield item
        yield from _flatten(item.children)


def _trail(items: tuple[NavItem, ...], is_wanted: Callable[[NavItem], bool]) -> tuple[NavItem, ...]:
    for item in items:
        if is_wanted(item):
            return (item,)
        if below := _trail(item.children, is_wanted):
            return (item, *below)
    return ()
