"""Lay out passages for somebody to write questions about, and take what was written into the data.

    python -m bench.reader_passages FOLDER SITE … [--count 40]
    python -m bench.reader_passages FOLDER --take

The first writes FOLDER/SITE.txt: passages of the site drawn by lot, their units numbered. The
writer adds FOLDER/SITE.jsonl with a line a question, in a developer's words:
`{"passage": 3, "kind": "how-to", "question": "…", "answers": [2], "also": [4]}`; without answers
it is a near miss. The second appends those lines to `reader_questions.jsonl`, where passages and
units are known by how they open.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import anyio
from bench.question_sites import (
    DEFAULT_CACHE,
    DEFAULT_SITES,
    PROJECT,
    SITES,
    ingest_site,
    open_library,
)
from bench.reader_lists import QUESTIONS

from citewell.answer.spans import split_units
from citewell.core.records import SearchFilter, StoredChunk
from citewell.core.text import as_read
from citewell.inference.names import GRANITE_NAME

_OPENING = 60
_LEAST_UNITS, _MOST_UNITS = 3, 30
_LEAST_CHARACTERS = 300
_UNIT_SHOWN = 400


async def lay_out(folder: Path, name: str, *, count: int, sites: Path, cache: Path) -> None:
    """Write the passages of one site, drawn by lot, at most two of a page in turn."""
    site = SITES[name]
    chunks: list[tuple[str, StoredChunk]] = []
    async with open_library(cache, name, model=GRANITE_NAME) as store:
        if not (cache / f"{name}.ingested").exists():
            await ingest_site(sites, name, store)
            (cache / f"{name}.ingested").touch()
        for info in await store.list_pages(SearchFilter(project=PROJECT), limit=100_000):
            found = await store.chunks_of_page(info.source_id)
            chunks += [(info.url.removeprefix(site.url), chunk) for chunk in found]
    chance = random.Random(name)
    chance.shuffle(chunks)
    chosen: list[tuple[str, StoredChunk]] = []
    records: list[str] = []
    for page, chunk in chunks:
        units = [chunk.text[unit.start : unit.end] for unit in split_units(chunk.text)]
        is_read = _LEAST_UNITS <= len(units) <= _MOST_UNITS and len(chunk.text) > _LEAST_CHARACTERS
        if not is_read or sum(page == other for other, _ in chosen) > 1:
            continue
        chosen.append((page, chunk))
        path = " › ".join(dict.fromkeys(filter(None, (chunk.title, *chunk.heading_path))))
        lines = [f"[{at}] {as_read(unit)[:_UNIT_SHOWN]}" for at, unit in enumerate(units)]
        records.append("\n".join([f"=== passage {len(records)}: {page} — {path}", *lines]))
        if len(chosen) == count:
            break
    (folder / f"{name}.txt").write_text("\n\n".join(records) + "\n", encoding="utf-8")
    known = [
        {"page": page, "units": [chunk.text[u.start : u.end] for u in split_units(chunk.text)]}
        for page, chunk in chosen
    ]
    (folder / f"{name}.passages.json").write_text(json.dumps(known), encoding="utf-8")
    print(f"{name}: {len(chosen)} passages", flush=True)


def take(folder: Path) -> None:
    """Append the questions of a folder to the data, and say which lines were left out."""
    rows = []
    for file in sorted(folder.glob("*.jsonl")):
        passages = json.loads((folder / f"{file.stem}.passages.json").read_text(encoding="utf-8"))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                written = json.loads(line)
                passage = passages[written["passage"]]
                units = passage["units"]
                row = {
                    "site": file.stem,
                    "page": passage["page"],
                    "opening": _opening("\n\n".join(units)),
                    "kind": written["kind"],
                    "question": " ".join(written["question"].split()),
                    "answers": [_opening(units[at]) for at in written["answers"]],
                    "also": [_opening(units[at]) for at in written.get("also", ())],
                }
            except (ValueError, KeyError, IndexError, TypeError) as error:
                print(f"{file.name}, line {number}: left out: {error!r}")
                continue
            rows.append(json.dumps(row, ensure_ascii=False) + "\n")
    with QUESTIONS.open("a", encoding="utf-8") as data:
        data.writelines(rows)
    print(f"{len(rows)} questions")


def _opening(text: str) -> str:
    return " ".join(text.split())[:_OPENING].strip()


async def run(options: argparse.Namespace) -> None:
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names:
        await lay_out(
            options.folder, name, count=options.count, sites=options.sites, cache=options.cache
        )
    if options.take:
        take(options.folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="SITE")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--take", action="store_true", help="append what was written to the data")
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
