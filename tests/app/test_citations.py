"""Citations that were handed out are remembered, and judged again when their pages change."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.server.console.serving import ANN, BEN, console
from tests.tools.library import HERONS, ME, Library, open_library
from tests.tools.websites.jobs_site import Websites, open_websites

from citewell.app.citations import CitedQuote
from citewell.core.citations import Citation
from citewell.core.records import Caller
from citewell.tools.tool import Call
from citewell.tools.webapp.handed_out import citations_of_page

pytestmark = pytest.mark.anyio

MENU = "<nav><a href='/a'>Opening hours of the hide at the lake</a></nav>"
BODY = """<html><head><title>Herons</title></head><body>{menu}<main><h1>Herons</h1>
<p>{lead}The grey heron waits for {hours} hours until a fish comes near its bill.</p>
<p>It sleeps on one leg in the reeds at night, away from the wind and the waves.</p></main></body></html>"""


def page(*, hours: str = "three", lead: str = "", menu: str = "") -> str:
    return BODY.format(hours=hours, lead=lead, menu=menu)


async def handed_out(library: Library, caller: Caller = ME) -> list[Citation]:
    await library.parts.citations.write_out()
    return await library.parts.store.citations.list_citations(
        caller.owner, project=caller.project, verdict=None, limit=100, offset=0
    )


async def refreshed(websites: Websites, source_id: int) -> None:
    await websites.call("rag_refresh_website", source_id=source_id)
    await websites.finished(source_id)


async def eventually(websites: Websites, is_so: Callable[[list[Citation]], bool]) -> list[Citation]:
    """Wait until the citations are as they should become; judging follows a change."""
    with anyio.fail_after(60):
        while not is_so(found := await handed_out(websites)):  # noqa: ASYNC110 - rows, no event
            await anyio.sleep(0.05)
    return found


def verdicts(*wanted: str) -> Callable[[list[Citation]], bool]:
    return lambda found: [each.verdict for each in found] == list(wanted)


async def test_every_tool_that_quotes_remembers_what_it_handed_out() -> None:
    async with open_library() as library:
        asker = replace(ME, user="ann", agent="helper")
        searched = await library.call("search", query="What does the tawny owl eat?", caller=asker)
        retrieved = await library.call("kb.retrieve_evidence", question="heron nests in trees")
        passages = [quote["passage_id"] for quote in retrieved["quotes"]]
        extracted = await library.call(
            "kb.extract_evidence", question="How long do young herons stay?", passage_ids=passages
        )
        checked = await library.call("check_draft", draft="The grey heron eats fish.")
        found = await handed_out(library)

    by_tool: dict[str, set[str]] = {}
    for each in found:
        by_tool.setdefault(each.tool, set()).add(each.quote)
    assert by_tool == {
        "search": {each["text"] for each in searched["evidence"]},
        "kb.retrieve_evidence": {each["quote"] for each in retrieved["quotes"]},
        "kb.extract_evidence": {each["quote"] for each in extracted["quotes"]},
        "check_draft": {each["quote"] for each in checked["claims"][0]["quotes_for"]},
    }
    first = next(each for each in found if each.tool == "search")
    assert first.citation_id in {each["id"] for each in searched["evidence"]}
    assert (first.question, first.user, first.agent) == (
        "What does the tawny owl eat?",
        "ann",
        "helper",
    )


async def test_citations_are_private_to_who_got_them() -> None:
    ann, ben = replace(ME, key_hash="ann"), replace(ME, key_hash="ben")
    passing = replace(ME, is_local=False)
    async with open_library(HERONS) as library:
        for caller in (ann, passing):
            await library.call("search", query="What does the grey heron eat?", caller=caller)
        call = Call(parts=library.parts, caller=ann)
        assert await handed_out(library, ann)
        assert await citations_of_page(1, call) == await handed_out(library, ann)
        for caller in (ben, ME, passing):
            assert await handed_out(library, caller) == []
            assert "citations" not in await library.call("status", caller=caller)


@pytest.mark.parametrize(
    ("settings", "remembered"),
    [({"citation_days": 0}, None), ({"citation_questions": False}, "")],
)
async def test_what_is_remembered_can_be_limited(
    settings: dict[str, Any], remembered: str | None
) -> None:
    async with open_library(HERONS, **settings) as library:
        await library.call("search", query="What does the grey heron eat?")
        found = await handed_out(library)

    assert {each.question for each in found} == (set() if remembered is None else {remembered})


async def test_a_secret_in_a_question_is_not_remembered() -> None:
    async with open_library(HERONS) as library:
        await library.call("search", query="Does the grey heron eat fish? token=sk-1234567890abc")
        found = await handed_out(library)

    assert found
    assert all("sk-1234567890abc" not in each.question for each in found)


async def test_what_no_database_takes_does_not_hold_up_the_rest() -> None:
    half = CitedQuote(source_id=1, page_hash="0" * 64, start=0, text="half \ud800 and \0 nothing")
    async with open_library(HERONS) as library:
        odd = replace(ME, user="\ud800", agent="\0" * 300)
        library.parts.citations.remember([half], caller=odd, tool="search", question="\ud800?")
        await library.call("search", query="What does the grey heron eat?")
        found = await handed_out(library)

    assert "half ? and  nothing" in {each.quote for each in found}
    assert any("fish" in each.quote for each in found)


async def test_a_refresh_judges_citations_again_and_tells_of_it(tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    async with open_websites({"/h": page()}, events=(str(events),)) as websites:
        source_id = (await websites.process("/h"))["source_id"]
        await websites.call("search", query="How long does the grey heron wait for a fish?")
        await eventually(websites, lambda found: [each.verdict for each in found] == ["exact"])

        websites.site.pages["/h"] = page(lead="Herons are patient birds of the shore. ")
        await refreshed(websites, source_id)
        await eventually(websites, verdicts("moved"))
        websites.site.pages["/h"] = page(hours="seven")
        await refreshed(websites, source_id)
        [changed] = await eventually(websites, verdicts("changed"))
        status = await websites.result("status")
        del websites.site.pages["/h"]
        await refreshed(websites, source_id)
        [gone] = await eventually(websites, verdicts("gone"))

    told = [json.loads(line) for line in events.read_text("utf-8").splitlines()]
    assert "[-three-]{+seven+}" in changed.difference
    assert status.structured["citations"] == {"changed": 1}
    assert "Citations handed out: 1 changed" in status.text
    assert (gone.source_id, gone.quote) == (None, changed.quote)
    reports = [event for event in told if event["event"] == "CitationsChanged"]
    assert [event["citations"] for event in reports] == [
        {gone.citation_id: verdict} for verdict in ("moved", "changed", "gone")
    ]
    assert [(event["moved"], event["changed"], event["gone"]) for event in reports] == [
        (1, 0, 0),
        (0, 1, 0),
        (0, 0, 1),
    ]
    assert all("grey heron wait" not in json.dumps(event) for event in reports)


async def test_quotes_of_a_copy_whose_page_is_gone_are_gone_until_it_is_back() -> None:
    async with open_websites({"/h": page()}) as websites:
        url = websites.site.url("/h")
        await websites.call("ingest", urls=[url])
        await websites.call("search", query="How long does the grey heron wait for a fish?")
        await eventually(websites, verdicts("exact"))

        del websites.site.pages["/h"]
        await websites.call("ingest", urls=[url], force=True)
        await eventually(websites, verdicts("gone"))
        websites.site.pages["/h"] = page()
        await websites.call("ingest", urls=[url], force=True)
        await eventually(websites, verdicts("exact"))


async def test_words_that_moved_into_the_menu_are_not_gone() -> None:
    with_text = page(lead="Opening hours of the hide at the lake. ")
    async with open_websites({"/h": with_text}) as websites:
        source_id = (await websites.process("/h"))["source_id"]
        await websites.call("search", query="opening hours of the hide at the lake")
        before = await eventually(websites, bool)
        assert any("Opening hours" in each.quote for each in before)

        websites.site.pages["/h"] = page(menu=MENU)
        await refreshed(websites, source_id)
        found = await eventually(websites, lambda found: all(each.judged_at for each in found))

    [quote] = [each for each in found if each.quote.startswith("Opening hours")]
    assert quote.verdict in ("moved", "changed")


async def test_the_list_in_the_browser_is_the_callers_own() -> None:
    async with console() as http:
        asked = await http.get("/", params={"q": "What does the grey heron eat?"}, headers=ANN)
        own = await http.get("/citations", headers=ANN)
        other = await http.get("/citations", headers=BEN)
        hostile = await http.get("/citations?verdict=<b>&page=99999999999999", headers=ANN)

    assert asked.status_code == 200
    assert "The grey heron eats fish." in own.text
    assert "What does the grey heron eat?" in own.text
    assert "The grey heron eats fish." not in other.text
    assert hostile.status_code == 200
    assert "<b>&" not in hostile.text
