"""The one read path with the built-in models."""

from collections.abc import Sequence

import pytest
from tests.drafts import draft
from tests.tools.library import open_library
from typing_extensions import override

from citewell.answer.quote import QuoteLimits
from citewell.answer.spans import PassageText, rank_spans, span_features, split_units
from citewell.core.question import parse_query
from citewell.core.records import SearchFilter
from citewell.inference.granite import GraniteEmbedder
from citewell.inference.protocols import Vectors
from citewell.research.read_path import (
    compare_spans,
    judge_parts,
    quote_evidence,
    quote_passages,
    read_best,
)
from citewell.retrieve.pipeline import Models, Options, retrieve

pytestmark = pytest.mark.anyio


async def test_addresses_in_links_do_not_change_what_models_say_of_a_page() -> None:
    query = parse_query("What happens when the buoy's memory is full?")
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


class CountingEmbedder(GraniteEmbedder):
    """The built-in models, with the number of texts that were embedded."""

    embedded = 0

    @override
    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.embedded += len(texts)
        return await super().embed_passages(texts)


async def test_sentences_are_embedded_only_where_no_reader_read_them() -> None:
    query = parse_query("What happens when the buoy's memory is full?")
    embedder = CountingEmbedder(threads=1)
    text = "There are two ways. When it is full, the newest burst takes the place of the oldest."
    passages = [PassageText(text=text, path=("Storage modes",))]
    rows = span_features(query, passages)
    reads = await read_best(query, passages, rows, embedder=embedder)
    limits = QuoteLimits()

    read = await quote_passages(
        query, passages, limits=limits, embedder=embedder, rows=rows, reads=reads
    )
    embedded_after_reading = embedder.embedded
    unread = await quote_passages(query, passages, limits=limits, embedder=embedder, rows=rows)
    await embedder.aclose()

    assert read
    assert unread
    assert (embedded_after_reading, embedder.embedded) == (0, 2)


async def test_the_reader_reads_few_units_of_the_best_passages() -> None:
    query = parse_query("What happens when the buoy's memory is full?")
    embedder = GraniteEmbedder(threads=1)
    text = "There are two ways. When it is full, the newest burst takes the place of the oldest."
    passages = [PassageText(text=text, path=(f"Chapter {at}",)) for at in range(12)]
    rows = span_features(query, passages)

    reads = await read_best(query, passages, rows, embedder=embedder)
    await embedder.aclose()

    # In each the second sentence is the better one by its words; the first is read of few.
    assert [at for at, unit in reads if unit == 1] == list(range(10))
    assert [at for at, unit in reads if unit == 0] == list(range(6))


async def test_of_two_pages_that_answer_alike_the_one_that_was_named_is_quoted_first() -> None:
    question = "What happens when the buoy's memory is full?"
    pages = (
        draft("https://a.example/", "When it is full, the newest burst replaces the oldest."),
        draft("https://b.example/", "When it is full, the oldest burst gives way to the newest."),
    )
    embedder = GraniteEmbedder(threads=1)
    first = []
    async with open_library(*pages) as library:
        found = await retrieve(
            question,
            store=library.parts.store,
            models=Models(embedder=None, reranker=None),
            where=SearchFilter(),
            options=Options(limit=9),
        )
        for named in (1, 2):
            judged = await judge_parts(found, (question,), embedder=embedder, named=[named])
            quotes = await quote_evidence(
                found, (question,), judged=judged, limits=QuoteLimits(), embedder=embedder
            )
            first.append(quotes[0].ranked.chunk.source_id)
    await embedder.aclose()

    assert first == [1, 2]


def test_the_operator_that_a_question_names_decides_between_sentences_alike() -> None:
    query = parse_query("What replaces the $? variable of other shells?")
    passages = [
        PassageText(text="This replaces the `$-` variable used there."),
        PassageText(text="This replaces the `$?` variable used there."),
    ]

    best = rank_spans(query, passages)[0]

    assert passages[best.passage].text == "This replaces the `$?` variable used there."


def test_sentences_in_a_fence_are_read_as_sentences_and_code_as_code() -> None:
    prose = "```\nThe value states after how many failed checks a server is down. It is 3.\n```"
    code = "```\nserver one 10.0.0.1:80 check fall 3 rise 2\nserver two 10.0.0.2:80 check\n```"

    assert [unit.kind for unit in split_units(f"{prose}\n\n{code}")] == ["sentence", "code"]
