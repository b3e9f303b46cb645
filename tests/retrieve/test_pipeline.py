"""retrieve(): from a query to blocks, on a real store in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest
from tests.drafts import draft
from tests.hashing_embedder import HashingEmbedder
from typing_extensions import override

from citewell.core.errors import InferenceError
from citewell.core.records import Block, Image, PageDraft, SearchFilter
from citewell.inference.calibrated_reranker import CalibratedReranker
from citewell.inference.protocols import Candidate, Vectors
from citewell.retrieve.candidates import EMBED_LIMIT
from citewell.retrieve.pipeline import Models, Options, Retrieval, gather_blocks, retrieve
from citewell.store.open import open_store
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

EVERYWHERE = SearchFilter()


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    opened = await open_store("sqlite://", model="hashing")
    yield opened
    await opened.aclose()


class BrokenEmbedder(HashingEmbedder):
    @override
    async def embed_query(self, text: str) -> Vectors:
        raise InferenceError("the model is gone")


class BrokenReranker:
    async def score(self, query: str, candidates: Sequence[Candidate]) -> list[float]:
        raise InferenceError("the endpoint is down")

    async def aclose(self) -> None:
        pass


class EnglishEmbedder(HashingEmbedder):
    @override
    def supports(self, text: str) -> bool:
        return text.isascii()


async def put(store: Store, *drafts: PageDraft) -> None:
    for each in drafts:
        await store.put_page(each)


async def ask(
    query: str,
    store: Store,
    *,
    embedder: HashingEmbedder | None = None,
    where: SearchFilter = EVERYWHERE,
    limit: int = 5,
    sub_queries: Sequence[str] = (),
) -> Retrieval:
    return await retrieve(
        query,
        store=store,
        models=Models(embedder=embedder, reranker=CalibratedReranker()),
        where=where,
        options=Options(limit=limit, sub_queries=tuple(sub_queries)),
    )


async def blocks_of(found: Retrieval, store: Store, *, limit: int = 5) -> list[Block]:
    blocks, _ = await gather_blocks(found, store=store, limit=limit)
    return blocks


def urls(found: Retrieval) -> list[str]:
    return list(dict.fromkeys(each.chunk.url for each in found.chunks))


BIRDS = (
    draft(
        "https://birds.example/heron",
        "The grey heron waits in shallow water for fish.",
        "A heron builds its nest high in a tree near the river.",
        "In winter herons move to the coast.",
        title="Grey heron",
        heading="Heron",
    ),
    draft(
        "https://birds.example/swift",
        "The swift sleeps while it flies and drinks from the surface of lakes.",
        title="Common swift",
        heading="Swift",
    ),
    draft(
        "https://birds.example/owl",
        "The tawny owl hunts mice in the forest at night.",
        title="Tawny owl",
        heading="Owl",
        project="owls",
    ),
)


async def test_every_block_is_an_exact_slice_of_its_page(store: Store) -> None:
    await put(store, *BIRDS)

    found = await ask("where does a heron build its nest", store, embedder=HashingEmbedder())

    blocks = await blocks_of(found, store)
    assert blocks
    for block in blocks:
        page = await store.get_page(block.source_id)
        assert page is not None
        assert page.text[block.start : block.end] == block.text


async def test_the_page_that_answers_comes_first(store: Store) -> None:
    await put(store, *BIRDS)

    found = await ask("Which bird sleeps while it flies?", store, embedder=HashingEmbedder())

    assert found.chunks[0].chunk.url == "https://birds.example/swift"


async def test_neighbouring_chunks_of_a_section_become_one_block(store: Store) -> None:
    await put(store, *BIRDS)

    found = await ask("heron nest tree river", store)

    heron = [block for block in await blocks_of(found, store) if block.url.endswith("heron")]
    assert len(heron) == 1
    assert heron[0].text.startswith("The grey heron waits")
    assert heron[0].text.endswith("move to the coast.")


async def test_a_block_stays_under_its_token_limit(store: Store) -> None:
    paragraphs = [f"heron number {i} " + "stands still " * 100 for i in range(12)]
    await put(store, draft("https://birds.example/many", *paragraphs, title="Herons"))

    found = await ask("heron", store)

    blocks = await blocks_of(found, store)
    assert blocks
    assert all(block.tokens <= 800 for block in blocks)


async def test_chunks_come_best_first_with_scores_from_0_to_1(store: Store) -> None:
    await put(store, *BIRDS)

    found = await ask("owl hunting mice at night", store, embedder=HashingEmbedder())

    relevance = [each.relevance for each in found.chunks]
    assert relevance == sorted(relevance, reverse=True)
    assert all(0 <= score <= 1 for score in relevance)
    assert found.chunks[0].confidence is not None


async def test_no_more_chunks_come_than_were_asked_for(store: Store) -> None:
    pages = [
        draft(f"https://birds.example/{i}", f"A heron story, part {i} of {i}.") for i in range(9)
    ]
    await put(store, *pages)

    found = await ask("heron story", store, limit=3)

    assert len(found.chunks) == 3


async def test_only_pages_that_the_filter_allows_are_found(store: Store) -> None:
    await put(store, *BIRDS)

    found = await ask(
        "heron swift owl", store, embedder=HashingEmbedder(), where=SearchFilter(project="owls")
    )

    assert urls(found) == ["https://birds.example/owl"]


async def test_a_query_that_nothing_matches_finds_nothing(store: Store) -> None:
    await put(store, *BIRDS)

    found = await ask("quaternion", store)

    assert found.chunks == ()
    assert found.ranked == ()


async def test_an_empty_query_finds_nothing(store: Store) -> None:
    await put(store, *BIRDS)

    found = await ask("  ", store, embedder=HashingEmbedder())

    assert found.chunks == ()


async def test_a_query_of_a_hundred_thousand_characters_is_answered(store: Store) -> None:
    await put(store, *BIRDS)

    found = await ask("heron nest " * 9_000, store, embedder=HashingEmbedder())

    assert urls(found)[0] == "https://birds.example/heron"


async def test_the_same_text_on_two_pages_is_shown_once(store: Store) -> None:
    text = "The grey heron waits in shallow water for fish, for frogs and for small eels."
    await put(
        store,
        draft("https://one.example/", text, title="Heron"),
        draft("https://two.example/", text + " Always.", title="Heron"),
    )

    found = await ask("heron waits in shallow water", store)

    assert len(found.chunks) == 1


async def test_a_failing_embedder_leaves_words_and_a_note(store: Store) -> None:
    await put(store, *BIRDS)

    found = await ask("tawny owl", store, embedder=BrokenEmbedder())

    assert urls(found)[0] == "https://birds.example/owl"
    assert found.notes == ("Searched by words only: the model is gone",)


async def test_a_failing_reranker_leaves_the_order_of_search_and_a_note(store: Store) -> None:
    await put(store, *BIRDS)

    found = await retrieve(
        "tawny owl",
        store=store,
        models=Models(embedder=None, reranker=BrokenReranker()),
        where=EVERYWHERE,
        options=Options(limit=5),
    )

    assert urls(found)[0] == "https://birds.example/owl"
    assert found.chunks[0].confidence is None
    assert found.notes == (
        "Results are in the order of search, not reranked: the endpoint is down",
    )


async def test_words_first_embeds_the_best_candidates_only_and_keeps_them(store: Store) -> None:
    paragraphs = [f"heron sighting number {i}" for i in range(2 * EMBED_LIMIT)]
    await put(store, draft("https://birds.example/log", *paragraphs), *BIRDS)
    embedder = HashingEmbedder()

    await ask("heron sighting", store, embedder=embedder)
    first = len(embedder.embedded)
    await ask("sighting heron", store, embedder=embedder)

    stats = await store.corpus_stats(EVERYWHERE)
    assert first == EMBED_LIMIT
    assert stats.embedded_chunks == len(embedder.embedded)
    assert len(set(embedder.embedded)) == len(embedder.embedded)


async def test_text_the_embedder_does_not_know_is_found_by_words_alone(store: Store) -> None:
    embedder = EnglishEmbedder()
    await put(
        store,
        draft("https://birds.example/ja", "アオサギは浅い水の中で魚を待つ。", language="ja"),
        *BIRDS,
    )

    found = await ask("アオサギは何を待つか", store, embedder=embedder)

    assert urls(found)[0] == "https://birds.example/ja"
    assert embedder.embedded == []


async def test_a_symbol_finds_the_page_that_defines_it_first(store: Store) -> None:
    mention = "Use os.path.join here, os.path.join there and os.path.join everywhere."
    await put(
        store,
        draft("https://docs.example/whatsnew/3.html", mention, mention + " Again.", title="News"),
        draft(
            "https://docs.example/tutorial.html", "Call os.path.join to build paths.", title="Tour"
        ),
        draft(
            "https://docs.example/os.path.html",
            "Join one or more path segments intelligently.",
            title="os.path",
            heading="os.path.join(path, *paths)",
        ),
    )

    found = await ask("os.path.join", store)

    assert found.chunks[0].chunk.url == "https://docs.example/os.path.html"


async def test_sub_queries_bring_their_own_evidence_and_say_so(store: Store) -> None:
    await put(store, *BIRDS)

    found = await ask(
        "compare heron and swift",
        store,
        sub_queries=("where does the heron nest", "how does the swift sleep"),
    )

    asked = {each.sub_query for each in found.chunks}
    assert set(urls(found)) == {"https://birds.example/heron", "https://birds.example/swift"}
    assert asked <= {
        "compare heron and swift",
        "where does the heron nest",
        "how does the swift sleep",
    }


async def test_what_follows_a_short_strong_hit_is_added_from_its_surroundings(store: Store) -> None:
    page = draft(
        "https://birds.example/guide",
        "Nesting of herons.",
        "Sticks are carried up in March and woven for two weeks.",
        title="Guide",
        heading="Nesting",
    )
    await put(store, page)

    found = await ask("herons nesting", store)

    (block, *_) = await blocks_of(found, store)
    assert block.text.endswith("woven for two weeks.")


async def test_the_images_of_a_block_come_with_it(store: Store) -> None:
    picture = Image(url="https://x.example/h.png", alt="A heron", caption="", section=0, start=4)
    await put(store, draft("https://x.example/", "The heron stands.", images=(picture,)))

    found = await ask("heron", store)

    (block, *_) = await blocks_of(found, store)
    assert block.images == (picture,)


async def test_stages_are_timed_and_chunks_counted(store: Store) -> None:
    await put(store, *BIRDS)

    found = await ask("heron", store)

    assert found.chunks_evaluated == len(found.ranked) == found.chunks_matched == 3
    assert min(found.retrieval_ms, found.reranking_ms, found.merge_ms) > 0


async def test_a_word_that_no_page_of_a_sizeable_project_holds_is_reported(store: Store) -> None:
    notes = [f"Note {number} on how birds fly over lakes." for number in range(1_000)]
    await put(store, *BIRDS, draft("https://birds.example/notes", *notes, title="Notes"))

    found = await ask("How far does the swift or the albatross fly with MyRadio?", store)

    assert found.unknown_words == ("albatross",)


async def test_words_of_the_story_around_a_question_are_neither_unknown_nor_misspelt(
    store: Store,
) -> None:
    notes = [f"Note {number}: write down how birds fly over lakes." for number in range(1_000)]
    await put(store, *BIRDS, draft("https://birds.example/notes", *notes, title="Notes"))

    found = await ask("Somebody wrote that I am stuck: how far does the albatross fly?", store)

    assert found.unknown_words == ("albatross",)
    assert not [note for note in found.notes if "wrote" in note]


async def test_a_symbol_that_a_page_defines_with_its_module_is_no_unknown_word(
    store: Store,
) -> None:
    notes = [f"Note {number} on how birds fly over lakes." for number in range(1_000)]
    definition = draft(
        "pypi:birds@1.0/birds", "**wade(depth)**\n\nWalk into water.", heading="birds.Heron.wade"
    )
    await put(store, definition, draft("https://birds.example/notes", *notes, title="Notes"))

    defined = await ask("What does Heron.wade return?", store)
    undefined = await ask("What does Heron.swim_far return?", store)

    assert "Heron.wade" not in defined.unknown_words
    assert "Heron.swim_far" in undefined.unknown_words


async def test_a_word_that_a_few_pages_lack_may_only_be_put_differently(store: Store) -> None:
    await put(store, *BIRDS)

    found = await ask("Where does the heron raise its chicks?", store)

    assert found.unknown_words == ("raise", "chicks")
    assert not found.is_sizeable
