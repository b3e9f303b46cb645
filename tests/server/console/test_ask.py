"""The question box: what a browser gets first, and how quotes read on a narrow screen."""

from __future__ import annotations

import json
import re
from html import unescape

import httpx2
from tests.drafts import draft
from tests.server.console.serving import console, form_token
from tests.server.shelf import Shelf
from tests.server.tiny import serving

from citewell.server.console.pages import html_of


async def test_a_browser_gets_the_frame_of_an_answer_before_it_is_searched() -> None:
    asked = {"q": "What does the grey heron eat?"}
    as_browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    async with console() as http:
        frame = await http.get("/", params=asked, headers=as_browser)
        form = {"form_token": form_token(frame.text), **asked, "again": "1"}
        stream = await http.post("/ask", data=form, headers={"Accept": "text/event-stream"})
        whole = await http.get("/", params={**asked, "now": "1"}, headers=as_browser)

    assert ">What does the grey heron eat?</textarea>" in frame.text
    assert "quote-card" not in frame.text
    assert '<noscript><meta http-equiv="refresh" content="0; url=/?q=What+does' in frame.text
    assert "event: progress" in stream.text
    assert "quote-card" in stream.text
    assert "quote-card" in whole.text


async def test_what_is_found_so_far_reads_as_text() -> None:
    async with console() as http:
        token = form_token((await http.get("/library")).text)
        form = {"form_token": token, "q": "What does the grey heron eat?"}
        stream = await http.post("/ask", data=form, headers={"Accept": "text/event-stream"})

    messages = [
        json.loads(data)["message"] for data in re.findall(r"data: (.*essage.*)", stream.text)
    ]
    found = [message for message in messages if message.startswith("Evidence so far — ")]
    assert found
    assert all("#" not in message and "): " not in message for message in found), found


async def test_steps_are_said_in_plain_words() -> None:
    async with console() as http:
        token = form_token((await http.get("/library")).text)
        form = {"form_token": token, "q": "What does the grey heron eat?"}
        stream = await http.post("/ask", data=form, headers={"Accept": "text/event-stream"})

    steps = [json.loads(data)["message"] for data in re.findall(r"data: (.*phase.*)", stream.text)]
    assert "Searching 2 pages…" in steps
    assert not [step for step in steps if re.search("sub-quer|chunk|Rerank|Scrap", step)]


async def test_pages_that_cannot_be_asked_are_reported_at_their_field() -> None:
    async with console() as http:
        token = form_token((await http.get("/library")).text)
        form = {"form_token": token, "q": "Will it come?", "urls": "ftp://nowhere.example/"}
        page = await http.post("/ask", data=form)
        stream = await http.post("/ask", data=form, headers={"Accept": "text/event-stream"})

    reported = re.search(r'id="urls-problem" role="alert">([^<]+)</p>', page.text)
    failed = re.search(r"event: failed\ndata: (.*)", stream.text)
    assert page.status_code == 400
    assert reported is not None
    assert failed is not None
    told = json.loads(failed[1])
    assert "is not an http or https URL. " in told["message"]
    assert told["of_pages"] is True


async def test_a_question_is_asked_of_one_part_of_the_library() -> None:
    pages = [
        draft(f"https://{host}/{name}", f"The {name} of {host} eats fish.", title=name)
        for host in ("fen.example", "wood.example")
        for name in ("heron", "stork")
    ]
    shelf = Shelf(*pages)
    asked = {"q": "What does the heron eat?", "site": "https://wood.example/*"}
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=120) as http,
    ):
        whole = (await http.get("/", params={"q": asked["q"]})).text
        part = (await http.get("/", params=asked)).text
        form = {"form_token": form_token(part), **asked}
        sent = await http.post("/ask", data=form, follow_redirects=False)
        chosen = (await http.get("/", params={"site": asked["site"]})).text
        unknown = (await http.get("/", params={**asked, "site": "https://moor.example/"})).text

    assert '<option value="https://fen.example/*">fen.example (2 pages)</option>' in whole
    assert "The heron of fen.example" in whole.replace("<b>", "").replace("</b>", "")
    assert '<option value="https://wood.example/*" selected>' in part
    assert '<option value="https://wood.example/*" selected>' in chosen
    assert "The heron of fen.example" not in part.replace("<b>", "").replace("</b>", "")
    assert "&amp;site=https%3A%2F%2Fwood.example%2F%2A" in part
    assert sent.headers["location"].endswith("&site=https%3A%2F%2Fwood.example%2F%2A")
    assert '<option value="https://moor.example/" selected>' in unknown
    assert "https://moor.example/ is not indexed" in unknown


async def test_quotes_of_files_lead_to_the_reader_and_back() -> None:
    shelf = Shelf(draft("file:///home/ann/fen/a%20b.md", "The grey heron eats fish.", title="Fen"))
    question = "What does the grey heron eat?"
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=120) as http,
    ):
        found = (await http.get("/", params={"q": question})).text
        link = re.search(r'<a href="(/read/1[^"#]*)[^"]*">/home/ann/fen/a b.md</a>', found)
        assert link is not None
        page = (await http.get(unescape(link[1]))).text
        quote = re.search(r"quote=([^&]+)", link[1])
        assert quote is not None
        permalink = (await http.get("/read/1", params={"quote": quote[1]})).text
        plain = (await http.get("/read/1")).text

    back = 'href="/?q=What+does+the+grey+heron+eat%3F"'
    assert (back in page, back in permalink, back in plain) == (True, True, False)
    assert f"<b>{question}</b>" in page
    assert '<a href="/" aria-current="page">Ask</a>' in page


def test_long_names_are_broken_at_their_dots_and_code_is_left_alone() -> None:
    shown = html_of("<p>a.b tornado.web.RequestHandler <b>set</b>_max_<b>body</b>_size_of_all</p>")
    code = html_of("<pre><code>tornado.web.RequestHandler</code></pre><p>a</p>")

    assert shown == (
        "<p>a.b tornado.<wbr>web.<wbr>RequestHandler "
        "<b>set</b>_<wbr>max_<wbr><b>body</b>_<wbr>size_<wbr>of_<wbr>all</p>"
    )
    assert code == "<pre><code>tornado.web.RequestHandler</code></pre><p>a</p>"
