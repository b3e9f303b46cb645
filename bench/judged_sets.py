"""Judged queries over pages, ingested into SQLite stores that are kept for the next run."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from bench.cached_embedder import CachedEmbedder
from platformdirs import user_cache_path

from citewell.core.errors import CitewellError
from citewell.core.records import FetchedPage, PageDraft, PageKind
from citewell.ingest.chunk import chunk_page
from citewell.ingest.extract.extract import extract_page
from citewell.store.open import open_store
from citewell.store.protocol import Store

DEFAULT_DATA = Path("../shared/data")
DEFAULT_SITES = Path("/tmp/sites")
DEFAULT_CACHE = user_cache_path("citewell-bench")

DOCUMENT_SETS = (
    "scifact",
    "anthropic_docs",
    "k8s_glossary_en",
    "k8s_glossary_ja",
    "hotpot100",
    "odex_docs",
    "xquad_en",
    "jsquad_valid",
    "clapnq_dev",
)
SITE_SETS = {
    "labels_python_dev": "python3.11-doc/usr/share/doc/python3.11/html",
    "whatsnew_py_dev": "python3.11-doc/usr/share/doc/python3.11/html",
    "odex_pysite": "python3.11-doc/usr/share/doc/python3.11/html",
    "labels_scipy_dev": "python-scipy-doc/usr/share/doc/python-scipy-doc/html",
    "labels_devref_ja_dev": "developers-reference-ja/usr/share/developers-reference/ja",
}
# Sites are searched as a fresh one would be: words first, vectors made for the best candidates.
_EMBEDDED_WHOLE = frozenset(DOCUMENT_SETS) - {"odex_docs"}
_EMBED_BATCH = 256

# What the reranker was fitted on; the others show what it is worth elsewhere.
FITTED_SETS = frozenset(
    {
        "scifact",
        "anthropic_docs",
        "hotpot100",
        "k8s_glossary_en",
        "k8s_glossary_ja",
        "labels_python_dev",
        "whatsnew_py_dev",
        "labels_devref_ja_dev",
        "jsquad_valid",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuery:
    """A query and the gain of each page that answers it, by URL."""

    text: str
    gains: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSet:
    """A set's queries and the open store that holds its pages."""

    name: str
    store: Store
    queries: tuple[JudgedQuery, ...]


@asynccontextmanager
async def open_set(
    name: str,
    *,
    data: Path,
    sites: Path,
    cache: Path,
    embedder: CachedEmbedder,
    max_queries: int,
) -> AsyncIterator[JudgedSet]:
    """Give a judged set, ingesting its pages when the cache does not hold them yet."""
    corpus = SITE_SETS.get(name, name).replace("/", "_")
    path = cache / f"{corpus}.db"
    ingested = path.with_suffix(".ingested")
    store = await open_store(f"sqlite://{path.absolute()}", model=embedder.name)
    try:
        if not ingested.exists():
            await ingest_pages(judged_pages(name, data=data, sites=sites), store)
            ingested.touch()
        if name in _EMBEDDED_WHOLE:
            await _embed_all(store, embedder)
        queries = tuple(judged_queries(name, data=data))[:max_queries]
        yield JudgedSet(name=name, store=store, queries=queries)
    finally:
        await store.aclose()


async def ingest_pages(pages: Iterator[FetchedPage], store: Store) -> None:
    skipped = 0
    for fetched in pages:
        try:
            extracted = extract_page(fetched)
        except CitewellError:
            skipped += 1
            continue
        chunks = tuple(chunk_page(extracted))
        await store.put_page(
            PageDraft(url=fetched.url, fetched=fetched, extracted=extracted, chunks=chunks)
        )
    if skipped:
        print(f"  {skipped} pages hold no text")


async def _embed_all(store: Store, embedder: CachedEmbedder) -> None:
    while waiting := await store.chunks_to_embed(model=embedder.name, limit=_EMBED_BATCH):
        usable = [(chunk_id, text) for chunk_id, text in waiting if embedder.supports(text)]
        if not usable:
            return
        vectors = await embedder.embed_passages([text for _, text in usable])
        ids = [chunk_id for chunk_id, _ in usable]
        await store.put_vectors(dict(zip(ids, vectors, strict=True)), model=embedder.name)


def judged_pages(name: str, *, data: Path, sites: Path) -> Iterator[FetchedPage]:
    if name in SITE_SETS:
        root = sites / SITE_SETS[name]
        for file in sorted(root.rglob("*.html")):
            url = site_url(file.relative_to(root).as_posix())
            yield _fetched(url, file.read_bytes(), kind="html")
        return
    for document in _lines(data / "retrieval" / name / "corpus.jsonl"):
        body = f"# {document['title']}\n\n{document['text']}\n".encode()
        yield _fetched(document_url(str(document["_id"])), body, kind="markdown")


def judged_queries(name: str, *, data: Path) -> Iterator[JudgedQuery]:
    is_site = name in SITE_SETS
    folder = data / ("site-labels" if is_site else "retrieval") / name
    gains: defaultdict[str, dict[str, float]] = defaultdict(dict)
    judgements = folder / ("qrels_url.tsv" if is_site else "qrels.tsv")
    for line in judgements.read_text(encoding="utf-8").splitlines()[1:]:
        query_id, place, *_, gain = line.split("\t")
        url = site_url(place) if is_site else document_url(place)
        gains[query_id][url] = max(float(gain), gains[query_id].get(url, 0.0))
    for query in _lines(folder / "queries.jsonl"):
        if query["_id"] in gains:
            yield JudgedQuery(text=str(query["text"]), gains=gains[str(query["_id"])])


def site_url(path: str) -> str:
    """Return the URL that a site's file has in the store."""
    return f"https://site.example/{quote(path)}"


def document_url(document_id: str) -> str:
    """Return the URL that a set's document has in the store."""
    return f"https://set.example/{quote(document_id, safe='')}"


def _lines(path: Path) -> Iterator[dict[str, object]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _fetched(url: str, body: bytes, *, kind: PageKind) -> FetchedPage:
    return FetchedPage(
        url=url,
        final_url=url,
        status=200,
        kind=kind,
        body=body,
        text=body.decode("utf-8", "replace"),
        fetched_at=datetime.now(UTC),
    )
