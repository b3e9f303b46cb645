"""Choosing parts of a page and taking them out, never out of the middle of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.ingest.extract.html.element import BLOCK_TAGS, HEADING_TAGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from citewell.ingest.extract.html.element import Element

_WHOLE_TAGS = HEADING_TAGS | {"p", "pre", "code", "dt", "th", "caption", "figcaption", "math"}


def select(
    root: Element,
    is_wanted: Callable[[Element], bool],
    *,
    is_whole: Callable[[Element], bool] = lambda _: False,
) -> list[Element]:
    """Return the outermost parts below `root` that are wanted, in no particular order.

    Nothing inside a paragraph, a heading, code or what `is_whole` is a part of the page.
    """
    wanted: list[Element] = []
    stack = [root]
    while stack:
        parent = stack.pop()
        for place, child in enumerate(parent.children):
            if isinstance(child, str):
                continue
            if is_part(child, place) and is_wanted(child):
                wanted.append(child)
            elif child.has_block and child.tag not in _WHOLE_TAGS and not is_whole(child):
                stack.append(child)
    return wanted


def is_part(element: Element, place: int) -> bool:
    """Return whether the element at `place` among its siblings is not part of a line of text."""
    if element.tag in BLOCK_TAGS or element.has_block:
        return True
    siblings = element.parent.children if element.parent is not None else []
    around = (*siblings[max(place - 1, 0) : place], *siblings[place + 1 : place + 2])
    return all((isinstance(node, str) and not node.strip()) or _is_block(node) for node in around)


def _is_block(node: Element | str) -> bool:
    return not isinstance(node, str) and (node.tag in BLOCK_TAGS or node.has_block)


def take_out(elements: Iterable[Element]) -> None:
    """Remove elements from their parents; each parent is gone through once."""
    by_parent: dict[Element, set[Element | str]] = {}
    for element in elements:
        if element.parent is not None:
            by_parent.setdefault(element.parent, set()).add(element)
    for parent, unwanted in by_parent.items():
        parent.children = [child for child in parent.children if child not in unwanted]
