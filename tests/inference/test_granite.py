from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import anyio
import numpy as np
import pytest

from citewell.inference.granite import GraniteEmbedder
from citewell.inference.protocols import Embedder, Vectors

pytestmark = pytest.mark.anyio

TEXTS = [
    "The heron stands in shallow water and waits for fish.",
    "A query with LIMIT returns at most that many rows. " * 12,
    "",
    "Herons are wading birds that eat fish from ponds and rivers.",
    "x",
]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return GraniteEmbedder(threads=2)


# Of the float model; int8 arithmetic differs in the third decimal.
REFERENCE = [-0.0180, 0.0780, -0.0369, 0.0037]


def cosine(a: Vectors, b: Vectors) -> float:
    return float(np.dot(a, b))


async def test_vectors_have_unit_length_and_the_promised_shape(embedder: Embedder) -> None:
    vectors = await embedder.embed_passages(TEXTS)

    assert vectors.shape == (len(TEXTS), embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


async def test_a_text_has_the_same_vector_whatever_its_neighbours(embedder: Embedder) -> None:
    together = await embedder.embed_passages(TEXTS)
    reverse = await embedder.embed_passages(TEXTS[::-1])
    alone = [(await embedder.embed_passages([text]))[0] for text in TEXTS]

    assert np.array_equal(together, reverse[::-1])
    assert np.array_equal(together, np.stack(alone))


async def test_a_passage_and_a_query_of_the_same_words_are_the_same(embedder: Embedder) -> None:
    passage = (await embedder.embed_passages(["grey heron"]))[0]

    assert np.array_equal(await embedder.embed_query("grey heron"), passage)


async def test_related_sentences_are_nearer_than_unrelated_ones(embedder: Embedder) -> None:
    vectors = await embedder.embed_passages(TEXTS)
    query = await embedder.embed_query("Which birds catch fish?")

    assert cosine(vectors[0], vectors[3]) > cosine(vectors[0], vectors[1]) + 0.15
    assert cosine(query, vectors[3]) > cosine(query, vectors[1]) + 0.15


async def test_vectors_stay_what_they_were_when_indexes_were_built(embedder: Embedder) -> None:
    first = (await embedder.embed_passages(TEXTS[:1]))[0]

    assert np.allclose(first[:4], REFERENCE, atol=0.01)


async def test_a_text_beyond_the_model_is_cut_not_refused(embedder: Embedder) -> None:
    words = "heron " * 509
    cut, longer, huge = await embedder.embed_passages(
        [words + "one", words + "one two", "é" * 10**6]
    )

    assert cosine(cut, longer) > 0.99
    assert np.isclose(np.linalg.norm(huge), 1.0, atol=1e-5)


async def test_odd_characters_are_embedded(embedder: Embedder) -> None:
    vectors = await embedder.embed_passages(
        ["\x00\x01", "🦩" * 40, "\ud800 lone", "日本語", " \n\t "]
    )

    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


async def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert (await embedder.embed_passages([])).shape == (0, 384)


async def test_many_callers_at_once_get_their_own_vectors(embedder: Embedder) -> None:
    expected = await embedder.embed_passages(TEXTS)
    found: dict[int, Vectors] = {}

    async def embed(i: int) -> None:
        order = TEXTS[i:] + TEXTS[:i]
        found[i] = np.roll(await embedder.embed_passages(order), i, axis=0)

    async with anyio.create_task_group() as group:
        for i in range(len(TEXTS)):
            group.start_soon(embed, i)

    assert all(np.array_equal(vectors, expected) for vectors in found.values())


@pytest.mark.parametrize(
    ("text", "supported"),
    [
        ("How does a heron fish?", True),
        ("", True),
        ("鷺は魚を食べる", False),
        ("git commit の使い方を説明する", False),
        ("The Japanese word for heron is 鷺.", True),
    ],
)
async def test_only_text_without_much_cjk_is_supported(
    embedder: Embedder, text: str, supported: bool
) -> None:
    assert embedder.supports(text) is supported


def test_opening_the_embedder_loads_neither_runtime_nor_tokenizer() -> None:
    program = (
        "import sys\n"
        "from citewell.inference.open import open_embedder\n"
        "open_embedder('granite', endpoint='', api_key=None, threads=0)\n"
        "print([name for name in ('onnxruntime', 'tokenizers', 'httpx2') if name in sys.modules])"
    )

    result = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )

    assert result.stdout == "[]\n"


_EMBED = """
import anyio
from citewell.inference.open import open_embedder

embedder = open_embedder("granite", endpoint="", api_key=None, threads=1)
assert len(anyio.run(embedder.embed_query, "herons")) > 0
"""


def test_the_model_writes_nothing_into_the_home_folder_and_sends_no_events(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", _EMBED], env=environment, check=True, timeout=120)
    assert not list(tmp_path.rglob("*"))
