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
    is_whole: bool = False,
) -> list[MenuEntry]:
    """Return the menu with the page at `path` marked and the groups around it open.

    Of a long menu only what is near the page is shown, unless `is_whole`.
    """
    trail = navigation.trail(path) if path is not None else ()
    is_long = not is_whole and _count(navigation.items) > MAX_ENTRIES
    return [
        _entry(item, path, addresses=addresses, trail=trail, is_long=is_long)
        for item in navigation.items
    ]


def page_link(item: NavItem, addresses: PageAddresses) -> MenuEntry:
    """Return a link to what a navigation item names."""
    return MenuEntry(title=item.title, href=_href(item, addresses))


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
        href = _href(_first_page(item), addresses)
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


def _first_page(item: NavItem) -> NavItem:
    if item.path is not None or not item.children:
        return item
    return next((_first_page(child) for child in item.children if child.path), item.children[0])


def _count(items: Sequence[NavItem]) -> int:
    return sum(1 + _count(item.children) for item in items)
