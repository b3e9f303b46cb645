"""The question box: what a browser gets first, and how quotes read on a narrow screen."""

from __future__ import annotations

import json
import re

from tests.server.console.serving import console, form_token

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


def test_long_names_are_broken_at_their_dots_and_code_is_left_alone() -> None:
    shown = html_of("<p>a.b tornado.web.RequestHandler <b>set</b>_max_<b>body</b>_size_of_all</p>")
    code = html_of("<pre><code>tornado.web.RequestHandler</code></pre><p>a</p>")

    assert shown == (
        "<p>a.b tornado.<wbr>web.<wbr>RequestHandler "
        "<b>set</b>_<wbr>max_<wbr><b>body</b>_<wbr>size_<wbr>of_<wbr>all</p>"
    )
    assert code == "<pre><code>tornado.web.RequestHandler</code></pre><p>a</p>"
