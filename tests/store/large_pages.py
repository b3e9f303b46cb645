"""A page that is too large for one transaction, and all that a reader can see of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.drafts import draft
from tests.store.looking import ALL, MODEL, found, vector

from citewell.core.graph import EntityMention, NodeRef
from citewell.core.records import Image, Link, SearchFilter, Section

if TYPE_CHECKING:
    from pathlib import Path

    from citewell.core.records import PageDraft
    from citewell.store.protocol import Store

URL = "https://birds.example/all"
CHUNKS = 2_100
LINKS = 6_000


def large_page(bird: str = "Heron", *, chunks: int = CHUNKS) -> PageDraft:
    """Every other chunk is the same whatever the bird."""
    links = tuple(
        Link(url=f"https://birds.example/{bird}/{i}", text="b", context="c", section=0, start=i)
        for i in range(LINKS)
    )
    images = tuple(
        Image(url=f"https://birds.example/{bird}.png", alt=bird, caption="", section=0, start=i)
        for i in range(20)
    )
    texts = [f"{bird if i % 2 else 'Egret'} {i} wades." for i in range(chunks)]
    page = draft(URL, *texts, title="Birds", etag='"1"', links=links, images=images)
    length = len(page.extracted.text)
    sections = tuple(
        Section(
            ordinal=i,
            parent=None,
            level=1,
            heading=f"birds.{bird.lower()}{i}()",
            anchor=None,
            start=i * length // 50,
            end=(i + 1) * length // 50,
        )
        for i in range(50)
    )
    return replace(
        page,
        extractor=7,
        extracted=replace(page.extracted, sections=sections),
        entities=(EntityMention(name=bird, kind="term", section=0, count=2),),
    )


async def readable(store: Store) -> dict[str, Any]:
    """Return what each way of reading the store returns, without the ids of chunks."""
    seen: dict[str, Any] = {"stats": await store.corpus_stats(ALL)}
    for project in ("default", "other"):
        where = SearchFilter(project=project)
        pages = await store.list_pages(where, limit=100)
        seen[f"pages of {project}"] = [(page.url, page.text_hash, page.etag) for page in pages]
        seen[f"stats of {project}"] = await store.corpus_stats(where)
        seen[f"graph of {project}"] = await store.graph_counts(where)
    page = await store.find_page(URL, project="default")
    if page is not None:
        stored = await store.get_page(page.source_id)
        assert stored is not None
        seen["page"] = (stored.text, stored.sections, stored.links, stored.images)
        seen["facts"] = replace(stored.info, source_id=0)
        chunks = await store.chunks_of_page(page.source_id)
        seen["chunks"] = [(chunk.text, chunk.start, chunk.words) for chunk in chunks]
        refs = [NodeRef("page", page.source_id), NodeRef("section", page.source_id, 1)]
        edges = await store.edges_of(
            refs, kinds=("child", "links_to", "next", "mentions"), where=ALL, limit=9
        )
        seen["edges"] = sorted((edge.kind, edge.weight, edge.degree) for edge in edges)
    for where in (ALL, SearchFilter(project="default"), SearchFilter(url_prefix=URL)):
        seen[f"held {where}"] = await store.words_held(["heron", "crane", "owl"], where=where)
        for bird in ("heron", "crane", "egret", "owl"):
            seen[f"{bird} {where}"] = await found(store, bird, where)
        symbols = await store.symbols.symbols_named(["heron7", "crane7"], where=where, limit=9)
        seen[f"symbols {where}"] = [symbol.full_name for symbol in symbols]
        hits = await store.search_vectors(vector(1, 0), model=MODEL, where=where, limit=3_000)
        near = await store.load_chunks([hit.chunk_id for hit in hits])
        seen[f"vectors {where}"] = sorted(chunk.text for chunk in near)
    for names in (("Heron",), ("Crane",)):
        nodes = await store.find_entities(names, where=ALL)
        seen[f"entities {names}"] = [(node.name, node.sections) for node in nodes]
    waiting = await store.chunks_to_embed(model=MODEL, limit=9_000)
    seen["to embed"] = sorted(text for _, text in waiting)
    return seen


def unreachable_rows(path: Path) -> dict[str, int]:
    """Return how many rows of each table belong to no page, and what is counted wrongly."""
    with closing(sqlite3.connect(path)) as database:
        counts = {
            table: database.execute(
                f"SELECT count(*) FROM {table} WHERE source_id NOT IN (SELECT source_id FROM page)"
            ).fetchone()[0]
            for table in ("mention",)
        } | {
            table: database.execute(
                f"SELECT count(*) FROM {table} WHERE rows_id NOT IN (SELECT rows_id FROM page)"
            ).fetchone()[0]
            for table in ("page_body", "chunk", "section", "symbol", "link", "image")
        }
        counts["unlisted"] = database.execute("SELECT count(*) FROM unlisted").fetchone()[0]
        counts["words"] = database.execute(
            "SELECT count(*) FROM chunk_words WHERE rowid NOT IN (SELECT chunk_id FROM chunk)"
        ).fetchone()[0]
        counts["miscounted"] = database.execute(
            "SELECT abs(corpus.chunks - (SELECT count(*) FROM chunk))"
            " + abs(corpus.words - (SELECT sum(words) FROM chunk)) + ("
            " SELECT sum(abs(chunks - (SELECT count(*) FROM chunk"
            " WHERE chunk.model_id = embedding_model.model_id))) FROM embedding_model)"
            " FROM corpus"
        ).fetchone()[0]
        return {name: count for name, count in counts.items() if count}
