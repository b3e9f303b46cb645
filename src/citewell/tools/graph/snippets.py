"""Snippets of nodes; each is kept as a passage, so that the caller can read on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.answer.quote import clip
from citewell.app.scratch import PassagePlace
from citewell.core.frozen import frozen
from citewell.core.graph import NodeRef

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import SearchFilter, StoredChunk
    from citewell.tools.tool import Call

SNIPPET_CHARACTERS = 200
_HEADING_LINES = re.compile(r"\A(?:\s*#+ [^\n]*\n)+\s*")
# Edges read to find definitions of entities, which come first.
_DEFINITION_EDGES = 800


@frozen
class Snippet:
    """The beginning of a node's text, and the passage it begins."""

    text: str
    passage_id: str


async def find_snippets(
    refs: Sequence[NodeRef], *, where: SearchFilter, call: Call
) -> dict[NodeRef, Snippet]:
    """Return a snippet of each node: the first section of a page, the definition of an entity."""
    store = call.parts.store
    sections = {ref: ref for ref in refs if ref.kind == "section"}
    sections |= {ref: NodeRef("section", ref.number, 0) for ref in refs if ref.kind == "page"}
    entities = [ref for ref in refs if ref.kind == "entity"]
    if entities:
        edges = await store.edges_of(
            entities, kinds=("mentioned_in",), where=where, limit=_DEFINITION_EDGES
        )
        for edge in edges:
            sections.setdefault(edge.source, edge.target)
    chunks = await store.chunks_of_sections(list(dict.fromkeys(sections.values())), limit=1)
    first = {NodeRef("section", chunk.source_id, chunk.section): chunk for chunk in chunks}
    return {
        ref: _snippet(first[section], call) for ref, section in sections.items() if section in first
    }


def _snippet(chunk: StoredChunk, call: Call) -> Snippet:
    place = PassagePlace.of_chunk(chunk)
    passage = call.parts.scratch.put(call.caller, place, chunk.text)
    body = _HEADING_LINES.sub("", chunk.text) or chunk.text
    return Snippet(text=clip(body, SNIPPET_CHARACTERS), passage_id=passage.passage_id)
