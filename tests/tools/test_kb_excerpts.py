"""kb.read_excerpt and kb.expand_excerpt: bounded reading of passages, also after eviction."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.drafts import draft
from tests.tools.library import HERONS, SOMEONE_ELSE, Library, open_library

from citewell.app.open import already_open
from citewell.app.scratch import ScratchStore
from citewell.core.records import Caller
from citewell.core.tokens import count_tokens

SENTENCES = [f"Sentence {n} tells of the heron and the pond." for n in range(60)]
LONG = draft("https://long.example/", "An opening.", " ".join(SENTENCES), "A close.", title="Long")


async def first_passage(library: Library, query: str) -> dict[str, Any]:
    found = await library.call("kb.search", query=query)
    result: dict[str, Any] = found["results"][0]
    return result


async def test_an_excerpt_is_the_text_of_its_passage_with_a_citation() -> None:
    async with open_library() as library:
        passage = await first_passage(library, "heron eats fish")
        read = await library.call("kb.read_excerpt", passage_id=passage["passage_id"])

    assert read.pop("untrusted")["fields"] == ["excerpt", "title", "url", "link"]
    assert read == {
        "passage_id": passage["passage_id"],
        "excerpt": HERONS.chunks[0].text,
        "truncated": False,
        "citation": {
            "section_id": passage["section_id"],
            "doc_tag": "birds",
            "title": "Herons",
            "uri": passage["scratch_uri"],
            "url": "https://birds.example/herons.html#grey heron",
            "link": "https://birds.example/herons.html#grey%20heron"
            ":~:text=The%20grey%20heron,in%20tall%20trees",
        },
    }


async def test_reading_on_from_next_start_char_gives_the_whole_passage() -> None:
    async with open_library(LONG) as library:
        passage_id = (await first_passage(library, "heron pond"))["passage_id"]
        pieces, start = "", 0
        while True:
            read = await library.call(
                "kb.read_excerpt", passage_id=passage_id, start_char=start, max_tokens=100
            )
            assert count_tokens(read["excerpt"]) <= 100
            pieces = pieces[:start] + read["excerpt"]
            if not read["truncated"]:
                break
            pieces += " " * (read["next_start_char"] - len(pieces))
            start = read["next_start_char"]

    assert pieces.split() == " ".join(SENTENCES).split()


async def test_beyond_the_passage_its_page_goes_on_and_then_ends() -> None:
    async with open_library() as library:
        passage_id = (await first_passage(library, "heron eats fish"))["passage_id"]
        size = len(HERONS.chunks[0].text)
        after = await library.call("kb.read_excerpt", passage_id=passage_id, start_char=size + 2)
        beyond = await library.call("kb.read_excerpt", passage_id=passage_id, start_char=9_999)

    assert after["excerpt"] == HERONS.chunks[1].text
    assert beyond["error"]["code"] == "INVALID_ARGUMENT"


async def test_bullets_hold_one_sentence_each() -> None:
    async with open_library() as library:
        passage_id = (await first_passage(library, "heron eats fish"))["passage_id"]
        options = {"format": "bullets", "include_citation": False}
        read = await library.call("kb.read_excerpt", passage_id=passage_id, options=options)

    assert read["excerpt"].splitlines() == [
        "- The grey heron eats fish.",
        "- It stands still for hours.",
        "- A heron nests in tall trees.",
    ]
    assert "citation" not in read


async def test_bullets_that_do_not_fit_are_read_next() -> None:
    async with open_library(LONG) as library:
        passage_id = (await first_passage(library, "heron pond"))["passage_id"]
        options = {"format": "bullets"}
        read = await library.call(
            "kb.read_excerpt", passage_id=passage_id, max_tokens=60, options=options
        )
        following = await library.call(
            "kb.read_excerpt",
            passage_id=passage_id,
            max_tokens=60,
            options=options,
            start_char=read["next_start_char"],
        )

    bullets = read["excerpt"].splitlines() + following["excerpt"].splitlines()
    assert bullets == [f"- {sentence}" for sentence in SENTENCES[: len(bullets)]]
    assert count_tokens(read["excerpt"]) <= 60


async def test_expanding_adds_what_stands_before_and_after() -> None:
    async with open_library(LONG) as library:
        passage_id = (await first_passage(library, "heron pond"))["passage_id"]
        grown = await library.call("kb.expand_excerpt", passage_id=passage_id)

    assert grown["excerpt"].startswith("An opening.\n\nSentence 0")
    assert grown["start_char"] == -len("An opening.\n\n")
    assert count_tokens(grown["excerpt"]) <= 800


async def test_an_expanded_excerpt_goes_on_where_it_says() -> None:
    async with open_library() as library:
        passage_id = (await first_passage(library, "heron eats fish"))["passage_id"]
        grown = await library.call("kb.expand_excerpt", passage_id=passage_id, after_tokens=5)
        rest = await library.call(
            "kb.read_excerpt", passage_id=passage_id, start_char=grown["next_start_char"]
        )

    whole = HERONS.extracted.text
    assert grown["excerpt"] + rest["excerpt"] == whole


@pytest.mark.parametrize("tool", ["kb.read_excerpt", "kb.expand_excerpt"])
async def test_the_passage_of_another_caller_is_not_found(tool: str) -> None:
    async with open_library() as library:
        passage = await first_passage(library, "heron")
        by_id = await library.call(tool, passage_id=passage["passage_id"], caller=SOMEONE_ELSE)
        by_uri = await library.call(tool, passage_id=passage["scratch_uri"], caller=SOMEONE_ELSE)
        own = await library.call(tool, passage_id=passage["scratch_uri"])

    assert by_id["error"]["code"] == by_uri["error"]["code"] == "NOT_FOUND"
    assert own["passage_id"] == passage["passage_id"]


async def test_an_evicted_passage_is_read_again_from_its_page() -> None:
    tiny = ScratchStore(ttl_seconds=100, max_bytes=1)
    async with open_library(replaced={"scratch": already_open(tiny)}) as library:
        passage_id = (await first_passage(library, "heron eats fish"))["passage_id"]
        read = await library.call("kb.read_excerpt", passage_id=passage_id)

    assert tiny.stats().passages == 0
    assert read["excerpt"] == HERONS.chunks[0].text


async def test_an_evicted_passage_whose_page_has_changed_says_so() -> None:
    tiny = ScratchStore(ttl_seconds=100, max_bytes=1)
    async with open_library(replaced={"scratch": already_open(tiny)}) as library:
        passage = await first_passage(library, "heron eats fish")
        await library.put(draft(passage["url"], "Herons have moved.", title="Herons"))
        read = await library.call("kb.read_excerpt", passage_id=passage["passage_id"])

    assert read["error"]["code"] == "NOT_FOUND"
    assert "has changed since" in read["error"]["message"]


async def test_a_passage_outside_the_scope_is_refused() -> None:
    async with open_library() as library:
        passage = await first_passage(library, "tawny owl")
        read = await library.call(
            "kb.read_excerpt", passage_id=passage["passage_id"], scope={"doc_tags": ["birds"]}
        )

    assert read["error"]["code"] == "SCOPE_VIOLATION"


async def test_the_text_form_fences_the_excerpt() -> None:
    async with open_library() as library:
        passage = await first_passage(library, "heron eats fish")
        result = await library.result("kb.read_excerpt", passage_id=passage["passage_id"])

    note, excerpt, cited = result.text.splitlines()
    nonce = excerpt[1:7]
    assert f"⟦{nonce} and {nonce}⟧" in note
    assert excerpt == f"⟦{nonce} {result.structured['excerpt']} {nonce}⟧"
    assert passage["passage_id"] in cited


async def test_many_callers_at_once_read_only_their_own() -> None:
    small = ScratchStore(ttl_seconds=100, max_bytes=20_000)
    wrong: list[object] = []
    async with open_library(replaced={"scratch": already_open(small)}) as library:

        async def use(number: int) -> None:
            me, other = Caller(session=f"{number}"), Caller(session=f"{number + 1}")
            found = await library.call("kb.search", query="heron fish", caller=me)
            for result in found["results"]:
                passage_id = result["passage_id"]
                read = await library.call("kb.read_excerpt", passage_id=passage_id, caller=me)
                stolen = await library.call("kb.read_excerpt", passage_id=passage_id, caller=other)
                if "error" in read or stolen.get("error", {}).get("code") != "NOT_FOUND":
                    wrong.append((read, stolen))

        async with anyio.create_task_group() as tasks:
            for number in range(64):
                tasks.start_soon(use, number)

    assert wrong == []
    assert small.stats().bytes <= 20_000
    assert small.stats().evicted > 0
