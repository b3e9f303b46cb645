"""What one default `kb_retrieve_evidence` call is worth: the answer in its quotes, and its tokens.

    python -m bench.kb_evidence [SET…] [--data DIR] [--cache DIR] [--max-queries N] [--no-reranker]

Each set's questions are asked through the real registry. `hit` is the share of answers whose quotes
hold the answer's words (for clapnq_dev: one of its evidence sentences), `page` the share whose
quotes come from a right page. For chunkeval `covered` is the share of the references' characters
that the quotes hold and `precise` the share of the quotes' characters that are reference; below it
stands the same for the best chunks of 200 tokens cut at the same number of tokens.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
from bench.cached_embedder import CachedEmbedder
from bench.judged_sets import (
    DEFAULT_CACHE,
    DEFAULT_DATA,
    DEFAULT_SITES,
    JudgedQuery,
    JudgedSet,
    open_set,
)

from citewell.app.open import already_open, open_app
from citewell.app.parts import Opener, OpensParts, PartName, Parts
from citewell.app.scratch import ScratchStore
from citewell.core.records import Caller, SearchFilter
from citewell.core.settings import Settings
from citewell.core.tokens import count_tokens, truncate_to_tokens
from citewell.inference.calibrated_reranker import CalibratedReranker
from citewell.inference.open import open_embedder
from citewell.retrieve.pipeline import Models, Options, retrieve
from citewell.tools.catalog import open_registry
from citewell.tools.registry import Registry
from citewell.tools.results import ToolResult

ANSWER_SETS = ("xquad_en", "jsquad_valid", "clapnq_dev")
SPAN_SET = "chunkeval"
CALLER = Caller(session="bench")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call: what was asked, what should have come and what came."""

    query: JudgedQuery
    wanted: tuple[str, ...]
    result: ToolResult

    @property
    def quotes(self) -> list[str]:
        return [quote["quote"] for quote in self.result.structured["quotes"]]

    @property
    def structured_tokens(self) -> int:
        minified = json.dumps(self.result.structured, ensure_ascii=False, separators=(",", ":"))
        return count_tokens(minified)

    def is_hit(self) -> bool:
        quoted = _plain(" ".join(self.quotes))
        return any(_plain(answer) in quoted for answer in self.wanted)

    def is_right_page(self) -> bool:
        return any(quote["url"] in self.query.gains for quote in self.result.structured["quotes"])


async def ask_all(
    judged: JudgedSet,
    wanted: dict[str, tuple[str, ...]],
    *,
    app: OpensParts,
    per_doc: int | None,
) -> list[Asked]:
    registry: Registry = open_registry(Settings(mcp_toolsets=("kb",)))
    options = {} if per_doc is None else {"options": {"max_per_doc": per_doc}}
    asked = []
    for query in judged.queries:
        arguments = {"question": query.text, **options}
        result = await registry.call("kb_retrieve_evidence", arguments, app=app, caller=CALLER)
        assert not result.is_error, result.text
        asked.append(Asked(query=query, wanted=wanted[query.text], result=result))
    return asked


def print_answers(name: str, asked: Sequence[Asked]) -> None:
    text = [count_tokens(each.result.text) for each in asked]
    structured = [each.structured_tokens for each in asked]
    print(
        f"{name:14}{len(asked):>6}"
        f"{statistics.fmean(each.is_hit() for each in asked):>8.3f}"
        f"{statistics.fmean(each.is_right_page() for each in asked):>8.3f}"
        f"{statistics.fmean(len(each.quotes) for each in asked):>8.2f}"
        f"{statistics.median(text):>10.0f} / {max(text):<6}"
        f"{statistics.median(structured):>8.0f} / {max(structured):<6}",
        flush=True,
    )


async def print_spans(asked: Sequence[Asked], parts: Parts) -> None:
    """Print coverage and precision of the quotes, and of whole chunks at equal tokens."""
    ours, theirs = [], []
    for each in asked:
        tokens = sum(count_tokens(quote) for quote in each.quotes)
        found = await retrieve(
            each.query.text,
            store=parts.store,
            models=Models(embedder=parts.embedder, reranker=parts.reranker),
            where=SearchFilter(),
            options=Options(limit=5),
        )
        ours.append(_overlap(each.quotes, each.wanted))
        chunks = [ranked.chunk.text for ranked in found.ranked[:5]]
        theirs.append(_overlap([truncate_to_tokens("\n\n".join(chunks), tokens)], each.wanted))
    for label, pairs in (("quotes", ours), ("chunks", theirs)):
        covered = statistics.fmean(pair[0] for pair in pairs)
        precise = statistics.fmean(pair[1] for pair in pairs)
        print(f"{SPAN_SET} {label}: covered {covered:.3f}, precise {precise:.3f}")


def _overlap(quotes: Sequence[str], references: Sequence[str]) -> tuple[float, float]:
    """Return the share of the references' sentences quoted, and of the quotes' that are theirs."""
    wanted = [part for reference in references for part in _parts(reference)]
    given = [part for quote in quotes for part in _parts(quote)]
    whole_quotes, whole_references = _plain(" ".join(quotes)), _plain(" ".join(references))
    covered = sum(len(part) for part in wanted if part in whole_quotes)
    precise = sum(len(part) for part in given if part in whole_references)
    return covered / max(1, sum(map(len, wanted))), precise / max(1, sum(map(len, given)))


def _parts(text: str) -> list[str]:
    """Cut into runs of five words, so that a part of a sentence counts for its part."""
    words = _plain(text).split(" ")
    return [" ".join(words[at : at + 5]) for at in range(0, len(words), 5)]


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def wanted_answers(name: str, data: Path) -> dict[str, tuple[str, ...]]:
    """Return, by question, the texts one of which should be quoted."""
    return dict(_read_answers(data / "retrieval" / name / "queries.jsonl"))


def _read_answers(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            query = json.loads(line)
            about = query["metadata"]
            if "answers" in about:
                yield query["text"], tuple(answer["text"] for answer in about["answers"])
            elif "evidence" in about:
                sentences = [text for each in about["evidence"] for text in each["quotes"]]
                yield query["text"], tuple(sentences)
            else:
                yield query["text"], tuple(each["content"] for each in about["references"])


async def run(options: argparse.Namespace) -> None:
    if not options.data.exists():
        print(f"no data at {options.data}; give --data")
        return
    model = open_embedder("granite", endpoint="", api_key=None, threads=0)
    assert model is not None, "granite is always there"
    embedder = CachedEmbedder(model, options.cache / "vectors.db")
    print(f"{'set':14}{'asked':>6}{'hit':>8}{'page':>8}{'quotes':>8}  tokens: text, structured")
    for name in options.sets or (*ANSWER_SETS, SPAN_SET):
        async with open_set(
            name,
            data=options.data,
            sites=DEFAULT_SITES,
            cache=options.cache,
            embedder=embedder,
            max_queries=100_000,
        ) as judged:
            await measure(judged, embedder, options)
    await embedder.aclose()


async def measure(judged: JudgedSet, embedder: CachedEmbedder, options: argparse.Namespace) -> None:
    # Neighbouring questions are about one page; a sample of the set has to be spread over it.
    sample = list(judged.queries)
    random.Random(7).shuffle(sample)
    judged = JudgedSet(
        name=judged.name, store=judged.store, queries=tuple(sample[: options.max_queries])
    )
    replaced: dict[PartName, Opener] = {
        "store": already_open(judged.store),
        "embedder": already_open(embedder),
        "reranker": already_open(None if options.no_reranker else CalibratedReranker()),
        "scratch": already_open(ScratchStore(ttl_seconds=1_800, max_bytes=64_000_000)),
    }
    wanted = wanted_answers(judged.name, options.data)
    async with open_app(Settings(), role="command", replaced=replaced) as app:
        asked = await ask_all(judged, wanted, app=app, per_doc=options.max_per_doc)
        print_answers(judged.name, asked)
        if judged.name == SPAN_SET:
            await print_spans(asked, await app.open("store", "embedder", "reranker"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--max-queries", type=int, default=600)
    parser.add_argument("--max-per-doc", type=int)
    parser.add_argument("--no-reranker", action="store_true")
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
