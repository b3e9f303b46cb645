"""Pages that a browser could not show whole: every tool that reads them says so."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.answer.results import block, result
from tests.site import running_site
from tests.tools.library import ME, open_library

from citewell.app.call import Call
from citewell.tools.research.shapes import shape_result

pytestmark = pytest.mark.anyio

# No worker renders, so its text is all there is, and the scripts would have made more.
SHELL = """<title>Kites</title><div id=root>The red kite eats mice and worms.</div>
<script src="/app.js"></script>"""
WHY = "its scripts were not run"


async def test_answer_ingest_and_processing_say_that_text_may_be_missing() -> None:
    with running_site({"/kites": SHELL, "/app.js": ""}) as site:
        async with open_library(
            web_allowed_private_hosts=("127.0.0.1",), render_in="workers"
        ) as library:
            url = site.url("/kites")
            ingested = await library.call("ingest", url=url)
            answered = await library.call("answer", url=url, query="What does the red kite eat?")
            searched = await library.call("search", query="What does the red kite eat?")
            processed = await library.call("rag_process_website", url=url, force_refresh=True)

    assert WHY in ingested["pages"][0]["incomplete"]
    assert answered["answered"]
    assert "may be missing: " + WHY in answered["notice"]
    assert "may be missing: " + WHY in searched["notice"]
    # The page's address stands in brackets, as it does in the text form.
    assert re.search(r"⟦(\d+) http\S+ \1⟧", answered["notice"])
    assert "\ufdd0" not in answered["notice"]
    assert "may be missing: " + WHY in processed["message"]


async def test_quotes_that_do_not_answer_say_so_in_the_structured_form() -> None:
    answer = result(block("Herons eat fish."))
    async with open_library() as library:
        call = Call(parts=library.parts, caller=ME)
        near = shape_result(replace(answer, answered=False), call)
        good = shape_result(answer, call)

    assert near.evidence
    assert "may be about something else" in (near.notice or "")
    assert good.notice is None


async def test_a_whole_page_is_called_complete() -> None:
    page = (
        "<main><h1>Kites</h1><p>The red kite soars over hills and eats mice and worms.</p></main>"
    )
    with running_site({"/kites": page}) as site:
        async with open_library(web_allowed_private_hosts=("127.0.0.1",)) as library:
            ingested = await library.call("ingest", url=site.url("/kites"))
            answered = await library.call(
                "answer", url=site.url("/kites"), query="What does the red kite eat?"
            )

    assert "incomplete" not in ingested["pages"][0]
    assert answered.get("notice") is None
