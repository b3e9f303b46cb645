"""Ranking the links that were not followed."""

import re

from tests.answer.results import ranked_chunk
from tests.stored import page_info

from citewell.core.records import Link, Page, Section
from citewell.research.frontier import Frontier, Need

SITE = "https://example.org"


def page(text: str, *, path: str = "/", source: int = 1) -> Page:
    """Return a page of one section; its links are written as in Markdown."""
    info = page_info(SITE + path, source_id=source)
    links = tuple(
        Link(
            url=match[2],
            text=match[1],
            context=re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", _line(text, match.start())),
            section=0,
            start=match.start(),
        )
        for match in re.finditer(r"\[([^]]*)\]\(([^)]*)\)", text)
    )
    section = Section(
        ordinal=0, parent=None, level=0, heading="", anchor=None, start=0, end=len(text)
    )
    return Page(
        info=info,
        text=text,
        sections=(section,),
        links=links,
        images=(),
        canonical_url=None,
        description="",
        structured_data="",
    )


def _line(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 : text.find("\n", at) if "\n" in text[at:] else None]


def urls(frontier: Frontier, query: str, **options: object) -> list[str]:
    found = frontier.leads(
        [Need(query=query, missing=options.get("missing", ()))],  # type: ignore[arg-type]
        evidence=options.get("evidence", ()),  # type: ignore[arg-type]
        limit=9,
        max_depth=2,
    )
    return [lead.url.removeprefix(SITE) for lead in found if lead.score > 0.05]


TEXT = f"""The [cache]({SITE}/cache) keeps entries for an hour.
The [log]({SITE}/log) is written in colour.
Weather: see [the other site](https://other.example/log)."""


def test_the_words_around_a_link_decide() -> None:
    frontier = Frontier()
    frontier.add_page(page(TEXT), depth=0)

    assert urls(frontier, "How long does the cache keep entries?")[0] == "/cache"
    assert urls(frontier, "Is the log written in colour?")[0] == "/log"


def test_the_links_that_words_put_first_are_compared_first() -> None:
    frontier = Frontier()
    frontier.add_page(page(TEXT), depth=0)
    need = Need(query="Is the log written in colour?")

    assert [*frontier.links_to_compare(need, limit=1)] == [SITE + "/log"]
    frontier.note_cosines({SITE + "/log": 0.9})
    # What was compared is not compared again, and other sites are not compared at all.
    assert [*frontier.links_to_compare(need, limit=9)] == [SITE + "/cache"]


def test_a_link_that_was_followed_is_not_proposed_again() -> None:
    frontier = Frontier()
    frontier.add_page(page(TEXT), depth=0)
    frontier.close(SITE + "/cache")

    assert "/cache" not in urls(frontier, "How long does the cache keep entries?")


def test_a_page_never_leads_to_itself() -> None:
    frontier = Frontier()
    frontier.add_page(page(f"The [cache]({SITE}/cache) keeps entries.", path="/cache"), depth=0)

    assert urls(frontier, "cache entries") == []


def test_what_is_missing_weighs_more_than_what_was_found() -> None:
    text = f"""The [mansion]({SITE}/mansion) is old.
The [mosque]({SITE}/mosque) is old."""
    frontier = Frontier()
    frontier.add_page(page(text), depth=0)
    query = "Are the mansion and the mosque neighbours?"

    assert urls(frontier, query, missing=("mosqu",))[0] == "/mosque"
    assert urls(frontier, query, missing=("mansion",))[0] == "/mansion"


def test_a_name_in_the_evidence_raises_its_link_though_it_stands_in_a_list() -> None:
    text = f"[Ferry]({SITE}/ferry), [Ida Holm]({SITE}/holm), [Fish]({SITE}/fish)"
    frontier = Frontier()
    frontier.add_page(page(text), depth=0)
    evidence = [ranked_chunk("The lighthouse was built by Ida Holm.", source=7)]

    assert urls(frontier, "Where was the builder born?", evidence=evidence) == ["/holm"]


def test_links_below_the_depth_limit_are_left_out() -> None:
    frontier = Frontier()
    frontier.add_page(page(TEXT), depth=2)

    assert urls(frontier, "How long does the cache keep entries?") == []


def test_downloads_are_no_pages() -> None:
    frontier = Frontier()
    frontier.add_page(page(f"The [cache]({SITE}/cache.zip) keeps entries."), depth=0)

    assert urls(frontier, "cache entries") == []
