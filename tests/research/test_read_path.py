"""The one read path with the built-in models."""

import pytest

from citewell.answer.spans import PassageText, span_features
from citewell.core.question import read_query
from citewell.inference.granite import GraniteEmbedder
from citewell.research.read_path import compare_spans, read_best

pytestmark = pytest.mark.anyio


async def test_addresses_in_links_do_not_change_what_models_say_of_a_page() -> None:
    query = read_query("What happens when the buoy's memory is full?")
    embedder = GraniteEmbedder(threads=1)
    scores = []
    for base in ("http://127.0.0.1:33653", "https://heron.example/manual/2.4"):
        text = (
            f"There are two ways, chosen by [`storage.mode`]({base}/configuration.html#storage). "
            "When it is full, the newest burst takes the place of the oldest."
        )
        passages = [PassageText(text=text, path=("Storage modes",))]
        rows = span_features(query, passages)
        scores.append(
            (
                await read_best(query, passages, rows, embedder=embedder),
                await compare_spans(query, passages, embedder=embedder, rows=rows),
            )
        )
    await embedder.aclose()

    assert scores[0] == scores[1]
    assert all(scores[0])
