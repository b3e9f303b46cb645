"""kb.retrieve_evidence and kb.extract_evidence: quotes that answer, cited and bounded."""

from __future__ import annotations

import json

from tests.drafts import draft
from tests.tools.library import EGRETS, HERONS, OWLS, SOMEONE_ELSE, open_library

from citewell.core.tokens import count_tokens

PAGES = {page.url: page.extracted.text for page in (HERONS, EGRETS, OWLS)}


async def test_evidence_is_quoted_word_for_word_and_cited() -> None:
    async with open_library() as library:
        found = await library.call("kb.retrieve_evidence", question="What does the tawny owl eat?")

    first = found["quotes"][0]
    assert "The tawny owl eats mice." in first["quote"]
    assert (first["title"], first["url"]) == ("Owls", OWLS.url)
    assert first["link"].startswith(f"{OWLS.url}#")
    assert ":~:text=" in first["link"]
    assert first["uri"].endswith(f"/{first['passage_id']}")
    assert 0 < first["confidence"] <= 1
    assert all(quote["quote"] in PAGES[quote["url"]] for quote in found["quotes"])
    assert (found["mode"], found["passages"] > 0) == ("auto", True)


async def test_both_forms_carry_the_same_quotes_and_ids() -> None:
    async with open_library() as library:
        result = await library.result("kb.retrieve_evidence", question="Who eats fish?")

    assert result.structured["quotes"]
    for quote in result.structured["quotes"]:
        for part in ("quote", "passage_id", "section_id", "link", "title"):
            assert quote[part] in result.text


async def test_the_quotes_keep_to_their_number_and_tokens() -> None:
    pages = [
        draft(
            f"https://ponds.example/{n}",
            f"Heron {n} eats fish, {'and then another fish, ' * 60} until dark.",
            title=f"Pond {n}",
        )
        for n in range(12)
    ]
    async with open_library(*pages) as library:
        found = await library.call("kb.retrieve_evidence", question="heron eats fish")
        fewer = await library.call(
            "kb.retrieve_evidence", question="heron eats fish", max_quotes=2, top_k=9
        )

    assert len(found["quotes"]) <= 6
    assert len(fewer["quotes"]) == 2
    assert all(count_tokens(quote["quote"]) <= 80 for quote in found["quotes"])
    assert count_tokens(json.dumps(found)) <= 1_200
    assert all(quote["is_cut"] for quote in found["quotes"])


async def test_long_urls_cost_quotes_not_the_budget() -> None:
    pages = [
        draft(f"https://ponds.example/{n}/{'segment-' * 200}", f"Heron {n} eats.", title=f"P{n}")
        for n in range(6)
    ]
    async with open_library(*pages) as library:
        found = await library.call("kb.retrieve_evidence", question="heron eats")

    assert 0 < len(found["quotes"]) < 6
    assert count_tokens(json.dumps(found)) <= 1_200


async def test_candidates_are_listed_when_debugging() -> None:
    async with open_library() as library:
        found = await library.call(
            "kb.retrieve_evidence", question="owl", options={"include_debug": True}
        )

    assert {"passage_id", "section_id", "source", "relevance"} == found["candidates"][0].keys()


async def test_several_passages_of_one_page_are_searched_for_quotes() -> None:
    async with open_library(HERONS) as library:
        found = await library.call("kb.retrieve_evidence", question="What do herons do?")

    assert found["passages"] == len(HERONS.chunks) == 2


async def test_evidence_of_known_passages_is_extracted() -> None:
    async with open_library() as library:
        listed = await library.call("kb.search", query="fish mice nest", top_k=3)
        ids = [result["passage_id"] for result in listed["results"]]
        found = await library.call(
            "kb.extract_evidence",
            question="What colour are the feet?",
            passage_ids=ids,
            include_context_tokens=0,
            max_quotes=1,
        )

    assert [quote["quote"] for quote in found["quotes"]] == ["It has yellow feet."]


async def test_a_passage_that_is_not_there_is_not_found() -> None:
    async with open_library() as library:
        listed = await library.call("kb.search", query="fish")
        passage_id = listed["results"][0]["passage_id"]
        unknown = await library.call(
            "kb.extract_evidence", question="fish", passage_ids=[passage_id, "123"]
        )
        foreign = await library.call(
            "kb.extract_evidence", question="fish", passage_ids=[passage_id], caller=SOMEONE_ELSE
        )

    assert unknown["error"]["code"] == foreign["error"]["code"] == "NOT_FOUND"


async def test_japanese_is_quoted_by_sentence() -> None:
    page = draft(
        "https://tori.example/",
        "青鷺は魚を食べる。高い木の上に巣を作る。冬は南へ渡る。",
        title="青鷺",
        language="ja",
    )
    async with open_library(page) as library:
        found = await library.call(
            "kb.retrieve_evidence", question="青鷺はどこに巣を作りますか。", max_quotes=1
        )

    assert "高い木の上に巣を作る。" in found["quotes"][0]["quote"]


async def test_sentences_that_are_only_near_are_not_taken_for_an_answer() -> None:
    async with open_library() as library:
        answer = await library.result(
            "kb.retrieve_evidence", question="What does the tawny owl eat?"
        )
        near = await library.result(
            "kb.retrieve_evidence", question="How many trees does a submarine captain own?"
        )

    assert answer.structured["supported"]
    assert not answer.text.startswith("Nothing")
    assert near.structured["quotes"]
    assert not near.structured["supported"]
    assert near.text.startswith("Nothing indexed clearly answers this.")
    assert "No sentence found contains" in near.text


async def test_nothing_found_is_said_without_padding() -> None:
    async with open_library() as library:
        result = await library.result("kb.retrieve_evidence", question="submarine")

    assert result.structured["quotes"] == []
    assert result.text.startswith("No evidence found.")


async def test_a_definition_is_quoted_before_what_mentions_the_name() -> None:
    mentions = [
        draft(
            f"https://birds.example/{n}",
            f"The crest and again the crest: in year {n} every crest was counted, crest by crest.",
            title=f"Crests of year {n}",
        )
        for n in range(3)
    ]
    glossary = draft(
        "https://birds.example/glossary",
        "**crest**: A tuft of feathers on the head.",
        title="Words of bird watchers",
    )
    async with open_library(*mentions, glossary) as library:
        found = await library.call("kb.retrieve_evidence", question="What is a crest?")

    assert found["quotes"][0]["quote"] == "**crest**: A tuft of feathers on the head."
