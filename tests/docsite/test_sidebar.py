"""Navigation from a sidebar, and from folders where there is none."""

from __future__ import annotations

from citewell.docsite.navigation import Navigation, NavItem
from citewell.docsite.sidebar import parse_sidebar, tree_navigation

PATHS = ["index.md", "guide/herons.md", "guide/owls.md", "api/index.md"]


def drawn(items: tuple[NavItem, ...], depth: int = 0) -> list[str]:
    lines = []
    for item in items:
        lines.append("  " * depth + f"{item.title} → {item.path or item.url}")
        lines += drawn(item.children, depth + 1)
    return lines


def test_lists_nest_by_indentation_and_headings_make_groups() -> None:
    text = """\
* [Home](index.md)
* Guide
    * [Herons](/guide/herons.html "of the marsh")
    * [Owls](./guide/owls.md#food)

## Reference
1. [API](api/)
2. [Elsewhere](https://example.org/x)
3. [Gone](gone.md)
4. [Script](javascript:alert(1))
"""

    navigation = parse_sidebar(text, paths=PATHS)

    assert drawn(navigation.items) == [
        "Home → index.md",
        "Guide → None",
        "  Herons → guide/herons.md",
        "  Owls → guide/owls.md",
        "Reference → None",
        "  API → api/index.md",
        "  Elsewhere → https://example.org/x",
    ]
    assert navigation.categories() == {
        "Guide": ["guide/herons.md", "guide/owls.md"],
        "Reference": ["api/index.md"],
    }


def test_pages_have_neighbours_in_reading_order_and_a_trail() -> None:
    navigation = parse_sidebar("- [A](index.md)\n  - [B](guide/owls.md)\n- [C](api)\n", paths=PATHS)

    before, after = navigation.neighbours("guide/owls.md")

    assert (before and before.title, after and after.title) == ("A", "C")
    assert [item.title for item in navigation.trail("guide/owls.md")] == ["A", "B"]
    assert navigation.neighbours("gone.md") == (None, None)


def test_without_a_sidebar_folders_are_groups_and_an_index_stands_for_its_folder() -> None:
    titles = {
        "zoo.md": "Zoo",
        "index.md": "Birds",
        "guide/owls.md": "Owls",
        "guide/deep/x.md": "X",
        "api/index.md": "The API",
        "api/a.md": "A",
    }

    assert drawn(tree_navigation(titles).items) == [
        "Birds → index.md",
        "Zoo → zoo.md",
        "The API → api/index.md",
        "  A → api/a.md",
        "Guide → None",
        "  Owls → guide/owls.md",
        "  Deep → None",
        "    X → guide/deep/x.md",
    ]


def test_a_sidebar_without_end_is_no_deeper_than_readers_go() -> None:
    text = "\n".join(" " * depth + "- [A](index.md)" for depth in range(3_000))

    navigation = parse_sidebar(text, paths=PATHS)

    assert _depth(navigation) <= 12


def _depth(navigation: Navigation) -> int:
    depth, items = 0, navigation.items
    while items:
        depth, items = depth + 1, tuple(child for item in items for child in item.children)
    return depth
