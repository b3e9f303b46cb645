"""Following links: what is followed, when it stops, and what it says about it."""

import time
from pathlib import Path

import pytest
from tests.research.engines import open_research
from tests.site import Answer, Response, running_site

pytestmark = pytest.mark.anyio

LONG_AGO = """It was founded by fishermen in the ninth century, and for long the harbour was all
there was to it. Ships brought salt and took herring away."""


def page(title: str, *paragraphs: str) -> str:
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1>{body}</main></body></html>"


TOWN = page(
    "Skagby",
    f"Skagby is a small town by the sea. {LONG_AGO}",
    'Visitors should read about the <a href="/lighthouse">lighthouse of Skagby</a> before they come.',
    'Most people travel there <a href="/ferry">by ferry</a>, which takes the whole morning.',
)
LIGHTHOUSE = page(
    "The lighthouse of Skagby",
    "The lighthouse of Skagby was built in 1843 by the engineer Ida Holm. It is 41 metres tall.",
)
FERRY = page("Ferry", "The ferry leaves the mainland at seven and comes back in the evening.")
SITE = {"/": TOWN, "/lighthouse": LIGHTHOUSE, "/ferry": FERRY}
ASKED = "Which engineer built the lighthouse of Skagby?"


async def test_the_link_that_holds_what_is_missing_is_followed(tmp_path: Path) -> None:
    with running_site(SITE) as site:
        async with open_research(tmp_path, pages_per_round=1) as research:
            result = await research.answer(site.url(), query=ASKED)

    assert result.answered
    assert result.stop_reason == "answered"
    assert [step.url for step in result.steps] == [site.url("/lighthouse")]
    assert result.steps[0].parent_url == site.url()
    assert "Ida Holm" in result.quotes[0].text
    assert site.paths() == ["/", "/lighthouse"]


async def test_ranking_very_many_links_leaves_the_event_loop_free(tmp_path: Path) -> None:
    links = (
        f'Keeper {i} of the isle wrote <a href="/year-{i}">his diary of year {i}</a>.'
        for i in range(1_000)
    )
    with running_site({"/": page("Diaries", LONG_AGO, *links)}) as site:
        async with open_research(tmp_path) as research:
            await research.answer(site.url(), query=ASKED, expansion_budget=0)
            of_all, of_loop = time.process_time(), time.thread_time()
            result = await research.answer(site.url(), query=ASKED, expansion_budget=1)
            of_all, of_loop = time.process_time() - of_all, time.thread_time() - of_loop

    assert result.steps
    assert of_loop < of_all / 3


async def test_nothing_is_followed_when_expansion_is_off(tmp_path: Path) -> None:
    with running_site(SITE) as site:
        async with open_research(tmp_path) as research:
            result = await research.answer(site.url(), query=ASKED, expansion_budget=0)

    assert result.stop_reason == "expansion is off"
    assert result.iterations == 0
    assert site.paths() == ["/"]


async def test_a_budget_of_one_round_is_kept(tmp_path: Path) -> None:
    chain = {
        "/": page("One", 'What is known of the <a href="/2">gold of the abbey</a> is elsewhere.'),
        "/2": page("Two", 'What is known of the <a href="/3">gold of the abbey</a> is elsewhere.'),
    }
    asked = "How much gold of the abbey did the divers Okonkwo and Reyes recover?"
    with running_site(chain) as site:
        async with open_research(tmp_path) as research:
            result = await research.answer(site.url(), query=asked, expansion_budget=1)

    assert result.iterations == 1
    assert site.paths() == ["/", "/2"]


async def test_links_are_not_followed_beyond_the_depth_limit(tmp_path: Path) -> None:
    chain = {
        "/": page("One", 'Read of <a href="/2">the abbey and its treasure</a> elsewhere.'),
        "/2": page("Two", 'Read of <a href="/3">the abbey and its treasure</a> elsewhere.'),
        "/3": page("Three", "The end."),
    }
    asked = "Which treasure of the abbey did divers Okonkwo and Reyes recover in 1921?"
    with running_site(chain) as site:
        async with open_research(tmp_path, max_depth=1) as research:
            result = await research.answer(site.url(), query=asked, expansion_budget=5)

    assert result.stop_reason == "maximum depth"
    assert site.paths() == ["/", "/2"]


async def test_no_more_pages_are_followed_than_allowed(tmp_path: Path) -> None:
    links = " ".join(f'Treasure of abbey number <a href="/{n}">{n} treasure</a>.' for n in range(9))
    pages: dict[str, Answer] = {
        f"/{n}": page(f"Abbey {n}", f"Abbey {n} has no treasure left.") for n in range(9)
    }
    asked = "Which treasure did the divers Okonkwo and Reyes recover in 1921?"
    with running_site({"/": page("Abbeys", links), **pages}) as site:
        async with open_research(tmp_path, pages_per_round=2, max_pages=3) as research:
            result = await research.answer(site.url(), query=asked, expansion_budget=9)

    assert len(site.paths()) == 1 + 3
    assert result.stop_reason == "page limit is reached"


async def test_dead_links_are_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    town = page(
        "Skagby",
        'The <a href="/gone">lighthouse of Skagby</a> has an old page, and the '
        '<a href="/lighthouse">lighthouse of Skagby and its engineer</a> a new one.',
    )
    with running_site({"/": town, "/lighthouse": LIGHTHOUSE}) as site:
        async with open_research(tmp_path) as research:
            result = await research.answer(site.url(), query=ASKED)

    failed = {step.url: step.failure for step in result.steps}
    assert failed[site.url("/gone")]
    assert failed[site.url("/lighthouse")] is None
    assert result.answered
    assert any("Ida Holm" in quote.text for quote in result.quotes)


async def test_a_round_in_which_no_page_could_be_read_does_not_count(tmp_path: Path) -> None:
    links = (
        'The <a href="/gone">engineer who built the lighthouse of Skagby</a> is well known.',
        'Visitors should read about the <a href="/lighthouse">lighthouse</a> before they come.',
    )
    pages: dict[str, Answer] = {**SITE, "/": page("Skagby", *links)}
    with running_site(pages) as site:
        async with open_research(tmp_path, pages_per_round=1) as research:
            result = await research.answer(site.url(), query=ASKED, expansion_budget=1)

    assert [step.url for step in result.steps] == [site.url("/gone"), site.url("/lighthouse")]
    assert result.iterations == 1
    assert "Ida Holm" in result.quotes[0].text


async def test_a_redirect_back_to_a_read_page_adds_nothing(tmp_path: Path) -> None:
    pages: dict[str, Answer] = {
        **SITE,
        "/lighthouse": Response(status=302, headers={"Location": "/"}),
    }
    with running_site(pages) as site:
        async with open_research(tmp_path) as research:
            result = await research.answer(site.url(), query=ASKED)

    (step,) = (step for step in result.steps if step.url == site.url("/lighthouse"))
    assert (step.chunks_added, step.failure) == (0, None)
    assert {quote.url for quote in result.quotes} <= {site.url(), site.url("/ferry")}


async def test_pages_that_link_in_a_circle_are_read_once(tmp_path: Path) -> None:
    circle = {
        "/": page("Heron", 'Also see <a href="/b">herons and their moult</a>.'),
        "/b": page("Moult", 'Also see <a href="/">herons and their moult</a>.'),
    }
    with running_site(circle) as site:
        async with open_research(tmp_path) as research:
            await research.answer(
                site.url(), query="When do herons moult their feathers?", expansion_budget=6
            )

    assert sorted(site.paths()) == ["/", "/b"]


async def test_a_page_that_the_evidence_names_is_read_though_the_question_is_answered(
    tmp_path: Path,
) -> None:
    notes = page(
        "Changes in 2.1",
        'The <a href="/cache">cache</a> now keeps compressed entries for one hour by default.',
        'The <a href="/log">log</a> is written in colour.',
    )
    pages: dict[str, Answer] = {
        "/notes": notes,
        "/cache": page("Cache", "The cache keeps entries. Its lifetime is set with keep_seconds."),
        "/log": page("Log", "The log is written to the standard error stream."),
    }
    with running_site(pages) as site:
        async with open_research(tmp_path, pages_per_round=1) as research:
            result = await research.answer(
                site.url("/notes"), query="How long does the cache keep compressed entries?"
            )

    assert [step.url for step in result.steps] == [site.url("/cache")]
    assert {quote.url for quote in result.quotes} == {site.url("/notes"), site.url("/cache")}


async def test_a_name_in_the_evidence_leads_on_though_its_link_stands_in_a_list(
    tmp_path: Path,
) -> None:
    others = '<a href="/ferry">Ferry</a>, <a href="/holm">Ida Holm</a>, <a href="/fish">Fish</a>'
    pages: dict[str, Answer] = {
        **SITE,
        "/": page("Lighthouse", "The lighthouse of Skagby was built by Ida Holm.", f"{others}."),
        "/holm": page("Ida Holm", "Ida Holm was born in Bergen and studied in Delft."),
    }
    with running_site(pages) as site:
        async with open_research(tmp_path, pages_per_round=1) as research:
            result = await research.answer(
                site.url(), query="Where was the builder of the lighthouse of Skagby born?"
            )

    assert site.url("/holm") in [step.url for step in result.steps]
    assert any("Bergen" in quote.text for quote in result.quotes)


UNLINKED = {**SITE, "/": page("Skagby", f"Skagby is a small town by the sea. {LONG_AGO}")}


async def test_a_stored_page_of_the_site_is_read_though_no_link_leads_to_it(tmp_path: Path) -> None:
    with running_site(UNLINKED) as site:
        async with open_research(tmp_path) as research:
            before = await research.answer(site.url(), query=ASKED)
            await research.answer(site.url("/lighthouse"), query="How tall is it?")
            after = await research.answer(site.url(), query=ASKED)

    assert not before.answered
    assert after.answered
    assert [step.url for step in after.steps] == [site.url("/lighthouse")]
    assert "Ida Holm" in after.quotes[0].text


async def test_stored_pages_that_the_question_may_not_see_are_not_read(tmp_path: Path) -> None:
    with running_site(UNLINKED) as site:
        async with open_research(tmp_path) as research:
            await research.answer(site.url("/lighthouse"), query="How tall is it?")
            result = await research.answer(site.url(), query=ASKED, project="another")

    assert not result.answered
    assert result.steps == ()
