"""The navigation of a site as one page shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.docsite.navigation import Navigation, NavItem
    from citewell.docsite.site.links import PageAddresses

# A longer menu would outweigh the text.
MAX_ENTRIES = 150


@frozen
class MenuEntry:
    """A line of the menu, or a link to a page anywhere else."""

    title: str
    href: str | None
    """None for the heading of a group."""
    is_current: bool = False
    is_open: bool = False
    is_folded: bool = False
    """Whether pages below it are left out."""
    children: tuple[MenuEntry, ...] = ()


def menu_entries(
    navigation: Navigation,
    path: str | None,
    *,
    addresses: PageAddresses,
    folder: str | None = None,
    is_whole: bool = False,
) -> list[MenuEntry]:
    """Return the menu with the page at `path` marked and the groups around it open.

    Of a long menu only what is near the page, or the list of `folder`, is shown, unless `is_whole`.
    """
    trail = navigation.trail(path) if path is not None else ()
    if folder is not None:
        trail = navigation.trail_to_folder(folder)
    if not trail:
        trail = _only_groups(navigation.items)
    is_long = not is_whole and _count(navigation.items) > MAX_ENTRIES
    return [
        _entry(item, path, addresses=addresses, trail=trail, is_long=is_long)
        for item in navigation.items
    ]


def page_link(item: NavItem, addresses: PageAddresses) -> MenuEntry:
    """Return a link to what a navigation item names: a page, or the list of a folder."""
    return MenuEntry(title=item.title, href=_href(item, addresses) or _listed(item, addresses))


def _only_groups(items: Sequence[NavItem]) -> tuple[NavItem, ...]:
    """Return the groups that have nothing beside them, from the outermost down."""
    if len(items) != 1 or not items[0].children:
        return ()
    return (items[0], *_only_groups(items[0].children))


def _entry(
    item: NavItem,
    path: str | None,
    *,
    addresses: PageAddresses,
    trail: Sequence[NavItem],
    is_long: bool,
) -> MenuEntry:
    is_near = any(item is ancestor for ancestor in trail)
    if is_long and not is_near and item.children:
        first = _first_page(item)
        href = _href(item, addresses) or _listed(item, addresses) or _href(first, addresses)
        return MenuEntry(title=item.title, href=href, is_folded=True)
    children = tuple(
        _entry(child, path, addresses=addresses, trail=trail, is_long=is_long)
        for child in item.children
    )
    return MenuEntry(
        title=item.title,
        href=_href(item, addresses),
        is_current=item.path is not None and item.path == path,
        is_open=is_near or not is_long,
        children=children,
    )


def _href(item: NavItem, addresses: PageAddresses) -> str | None:
    if item.path is not None:
        return addresses.to_page(item.path)
    # The sidebar is written by people: only addresses of the web lead elsewhere.
    is_web = item.url is not None and item.url.startswith(("https://", "http://"))
    return item.url if is_web else None


def _listed(item: NavItem, addresses: PageAddresses) -> str | None:
    return None if item.folder is None else addresses.to_folder(item.folder)


def _first_page(item: NavItem) -> NavItem:
    """Return the first page of a group; itself where it has none."""
    pages = (_first_page(child) for child in item.children)
    return item if item.path else next((page for page in pages if page.path), item)


def _count(items: Sequence[NavItem]) -> int:
    return sum(1 + _count(item.children) for item in items)
