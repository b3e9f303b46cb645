"""Which statements find the edges of each kind, whatever the database; both name them alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from citewell.core.graph import EdgeKind, NodeKind

# Sections that share an entity with sixty others are hardly related by it.
MOST_SECTIONS_SHARING = 60
SYMBOLS_OF_ONE_ENDING = 5


class EdgeStatement(NamedTuple):
    """A statement that finds edges of one kind from one kind of node to another."""

    name: str
    source: NodeKind
    target: NodeKind
    step: int = 0


EDGE_STATEMENTS: dict[EdgeKind, tuple[EdgeStatement, ...]] = {
    "child": (
        EdgeStatement("children_of_pages", "page", "section"),
        EdgeStatement("children_of_sections", "section", "section"),
    ),
    "parent": (
        EdgeStatement("parent_sections", "section", "section"),
        EdgeStatement("parent_pages", "section", "page"),
    ),
    "part_of": (EdgeStatement("pages_of_sections", "section", "page"),),
    "next": (EdgeStatement("sections_beside", "section", "section", 1),),
    "previous": (EdgeStatement("sections_beside", "section", "section", -1),),
    "links_to": (
        EdgeStatement("links_of_pages", "page", "page"),
        EdgeStatement("links_of_sections", "section", "page"),
    ),
    "linked_from": (EdgeStatement("links_to_pages", "page", "section"),),
    "mentions": (
        EdgeStatement("mentions_of_pages", "page", "entity"),
        EdgeStatement("mentions_of_sections", "section", "entity"),
    ),
    "mentioned_in": (EdgeStatement("mentions_of_entities", "entity", "section"),),
    "same_entity": (EdgeStatement("sections_sharing_entities", "section", "section"),),
}

NODE_STATEMENTS: dict[NodeKind, str] = {
    "page": "page_nodes",
    "section": "section_nodes",
    "entity": "entity_nodes",
}


def symbol_pattern(name: str) -> str | None:
    """Return what LIKE finds the symbols by whose last part is `name`; None for no name."""
    last = name.strip().strip("`").removesuffix("()")
    escaped = last.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%.{escaped}" if last else None
