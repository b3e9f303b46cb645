"""Symbols on documentation sites: is the first quote the definition, and are entities names?

Takes folders of HTML. An `objects.inv` in one lists the symbols, and nothing of it is read when the
pages are indexed; a folder without one holds pages of rustdoc, godoc or Javadoc, whose anchors name
methods, and twelve of those pages are taken. Asks for symbols by four wordings, by words alone.
With `--entities N` prints that many entities of each site instead, for a reader to judge.

    python -m bench.definitions FOLDER… [--seed N] [--entities N]
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from bench.versions import search

from citewell.app.local_pages import index_path
from citewell.app.open import App, open_app
from citewell.core.graph import entity_key
from citewell.core.records import ExtractedPage, SearchFilter
from citewell.core.settings import Settings
from citewell.ingest.entities import find_entities
from citewell.web.sphinx_inventory import parse_inventory

if TYPE_CHECKING:
    from collections.abc import Sequence

SYMBOLS = 50
PAGES = 12
_METHOD = re.compile(r'id="(?:method|tymethod)\.(\w+)"')
_ITEM = re.compile(r"(?:struct|enum|trait)\.\w+\.html")
_RECEIVER = re.compile(r"func \([^)]*\) ")
_GO_NAME = re.compile(r'<h[23] id="(\w+\.\w+)">func')
_JAVA_METHOD = re.compile(
    r'(?:<a (?:name|id)|<section class="detail" id)="([a-z]\w+)(?:\(|-)[^"]*"'
)


def wordings(name: str) -> tuple[str, str, str, str]:
    """Return four ways to ask for a symbol: whole, in part, in a question, for its signature."""
    short = ".".join(name.split(".")[-2:])  # of Rust, the whole name
    return name, short.lower(), f"What does {short} do?", f"signature of {short}"


def inventory_symbols(folder: Path) -> list[str]:
    """Return the qualified names that a Sphinx inventory lists, without modules."""
    plain = parse_inventory((folder / "objects.inv").read_bytes())
    assert plain is not None, f"{folder} has no Sphinx inventory"
    return sorted(name for name, place in plain[3] if "." in name and "module-" not in place)


def rustdoc_symbols(paths: Sequence[Path]) -> list[str]:
    """Return the methods that pages of rustdoc define themselves, each after its type."""
    names: set[str] = set()
    for path in paths:
        own = path.read_text(encoding="utf-8").partition('id="trait-implementations"')[0]
        own = own.partition('id="deref-methods')[0]
        names |= {f"{path.stem.partition('.')[2]}::{name}" for name in _METHOD.findall(own)}
    return sorted(names)


def godoc_symbols(paths: Sequence[Path]) -> list[str]:
    """Return the methods that packages of Go define, each after its type."""
    return sorted({name for path in paths for name in _GO_NAME.findall(_read(path))})


def javadoc_symbols(paths: Sequence[Path]) -> list[str]:
    """Return the methods that pages of Javadoc define themselves, each after its class."""
    return sorted(
        {
            f"{path.stem}.{name}"
            for path in paths
            for name in _JAVA_METHOD.findall(_read(path))
            if "." not in path.stem
        }
    )


def choose_pages(folder: Path, *, seed: int) -> tuple[list[Path], list[str]]:
    """Return some pages of a folder without an inventory, and the symbols that they define."""
    files = sorted(folder.rglob("*.html"))
    kinds = {
        rustdoc_symbols: [path for path in files if _ITEM.match(path.name)],
        godoc_symbols: [path for path in files if _GO_NAME.search(_read(path))],
        javadoc_symbols: [path for path in files if _JAVA_METHOD.search(_read(path))],
    }
    for list_symbols, pages in kinds.items():
        if pages:
            chosen = random.Random(seed).sample(pages, min(PAGES, len(pages)))
            return chosen, list_symbols(chosen)
    raise SystemExit(f"{folder} holds no pages of rustdoc, godoc or Javadoc.")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


async def ask(app: App, symbols: Sequence[str], *, seed: int) -> tuple[int, int]:
    """Print which definitions were not quoted first, and return how many were, of how many."""
    chosen = random.Random(seed).sample(symbols, min(SYMBOLS, len(symbols)))
    right = 0
    for number, name in enumerate(chosen):
        question = wordings(name)[number % 4]
        evidence, _ = await search(app, question)
        heading = str(evidence[0].get("section", "")) if evidence else ""
        quote = str(evidence[0].get("text", "")) if evidence else ""
        is_right = defines(heading, quote, re.split(r"\.|::", name)[-1])
        right += is_right
        if not is_right:
            print(f"  missed: {question} (first: {heading or 'nothing'})")
    return right, len(chosen)


def defines(heading: str, quote: str, name: str) -> bool:
    """Return whether a section is of a name, or its quote opens with signatures and one is of it.

    Sections of several names have the first ones in their headings.
    """
    names = _RECEIVER.sub("", heading.lower().rpartition("›")[2]).split(", ")
    signatures = re.match(r"(?:\*\*[^\n]+\*\*(?:\n+|$))*", quote)
    names += re.sub("[*`]", "", signatures.group().lower()).split("\n") if signatures else []
    own = [re.split(r"[(<:=]", each)[0].strip() for each in names]
    return any(re.search(rf"(?<!\w){re.escape(name.lower())}$", each) for each in own)


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
        paths, symbols = [folder], []
        if (folder / "objects.inv").exists():
            symbols = inventory_symbols(folder)
        else:
            paths, symbols = choose_pages(folder, seed=seed)
        with tempfile.TemporaryDirectory() as scratch:
            settings = Settings(database_url=f"sqlite:///{scratch}/site.db", embedder="none")
            async with open_app(settings, role="command") as app:
                parts = await app.open("store", "ingester")
                for path in paths:
                    await index_path(parts, path)
                if entities:
                    await print_entities(app, count=entities, seed=seed)
                    continue
                own, asked = await ask(app, symbols, seed=seed)
        share = f"definition first {own / asked:.2f} of {asked}" if asked else "no symbols"
        print(f"{share} on {folder}")
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
