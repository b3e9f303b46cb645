"""The pages of the consoles without a browser: guarded, escaped, usable without scripts."""

from __future__ import annotations

import re
from html import unescape
from typing import get_args

import httpx2
import pytest
from tests.drafts import draft
from tests.server.console.serving import ANN, DIRECTIVES, QUESTIONS, console, form_token
from tests.server.shelf import HERONS, OWLS, Shelf
from tests.server.tiny import serving

from citewell.core.library import Discovery
from citewell.core.records import Link
from citewell.people.desk import MOST_LISTED
from citewell.server.console.door import complete_url
from citewell.server.console.pages import mark_difference
from citewell.server.console.texts import Texts

pytestmark = pytest.mark.anyio

PAGES = (
    "/",
    "/library",
    "/library/pages",
    "/citations",
    QUESTIONS,
    DIRECTIVES,
    "/mcp/console/usage",
    "/mcp/debug",
)
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"


async def test_a_page_lets_nothing_run_or_load_but_its_own_files() -> None:
    async with console() as http:
        pages = [await http.get(path) for path in PAGES]

    assert {page.status_code for page in pages} == {200}
    for page in pages:
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["referrer-policy"] == "same-origin"
        assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|<style|\son\w+=", page.text)
        assert not re.search(r'(?:src|href)="(?:https?:)?//', page.text)


@pytest.mark.parametrize("number", [2**63, int("9" * 400)], ids=["2^63", "400 digits"])
async def test_an_id_that_no_column_holds_is_no_path(number: int) -> None:
    paths = [
        f"{DIRECTIVES}/templates/deleted/{number}",
        f"/library/jobs/{number}/cancel",
        *(f"/library/{number}/{what}" for what in ("refresh", "retry", "settings", "delete")),
    ]
    async with console() as http:
        answers = [await http.post(path) for path in paths]
        old_address = await http.get(f"/page/{number}")

    assert {answer.status_code for answer in (*answers, old_address)} == {404}


async def test_an_empty_history_is_not_a_search_without_matches() -> None:
    async with console() as http:
        empty = (await http.get(f"{QUESTIONS}/history")).text
        unmatched = (await http.get(f"{QUESTIONS}/history?q=heron")).text

    assert "<h2>Nothing yet.</h2>" in empty
    assert "<h2>No question matches</h2>" in unmatched


async def test_every_file_that_a_page_names_is_served() -> None:
    async with console() as http:
        page = (await http.get("/mcp/debug")).text
        names = set(re.findall(r'"(/mcp/console/static/[^"]+)"', page))
        files = [await http.get(name) for name in sorted(names)]
        missing = await http.get("/mcp/console/static/secrets.txt")

    assert len(files) >= 7
    assert {file.status_code for file in files} == {200}
    assert all("immutable" in file.headers["cache-control"] for file in files)
    assert missing.status_code == 404


async def test_where_nothing_is_a_browser_gets_a_page_and_a_program_json() -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    hostile = f"/{HOSTILE}"
    async with console(mcp_auth_token="sk-right-0000") as http:
        pages = [
            await http.get("/nowhere", headers=browser),
            await http.get(hostile, headers=browser),
            await http.get("/mcp/nowhere/", headers=browser),
            await http.get(f"{DIRECTIVES}/new", headers=browser),
        ]
        missing = await http.get("/nowhere")
        untaken = await http.put("/healthz")
        opened = await http.get("/", headers=browser)

    assert [page.status_code for page in pages] == [404, 404, 404, 405]
    for page in pages:
        assert page.headers["content-security-policy"] == opened.headers["content-security-policy"]
        assert '<a href="/">' in page.text
        assert "<script>alert" not in page.text
    assert (missing.status_code, untaken.status_code) == (404, 405)
    assert missing.json()["code"] == "NOT_FOUND"
    assert missing.headers["content-security-policy"] == opened.headers["content-security-policy"]
    assert untaken.json()["error"] == "This address does not take PUT requests."
    assert sorted(untaken.headers["allow"].split(", ")) == ["GET", "HEAD"]


async def test_the_inspector_answers_head_and_may_call_the_endpoint_it_is_given() -> None:
    async with console() as http:
        head = await http.head("/mcp/debug")
        foreign = await http.get("/mcp/debug?endpoint=https://other.example:8443/mcp&token=sk-x")

    assert (head.status_code, head.content) == (200, b"")
    assert (
        "connect-src 'self' https://other.example:8443;"
        in (foreign.headers["content-security-policy"])
    )
    assert "sk-x" not in foreign.text


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://*/mcp",
        "https://*.example/mcp",
        "https://u:p@a.example/mcp",
        "https://@a.example/mcp",
        "https://a.example;script-src *",
        "https://a.example;script-src/mcp",
        "https://a.example,b.example/mcp",
        "https://'self'/mcp",
        "https://a..example/mcp",
        "https://a.example:*/mcp",
        "https://a.example:99999/mcp",
        "https://[fe80::1%25eth0]/mcp",
        "https:///mcp",
        "javascript:alert(1)",
    ],
)
async def test_the_inspector_calls_no_endpoint_that_is_not_one_origin(endpoint: str) -> None:
    async with console() as http:
        page = await http.get("/mcp/debug", params={"endpoint": endpoint})

    assert "connect-src 'self';" in page.headers["content-security-policy"]
    assert endpoint not in unescape(page.text)


@pytest.mark.parametrize(
    ("endpoint", "origin"),
    [
        ("http://localhost:8765/mcp", "http://localhost:8765"),
        ("http://127.0.0.1/mcp", "http://127.0.0.1"),
        ("http://[::1]:8765/mcp", "http://[::1]:8765"),
        ("https://MCP.Example/mcp?x=1", "https://mcp.example"),
        ("https://b\u00fccher.example/mcp", "https://xn--bcher-kva.example"),
    ],
)
async def test_the_policy_of_the_inspector_names_the_origin(endpoint: str, origin: str) -> None:
    async with console() as http:
        page = await http.get("/mcp/debug", params={"endpoint": endpoint})

    assert f"connect-src 'self' {origin};" in page.headers["content-security-policy"]


async def test_what_people_and_agents_write_is_shown_as_text() -> None:
    async with console(people_answer_timeout_seconds=0.1) as http:
        await http.post(f"{DIRECTIVES}/api/requests", json={"content": HOSTILE}, headers=ANN)
        page = (await http.get(DIRECTIVES, headers=ANN)).text

    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


async def test_hostile_titles_links_and_searches_are_shown_as_text() -> None:
    page = draft(
        "https://evil.example/x",
        "Herons eat <script>alert(3)</script> fish.",
        title=HOSTILE,
        heading=HOSTILE,
        links=(
            Link(url=HERONS.url, text="h", context="h", section=0, start=0),
            Link(url="https://gone.example/", text="g", context="g", section=0, start=0),
        ),
    )
    shelf = Shelf(page, HERONS)
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=120) as http,
    ):
        texts = [
            (await http.get("/", params={"q": f"what do herons eat {HOSTILE}"})).text,
            (await http.get("/read/1")).text,
            (await http.get("/read/2")).text,
        ]
        missing = await http.get("/read/999")
        odd = await http.get("/read/1e9")
        old = await http.get("/page/1")

    for text in texts:
        assert "&lt;script&gt;" in text
        assert not re.search(r"<script(?![^>]*\bsrc=)|<img src=x", text)
    assert "<mark id=" in texts[0]
    assert "Pages it links to" in texts[1]
    assert "Pages that link here" in texts[2]
    assert "1 link leads to a page that is not indexed" in texts[1]
    assert (missing.status_code, odd.status_code) == (404, 404)
    assert old.headers["location"] == "/read/1"


async def test_a_list_that_is_cut_says_so() -> None:
    async with console() as http:
        for number in range(MOST_LISTED - 1):
            await http.post(f"{DIRECTIVES}/api/requests", json={"content": f"Step {number}"})
        whole = (await http.get(DIRECTIVES)).text
        await http.post(f"{DIRECTIVES}/api/requests", json={"content": "One more"})
        cut = (await http.get(DIRECTIVES)).text

    assert (">199</span>" in whole, "are shown" in whole) == (True, False)
    assert ">200+</span>" in cut
    assert "Only the newest 200 are shown." in cut


async def test_a_search_without_an_answer_says_so_and_what_was_checked() -> None:
    async with console() as http:
        answered = (await http.get("/", params={"q": "What does the grey heron eat?"})).text
        unanswered = (await http.get("/", params={"q": "Which engine drives a heron tram?"})).text

    assert "<mark id=" in answered
    assert "This quote probably answers it" in answered
    assert "Nothing was found that answers this" in unanswered


async def test_a_quote_for_two_questions_is_one_card_and_counted_once() -> None:
    async with console() as http:
        for question in ("What does the grey heron eat?", "Which fish does the grey heron eat?"):
            await http.get("/", params={"q": question})
        page = unescape((await http.get("/citations")).text)

    assert page.count("“What does the grey heron eat?”") == page.count('class="card quote-card"')
    assert "“What does the grey heron eat?”</a>\N{NO-BREAK SPACE}· " in page
    assert "“Which fish does the grey heron eat?”</a>\N{NO-BREAK SPACE}· " in page


async def test_citations_are_filtered_and_long_quotes_folded() -> None:
    long = "The grey heron eats fish. " + "It stands still for hours in the shallow water. " * 12
    shelf = Shelf(draft("https://birds.example/long", long, title="Long"), OWLS)
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=120) as http,
    ):
        for question in ("What does the grey heron eat?", "What does the tawny owl eat?"):
            await http.get("/", params={"q": question})
        every = (await http.get("/citations")).text
        owls = (await http.get("/citations", params={"q": "TAWNY owl eat?"})).text
        none = (await http.get("/citations", params={"q": "stork"})).text

    folded = re.findall(r'<details class="long-quote"><summary><span class="short">([^<]*)', every)
    assert all(len(beginning) < 300 for beginning in folded)
    assert len(folded) == 1
    assert ("tawny owl" in owls, "grey heron eats" in owls) == (True, False)
    assert "No citation matches." in none
    assert ">gone <" not in every


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("docs.example/a", "https://docs.example/a"),
        ("127.0.0.1:8000/a", "http://127.0.0.1:8000/a"),
        ("localhost:8000", "http://localhost:8000"),
        ("localhost.example", "https://localhost.example"),
        ("http://docs.example", "http://docs.example"),
        ("htp:/bad", "htp:/bad"),
        ("https//docs.example", "https//docs.example"),
        ("mailto:ann@docs.example", "mailto:ann@docs.example"),
        ("docs.example:8443/a", "https://docs.example:8443/a"),
    ],
)
def test_an_address_without_a_scheme_gets_the_likely_one(typed: str, url: str) -> None:
    assert complete_url(typed) == url


async def test_a_mistyped_address_is_reported_at_its_field_and_not_stored() -> None:
    async with console() as http:
        before = (await http.get("/library")).text
        form = {"form_token": form_token(before), "url": "htp:/bad", "tags": "fen"}
        refused = await http.post("/library/add", data=form)
        after = (await http.get("/library")).text

    assert refused.status_code == 400
    assert 'value="htp:/bad" aria-invalid="true" aria-describedby="url-problem"' in refused.text
    assert re.search(
        r'id="url-problem" role="alert">[^<]*is not an http or https URL', refused.text
    )
    assert 'value="fen"' in refused.text
    assert "htp" not in after


async def test_the_entries_of_the_library_add_up_to_its_pages() -> None:
    async with console() as http:
        page = (await http.get("/library")).text
        below = (await http.get("/library/pages?under=https%3A%2F%2Fnight.example%2F")).text

    assert re.search(r"2 entries · 2 pages", page)
    assert page.count('<span class="state">read for answers</span>') == 2
    assert 'href="/library/1">Herons</a>' in page
    assert "Owls of the wood" in below
    assert "Herons" not in below


@pytest.mark.parametrize(
    ("path", "heading"),
    [
        ("/library/582", "This entry is not in the library"),
        ("/read/582", "This page is not in the library"),
        ("/nowhere", "There is no such page"),
    ],
)
async def test_what_is_missing_is_said_in_the_words_of_the_page(path: str, heading: str) -> None:
    async with console() as http:
        page = await http.get(path, headers={"Accept": "text/html"})

    assert page.status_code == 404
    assert f"<h1>{heading}</h1>" in page.text
    assert "source_id" not in page.text
    assert "rag_" not in page.text
    assert '<form method="get" action="/" role="search"' in page.text


async def test_a_page_of_another_project_does_not_exist() -> None:
    async with console() as http:
        listed = (await http.get("/library/pages")).text
        hidden = await http.get("/read/3")

    assert "Secret" not in listed
    assert hidden.status_code == 404


async def test_an_error_leads_back_to_the_page_that_caused_it() -> None:
    async with console() as http:
        base = str(http.base_url).rstrip("/")
        token = form_token((await http.get("/library")).text)
        form = {"url": "", "form_token": token}
        answers = [
            await http.post("/library/add", data=form, headers={"Referer": came_from})
            for came_from in (f"{base}/library?page=1", "https://evil.example/library", "")
        ]

    assert {answer.status_code for answer in answers} == {400}
    assert ['href="/library?page=1">Go back' in answer.text for answer in answers] == [
        True,
        False,
        False,
    ]
    assert all("Go to the start page" in answer.text for answer in answers)


async def test_a_log_without_failures_says_so() -> None:
    async with console() as http:
        failed = (await http.get("/mcp/console/calls?failed=1")).text

    assert "No failed calls" in failed


@pytest.mark.parametrize("discovery", get_args(Discovery))
def test_every_way_to_find_pages_has_its_words(discovery: str) -> None:
    assert discovery == "auto" or Texts()(f"library.discovery_{discovery}")


def test_a_difference_marks_words_and_lets_no_markup_through() -> None:
    shown = mark_difference("like a [-<b>WSGI</b>-] {+WSGY+} application")

    assert shown == "like a <del>&lt;b&gt;WSGI&lt;/b&gt;</del> <ins>WSGY</ins> application"
