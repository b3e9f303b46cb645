"""The graph of a corpus: its nodes, the edges between them, and how nodes are named.

Nodes are pages, sections and entities. An entity is one name within a project, however many pages
have it. A node's id is opaque to callers: `page:12`, `section:12:3`, `entity:45`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from citewell.core.frozen import frozen
from citewell.core.words import as_symbol, words

NodeKind = Literal["page", "section", "entity"]

EdgeKind = Literal[
    "parent",
    "child",
    "part_of",
    "previous",
    "next",
    "links_to",
    "linked_from",
    "mentions",
    "mentioned_in",
    "same_entity",
]
"""`part_of` leads from any section to its page; `parent` only to the heading right above."""

EDGE_KINDS: tuple[EdgeKind, ...] = get_args(EdgeKind)

EntityKind = Literal["symbol", "term", "topic", "phrase"]
"""What made a name an entity: code, a definition, a heading, or being repeated."""

_NODE_ID = re.compile(r"(page|entity):(\d{1,12})|section:(\d{1,12}):(\d{1,9})")
_SECTIONS_PER_PAGE = 1 << 20


class NodeRef(NamedTuple):
    """What a node id says: `number` is a source_id or an entity_id, `section` an ordinal."""

    kind: NodeKind
    number: int
    section: int = 0

    @property
    def node_id(self) -> str:
        """The id that callers see."""
        if self.kind == "section":
            return f"section:{self.number}:{self.section}"
        return f"{self.kind}:{self.number}"


@frozen
class EntityMention:
    """That a section names an entity, and how often."""

    name: str
    kind: EntityKind
    section: int
    count: int
    defines: bool = False
    """Whether the section is about it: its heading or a definition in it has the name."""


@frozen
class Node:
    """A node without its text."""

    ref: NodeRef
    name: str
    """A page's title, a section's heading or an entity's name."""
    title: str = ""
    """Of a section's page."""
    url: str | None = None
    anchor: str | None = None
    entity_kind: EntityKind | None = None
    sections: int = 0
    """Sections of a page, sections below a section, or sections that name an entity."""
    entities: int = 0
    """Entities that a section names."""
    is_supplied: bool = False
    """Whether a caller supplied the page's text; no entities are read from such text."""


@frozen
class Edge:
    """That two nodes are related, read from `source` to `target`."""

    source: NodeRef
    target: NodeRef
    kind: EdgeKind
    weight: float = 1.0
    """How many links or mentions it stands for; for `same_entity`, how telling the shared are."""
    defines: bool = False
    """Whether the section of a mention is about the entity."""
    degree: int = 1
    """How many nodes `target` has edges of this kind to: many for a hub."""


@frozen
class GraphCounts:
    """How large the graph is, under a filter."""

    pages: int
    sections: int
    entities: int
    links: int
    mentions: int


def parse_node_id(text: str) -> NodeRef | None:
    """Return the node that an id names; None when it is not one."""
    match = _NODE_ID.fullmatch(text.strip())
    if match is None:
        return None
    kind, number, page, section = match.groups()
    if kind is None:
        return NodeRef("section", int(page), int(section))
    return NodeRef("page" if kind == "page" else "entity", int(number))


def node_number(ref: NodeRef) -> int:
    """Return a number that is the node's own among nodes of all kinds."""
    if ref.kind == "section":
        return 4 * (ref.number * _SECTIONS_PER_PAGE + ref.section) + 2
    return 4 * ref.number + (ref.kind == "entity")


@lru_cache(maxsize=16_384)
def entity_key(name: str) -> str:
    """Return what two spellings of one name share: `Task groups`, `task group` → `task group`."""
    return " ".join(words(as_symbol(name) or name))
