"""Resolve the nodes that callers name, and show nodes to callers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.app.stored_pages import find_stored_page
from citewell.core.boundary import SUPPLIED, enclose
from citewell.core.errors import NotAUrl, NotFound
from citewell.core.graph import NodeRef, parse_node_id
from citewell.core.text import counted
from citewell.tools.kb.passages import find_place
from citewell.tools.supplied import Supplied
from citewell.tools.tool import Call, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageUrl, with_anchor
from citewell.web.urls import without_anchor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.graph import Node
    from citewell.core.records import SearchFilter

_MAX_CHUNK_ID_DIGITS = 12


class NodeShape(ToolOutput):
    """A node without its text."""

    node_id: OwnText
    name: PageLabel
    page: PageLabel | None = None
    url: PageUrl | None = None
    anchor: PageUrl | None = None
    entity_kind: OwnText | None = None
    sections: int | None = None
    entities: int | None = None
    supplied: Supplied = None


async def resolve_nodes(names: Sequence[str], *, where: SearchFilter, call: Call) -> list[Node]:
    """Return the nodes that a caller named, in order and once each.

    A node is named by its id, by the section_id or passage_id of a search, or by a URL, whose
    fragment chooses a section.

    Raises:
        NotFound: there is no such node, or not within the scope.
    """
    refs = {name: await _resolve(name, call) for name in names}
    wanted = [ref for ref in refs.values() if ref is not None]
    nodes = await call.parts.store.find_nodes(wanted, where=where)
    seen = {node.ref for node in nodes}
    for name, ref in refs.items():
        if ref not in seen:
            raise NotFound(
                f"There is no node {name[:80]!r} within the scope.",
                suggestion="Use a node_id of a graph tool, or a section_id of kb_search.",
            )
    return nodes


async def _resolve(name: str, call: Call) -> NodeRef | None:
    stripped = name.strip()
    if (ref := parse_node_id(stripped)) is not None:
        return ref
    if stripped.lower().startswith(("http://", "https://")):
        return await _resolve_url(stripped, call)
    place = await find_place(stripped, call)
    section_id = stripped if place is None else place.section_id
    if section_id.isascii() and section_id.isdigit() and len(section_id) <= _MAX_CHUNK_ID_DIGITS:
        return await _section_of_chunk(int(section_id), call)
    return None


async def _section_of_chunk(chunk_id: int, call: Call) -> NodeRef | None:
    for chunk in await call.parts.store.load_chunks([chunk_id]):
        return NodeRef("section", chunk.source_id, chunk.section)
    return None


async def _resolve_url(url: str, call: Call) -> NodeRef | None:
    address = without_anchor(url)
    anchor = url[len(address) + 1 :]
    try:
        info = await find_stored_page(call.parts.store, address, project=call.caller.project)
    except NotAUrl:
        return None
    if info is None or not anchor:
        return NodeRef("page", info.source_id) if info is not None else None
    page = await call.parts.store.get_page(info.source_id)
    for section in page.sections if page is not None else ():
        if section.anchor == anchor:
            return NodeRef("section", info.source_id, section.ordinal)
    return NodeRef("page", info.source_id)


def node_fields(node: Node) -> dict[str, str | int | None]:
    """Return the fields of a node that NodeShape and its subclasses share."""
    return {
        "node_id": node.ref.node_id,
        "name": node.name,
        "page": node.title or None,
        "url": node.url,
        "anchor": node.anchor,
        "entity_kind": node.entity_kind,
        "sections": node.sections or None,
        "entities": node.entities or None,
        "supplied": node.is_supplied or None,
    }


def node_line(node: NodeShape) -> str:
    """Return a node on one line: its id, name and place."""
    what = [node.entity_kind] if node.entity_kind else []
    what += [f"{counted(node.sections, 'section')}"] if node.sections else []
    what += [f"{node.entities} entities"] if node.entities else []
    what += [SUPPLIED] if node.supplied else []
    page = f" ({node.page})" if node.page and node.page != node.name else ""
    where = f" — {with_anchor(node.url, node.anchor)}" if node.url else ""
    counts = f" [{', '.join(what)}]" if what else ""
    return f"{node.node_id} {enclose((node.name or 'Untitled') + page + where)}{counts}"
