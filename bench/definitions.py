"""Symbols on documentation sites: is the first quote the definition, and are entities names?

Takes folders of HTML that hold an `objects.inv`: the inventory says where each symbol is defined,
and nothing of it is read when the pages are indexed. Asks for symbols by four wordings, by words
alone. With `--entities N` prints that many entities of each site instead, for a reader to judge.

    /work/shared/data/get-sites SITES python-tornado-doc python-pymongo-doc python-babel-doc
    python -m bench.definitions SITES/python-tornado-doc/usr/share/doc/python-tornado-doc/html …
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

import anyio
from bench.versions import search

from citewell.app.local_pages import index_path
from citewell.app.open import App, open_app
from citewell.core.graph import entity_key
from citewell.core.records import ExtractedPage, SearchFilter
from citewell.core.settings import Settings
from citewell.ingest.entities import find_entities
from citewell.web.sphinx_inventory import parse_inventory

SYMBOLS = 50


def wordings(name: str) -> tuple[str, str, str, str]:
    """Return four ways to ask for a symbol: whole, in part, in a question, for its signature."""
    short = ".".join(name.split(".")[-2:])
    return name, short.lower(), f"What does {short} do?", f"signature of {short}"


async def ask(app: App, folder: Path, *, seed: int) -> tuple[int, int]:
    """Print which definitions were not quoted first, and return how many were, of how many."""
    plain = parse_inventory((folder / "objects.inv").read_bytes())
    assert plain is not None, f"{folder} has no Sphinx inventory"
    # A name that two places define has no one definition.
    symbols = [(name, place) for name, place in plain[3] if "." in name and "module-" not in place]
    chosen = random.Random(seed).sample(sorted(symbols), min(SYMBOLS, len(symbols)))
    right = 0
    for number, (name, place) in enumerate(chosen):
        question = wordings(name)[number % 4]
        evidence, _ = await search(app, question)
        first = evidence[0] if evidence else {}
        heading = str(first.get("section", ""))
        last = name.rpartition(".")[2].lower()
        is_right = heading.lower().split("(")[0].endswith(last)
        right += is_right
        if not is_right:
            print(f"  missed: {question} at {place} (first: {heading or 'nothing'})")
    print(f"definition first {right / len(chosen):.2f} of {len(chosen)} on {plain[0]}")
    return right, len(chosen)


async def print_entities(app: App, *, count: int, seed: int) -> None:
    """Print a sample of the entities of all pages."""
    store = (await app.open("store")).store
    names: dict[str, str] = {}
    where = SearchFilter(project=app.settings.project)
    for info in await store.list_pages(where, limit=10_000):
        page = await store.get_page(info.source_id)
        assert page is not None, "it was listed"
        extracted = ExtractedPage(
            kind=info.kind,
            title=info.title,
            text=page.text,
            sections=page.sections,
            language=info.language,
        )
        names |= {entity_key(each.name): each.name for each in find_entities(extracted)}
    chosen = random.Random(seed).sample(sorted(names.values()), min(count, len(names)))
    print(f"{len(names)} entities; a sample:", *chosen, sep="\n  ")


async def run(folders: list[Path], *, entities: int, seed: int) -> None:
    """Index each folder by words and ask, or print entities."""
    right = total = 0
    for folder in folders:
        with tempfile.TemporaryDirectory() as scratch:
            settings = Settings(database_url=f"sqlite:///{scratch}/site.db", embedder="none")
            async with open_app(settings, role="command") as app:
                await index_path(await app.open("store", "ingester"), folder)
                if entities:
                    await print_entities(app, count=entities, seed=seed)
                    continue
                own, asked = await ask(app, folder, seed=seed)
                right, total = right + own, total + asked
    if total:
        print(f"definition first {right / total:.3f} of {total}")


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--entities", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=21)
    given = parser.parse_args()
    anyio.run(lambda: run(given.folders, entities=given.entities, seed=given.seed))


if __name__ == "__main__":
    main()
